import { equals, type Tests } from "../testing";
import { fill, joinAs, tidy } from "./fill";

const message = (values: { a: string; b: string; n?: number }) =>
	values.n === 1 ? `one ${values.b}` : `${values.b} before ${values.a}!`;
const and = (texts: readonly string[]) => `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;

const tests: Tests = {
	"things stand where the message has their places"() {
		equals(fill(message, { a: [{ id: 1 }], b: [{ id: 2 }] }), [{ id: 2 }, " before ", { id: 1 }, "!"]);
		equals(fill(message, { a: [], b: ["x ", { id: 2 }] }), ["x ", { id: 2 }, " before ", "!"]);
	},
	"other values are those of the message"() {
		equals(fill(message, { a: "A", b: [{ id: 2 }] }), [{ id: 2 }, " before A!"]);
		equals(fill(message, { a: [], b: [{ id: 2 }], n: 1 }), ["one ", { id: 2 }]);
	},
	"lists of things are joined as texts are"() {
		equals(joinAs(and, [[1, "x"], [2], [3]]), [1, "x", ", ", 2, " and ", 3]);
	},
	"spaces of empty places go"() {
		equals(tidy([" a ", "", " b", " ", 1, "  ", " , c ", 2, " (", ") ", "."]), ["a b ", 1, ", c ", 2, " ()."]);
		equals(tidy(["  ", 1, " "]), [1]);
	},
};

export default tests;
