import { equals, type Tests } from "../testing";
import { addressesIn } from "./addresses";

const tests: Tests = {
	"addresses are found with and without names"() {
		const cases: [text: string, want: string[]][] = [
			["", []],
			["a@b.example", ["a@b.example"]],
			[
				"a@b.example, c@d.example;e@f.example\n\n g@h.example ",
				["a@b.example", "c@d.example", "e@f.example", "g@h.example"],
			],
			['"Ann Lee" <a@b.example>', ["a@b.example"]],
			['"Lee, Ann; Dr." <a@b.example>, c@d.example', ["a@b.example", "c@d.example"]],
			["Ann Lee <a@b.example>; Bo <c@d.example>", ["a@b.example", "c@d.example"]],
			["<a@b.example>", ["a@b.example"]],
			["a@b.example Ann <c@d.example>", ["a@b.example", "c@d.example"]],
			["Jörg Ärmel\t<a@b.example>\nb@c.example", ["a@b.example", "b@c.example"]],
			["a@b.example <c@d.example>", ["a@b.example", "c@d.example"]],
			["not an address", ["not", "an", "address"]],
			["Ann <", ["Ann", "<"]],
			["<>", ["<>"]],
			['"a@b.example', ['"', "a@b.example"]],
			['"a@b.example" <c@d.example>', ["c@d.example"]],
		];
		for (const [text, expected] of cases) equals(addressesIn(text), expected, text);
	},
	"a long text takes no long time"() {
		const words = "word ".repeat(5000);
		equals(addressesIn(`${words}<a@b.example>`), ["a@b.example"]);
		equals(addressesIn(words).length, 5000);
		equals(addressesIn('"'.repeat(5001)).length, 2501);
	},
};

export default tests;
