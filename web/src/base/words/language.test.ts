import { equals, type Tests } from "../testing";
import { catalogue } from "./catalogue";
import { preferred } from "./language";

const words = catalogue("shell.example", {
	plain: "Plain '{text}'",
	named: "{name} is here",
	inner: { a: "A", b: "{kind, select, x {X} other {Y}}" },
});

const tests: Tests = {
	"the first language of the browser that there is, is taken"() {
		equals(preferred([]), "en");
		equals(preferred(["fr", "tlh"]), "en");
		equals(preferred(["de"]), "de");
		equals(preferred(["fr-FR", "de-AT", "en-US"]), "de");
		equals(preferred(["en-GB", "de"]), "en");
		equals(preferred(["DE-de"]), "de");
		equals(preferred(["constructor"]), "en");
	},
	"a catalogue has texts, and functions for those with places"() {
		equals(words.plain, "Plain {text}");
		equals(words.named({ name: "Ann" }), "Ann is here");
		equals(words.inner.b({ kind: "x" }), "X");
		equals(Object.keys(words), ["plain", "named", "inner"]);
		equals(Object.entries(words.inner)[0], ["a", "A"]);
	},
	"a key that a catalogue lacks has no text"() {
		const open = words as unknown as { [key: string]: unknown };
		equals([open.other, open.constructor, open.toString], [undefined, undefined, undefined]);
		equals("plain" in words, true);
	},
};

export default tests;
