import { equals, Random, type Tests } from "../testing";
import { type Formatter, parse, write } from "./message";

/** plain writes numbers in English, and names the kind of what else it writes. */
const plain: Formatter = {
	category: (value) => (value === 1 ? "one" : "other"),
	value: (value, kind, style) =>
		kind === "" || kind === "#" ? String(value) : `${[kind, style].filter(Boolean).join("/")}:${value}`,
};

const shown = (text: string, values = {}) => write(parse(text), values, plain);

function fails(text: string) {
	try {
		parse(text);
	} catch {
		return;
	}
	throw new Error(`“${text}” is read, and should not be`);
}

const tests: Tests = {
	"a text without places stays"() {
		for (const text of ["", "Contacts", "It isn't # here", "a < b, 100 %"]) equals(shown(text), text);
	},
	"values are put in their places"() {
		equals(shown("{a} of {b}", { a: 3, b: "x" }), "3 of x");
		equals(shown("{ a }{a}", { a: "{b}" }), "{b}{b}");
		equals(
			shown("{n, number} {n, number, percent} {d, date}", { n: 0.5, d: "D" }),
			"number:0.5 number/percent:0.5 date:D",
		);
	},
	"the place of a missing value stays"() {
		equals(shown("{a} of {b, number}", { a: 3 }), "3 of {b}");
		equals(shown("{n, plural, one {# row} other {# rows}}"), "{n}");
		equals(shown("{a}", { a: "" }), "");
		equals(shown("{a}", { a: null }), "null");
	},
	"a plural chooses by category, and first by value"() {
		const text = "{n, plural, =0 {none} one {# row of {name}} other {# rows of {name}}}";
		equals(shown(text, { n: 0, name: "x" }), "none");
		equals(shown(text, { n: 1, name: "x" }), "1 row of x");
		equals(shown(text, { n: 7, name: "x" }), "7 rows of x");
		equals(shown("{n, plural, other {# {m, plural, other {#}} #}} #", { n: 1, m: 2 }), "1 2 1 #");
	},
	"a category that a message lacks is other"() {
		equals(shown("{n, plural, =2 {two} other {#}}", { n: 1 }), "1");
	},
	"a select chooses by value"() {
		const text = "{kind, select, form {a form} true {yes} other {a {kind}}}";
		equals(shown(text, { kind: "form" }), "a form");
		equals(shown(text, { kind: true }), "yes");
		equals(shown(text, { kind: "page" }), "a page");
		equals(shown(text, { kind: "toString" }), "a toString");
		equals(shown("{kind, select, other {#}}", { kind: 1 }), "#");
	},
	"quoted braces are text"() {
		equals(shown("'{a}' '{{b}}' {c}", { c: "it's" }), "{a} {{b}} it's");
		equals(shown("it''s '{'' }'"), "it's {' }");
		equals(shown("the reader's {a}s'", { a: 1 }), "the reader's 1s'");
		equals(shown("'{ without an end"), "{ without an end");
		equals(shown("{n, plural, other {'#' is #, '{n}'}}", { n: 4 }), "# is 4, {n}");
		equals(shown("'#' #"), "'#' #");
	},
	"any text can be quoted"() {
		const random = new Random(1);
		for (let round = 0; round < 2000; round++) {
			let text = "";
			for (let length = random.below(12); length > 0; length--) text += random.of(["'", "{", "}", "#", "a", " ", ","]);
			const quoted = text.replaceAll("'", "''").replace(/[{}].*$/, "'$&'");
			equals(shown(quoted), text, quoted);
		}
	},
	"what is no message fails"() {
		for (const text of [
			"{",
			"}",
			"{a",
			"{}",
			"{a b}",
			"{a, }",
			"{a, plural}}",
			"{a, plural, one {x}}",
			"{a, select, other}",
			"{a, plural, other {x}",
			"{a, number, percent, more}",
		])
			fails(text);
	},
};

export default tests;
