import { type Press, shortcutOf } from "./keys";
import { equals, type Tests } from "./testing";

const press = (key: string, ...modifiers: ("metaKey" | "ctrlKey" | "altKey")[]): Press => ({
	key,
	metaKey: modifiers.includes("metaKey"),
	ctrlKey: modifiers.includes("ctrlKey"),
	altKey: modifiers.includes("altKey"),
});

const shortcutFor = (press: Press, { prefix = "", typing = false, off = false } = {}) =>
	shortcutOf(press, { prefix, typing: () => typing, off: () => off });

const tests: Tests = {
	"a key is its own shortcut, or the second of two"() {
		equals(shortcutFor(press("/")), "/");
		equals(shortcutFor(press("?")), "?");
		equals(shortcutFor(press("C")), "C", "a capital");
		equals(shortcutFor(press("Escape")), "Escape");
		equals(shortcutFor(press("c"), { prefix: "g" }), "g c");
	},
	"Command and Control are the same"() {
		equals(shortcutFor(press("k", "metaKey")), "mod+k");
		equals(shortcutFor(press("K", "ctrlKey")), "mod+k");
		equals(shortcutFor(press("Enter", "ctrlKey")), "mod+enter");
		equals(shortcutFor(press("k", "ctrlKey"), { prefix: "g" }), "mod+k", "after the first key of two");
	},
	"a key goes into the field that has the focus"() {
		equals(shortcutFor(press("c"), { typing: true }), null);
		equals(shortcutFor(press("c"), { typing: true, prefix: "g" }), null);
		equals(shortcutFor(press("k", "metaKey"), { typing: true }), "mod+k");
		equals(shortcutFor(press("z", "metaKey"), { typing: true }), null, "undo in a field");
		equals(shortcutFor(press("z", "metaKey")), "mod+z", "undo elsewhere");
	},
	"shortcuts of one key can be off, those with Command or Control cannot"() {
		equals(shortcutFor(press("c"), { off: true }), null);
		equals(shortcutFor(press("k", "ctrlKey"), { off: true }), "mod+k");
	},
	"Alt writes other letters"() {
		equals(shortcutFor(press("c", "altKey")), null);
		equals(shortcutFor(press("k", "altKey", "ctrlKey")), "mod+k");
	},
};

export default tests;
