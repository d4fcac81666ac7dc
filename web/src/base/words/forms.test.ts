import { equals, type Tests } from "../testing";
import { sentences } from "./forms";

const texts = {
	down: ({ name }: { name: string }) => `${name} is down.`,
	rows: ({ n }: { n: number }) => `${n + 1} rows`,
	field: ({ path }: { path: string }) => `Look at ${path}.`,
	kinds: ({ a, b }: { a: string; b: string }) => `${a}, ${b}`,
	names: ({ names }: { names: string }) => `Choose ${names}.`,
	why: ({ why }: { why: string }) => `Not sent. ${why}`,
	plain: "All is well.",
};

const read = sentences(
	texts,
	{
		down: "{name} is down",
		rows: ["has {n#} row", "has {n#} rows"],
		field: "look at '{path@}'",
		kinds: "{a~} and {b~} differ",
		names: "one of: {names&}",
		why: "it cannot be sent:{why*}",
		plain: "all is well (really)",
	},
	(why) => `<${why}>`,
	(path) => path.toUpperCase(),
);

const tests: Tests = {
	"a form gives its places to the sentence"() {
		const cases: [text: string, want: string | null][] = [
			["mail.example is down", "mail.example is down."],
			["has 1,000,000 rows", "1000001 rows"],
			["has 2.5 row", "3.5 rows"],
			["has many rows", null],
			["look at 'slots.promo.parameters.title'", "Look at SLOTS.PROMO.PARAMETERS.TITLE."],
			["a list and nothing differ", "a list, nothing"],
			["a list and what else differ", "a list, what else"],
			["one of: a", "Choose a."],
			["one of: a, b and 3 more", "Choose a, b, and 3 more."],
			["it cannot be sent: a\nb", "Not sent. <a\nb>"],
			["all is well (really)", "All is well."],
			["all is well (really) ", null],
			["", null],
		];
		for (const [text, want] of cases) equals(read(text), want, text);
	},
};

export default tests;
