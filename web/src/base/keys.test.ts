import { type Press, shortcutOf } from "./keys";
import { equals, type Tests } from "./testing";

const press = (key: string, ...held: ("metaKey" | "ctrlKey" | "altKey")[]): Press => ({
	key,
	metaKey: held.includes("metaKey"),
	ctrlKey: held.includes("ctrlKey"),
	altKey: held.includes("altKey"),
});

const named = (press: Press, { prefix = "", typing = false, off = false } = {}) =>
	shortcutOf(press, { prefix, typing: () => typing, off: () => off });

const tests: Tests = {
	"a key is its own shortcut, or the second of two"() {
		equals(named(press("/")), "/");
		equals(named(press("?")), "?");
		equals(named(press("C")), "C", "a capital");
		equals(named(press("Escape")), "Escape");
		equals(named(press("c"), { prefix: "g" }), "g c");
	},
	"Command and Control are the same"() {
		equals(named(press("k", "metaKey")), "mod+k");
		equals(named(press("K", "ctrlKey")), "mod+k");
		equals(named(press("Enter", "ctrlKey")), "mod+enter");
		equals(named(press("k", "ctrlKey"), { prefix: "g" }), "mod+k", "after the first key of two");
	},
	"a key goes into the field that has the focus"() {
		equals(named(press("c"), { typing: true }), null);
		equals(named(press("c"), { typing: true, prefix: "g" }), null);
		equals(named(press("k", "metaKey"), { typing: true }), "mod+k");
		equals(named(press("z", "metaKey"), { typing: true }), null, "undo in a field");
		equals(named(press("z", "metaKey")), "mod+z", "undo elsewhere");
	},
	"shortcuts of one key can be off, those with Command or Control cannot"() {
		equals(named(press("c"), { off: true }), null);
		equals(named(press("k", "ctrlKey"), { off: true }), "mod+k");
	},
	"Alt writes other letters"() {
		equals(named(press("c", "altKey")), null);
		equals(named(press("k", "altKey", "ctrlKey")), "mod+k");
	},
};

export default tests;
