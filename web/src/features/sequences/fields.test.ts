import { equals, type Tests } from "../../base/testing";
import type { FieldInfo } from "../rules/fields";
import { fieldValue } from "./fieldValue";
import { problemAt } from "./problemAt";

const fields = [
	{ field: "score", kind: "number" },
	{ field: "vip", kind: "boolean" },
	{ field: "company", kind: "text" },
] as FieldInfo[];

const tests: Tests = {
	"what is typed is a value of the field's kind"() {
		const cases: [field: string, text: string, want: unknown][] = [
			["score", "3", 3],
			["score", "-1.5", -1.5],
			["score", "1.", "1."],
			["score", "1.0", "1.0"],
			["score", "-", "-"],
			["score", "", ""],
			["score", " ", " "],
			["score", "many", "many"],
			["vip", "true", true],
			["vip", "false", false],
			["vip", "yes", "yes"],
			["company", "3", "3"],
			["company", "true", "true"],
			["gone", "3", "3"],
		];
		for (const [field, text, expected] of cases)
			equals(fieldValue(fields, field, text), expected, `${field} "${text}"`);
	},
	"a number can be typed sign by sign"() {
		for (const number of ["1.5", "-20", "0.25", "1000"]) {
			let shown = "";
			for (const sign of number) shown = String(fieldValue(fields, "score", shown + sign));
			equals(shown, number);
		}
	},
	"a problem stands at the field with whose path it begins"() {
		const problems: [message: string, path: string, want: string | undefined][] = [
			["tags: is empty", "tags", "is empty"],
			["tags[1]: is too long", "tags", "is too long"],
			["timeout.amount: is too large", "timeout", "is too large"],
			["timeout.amount: is too large", "timeout.amount", "is too large"],
			["branches[0] has no label", "branches[0]", "branches[0] has no label"],
			["tags", "tags", "tags"],
			["tags_more: is empty", "tags", undefined],
			["tag: is empty", "tags", undefined],
			["branches has none", "branches", undefined],
		];
		for (const [message, path, expected] of problems)
			equals(problemAt([message])(path), expected, `${message} at ${path}`);
		equals(problemAt(["url: first", "url: second"])("url"), "first");
		equals(problemAt([])("url"), undefined);
	},
};

export default tests;
