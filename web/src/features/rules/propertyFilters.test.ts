import { equals, holds, type Tests } from "../../base/testing";
import { initialValue, operators } from "./fields";
import {
	filterWords,
	ofKind,
	type PropertyFilter,
	type PropertyKind,
	propertyKind,
	recordedKind,
	valuesIn,
} from "./propertyFilters";

const tests: Tests = {
	"the kind of a property is told by what a filter asks of it"() {
		const filters: [operator: string, value: unknown, want: PropertyKind][] = [
			["equals", "x", "text"],
			["equals", 3, "number"],
			["in", ["a"], "text"],
			["in", [1, 2], "number"],
			["greater_than", "", "number"],
			["between", [1, 2], "number"],
			["between", ["2026-01-01", "2026-02-01"], "date"],
			["in_the_last", { amount: 3, unit: "day" }, "date"],
			["before", "2026-01-01", "date"],
			["is_true", undefined, "boolean"],
			["equals", false, "boolean"],
			["is_set", undefined, "text"],
		];
		for (const [operator, value, expected] of filters)
			equals(propertyKind({ property: "p", operator, value }), expected, `${operator} ${JSON.stringify(value)}`);
	},
	"the first condition of a kind is taken for that kind again"() {
		for (const kind of ["text", "number", "date", "boolean"] as const) {
			const operator = operators[kind][0] ?? "";
			equals(propertyKind({ property: "p", operator, value: initialValue(operator, kind) }), kind);
		}
	},
	"a condition keeps the kind that was chosen while its operator changes"() {
		for (const kind of ["text", "number", "date", "boolean"] as const) {
			for (const operator of operators[kind]) {
				const filter = ofKind({ property: "p", operator: "equals", value: "" }, kind, operator);
				equals(propertyKind({ ...filter, property: "q" }), kind, operator);
				equals(Object.keys(filter).sort(), ["operator", "property", "value"]);
			}
		}
	},
	"several values are read as values of the kind"() {
		equals(valuesIn(" 10, 20.5,, -3 ", "number"), [10, 20.5, -3]);
		equals(valuesIn("10, ten", "number"), [10]);
		equals(valuesIn("10,20, ", "text"), ["10", "20"]);
		equals(valuesIn("", "number"), []);
	},
	"a property has the kind of its values, if all have the same"() {
		const recorded: [kinds: string[] | undefined, want: PropertyKind | undefined][] = [
			[["string"], "text"],
			[["number"], "number"],
			[["date"], "date"],
			[["boolean"], "boolean"],
			[["array"], undefined],
			[["number", "string"], undefined],
			[[], undefined],
			[undefined, undefined],
		];
		for (const [kinds, expected] of recorded) equals(recordedKind(kinds), expected, String(kinds));
	},
	"a condition is written with its value, if its operator takes one"() {
		const filters: [filter: PropertyFilter, value: string][] = [
			[{ property: "plan", operator: "equals", value: "pro" }, "pro"],
			[{ property: "total", operator: "greater_than", value: 100 }, "100"],
			[{ property: "total", operator: "equals", value: 0 }, "0"],
			[{ property: "plan", operator: "in", value: ["pro", "max"] }, "pro, max"],
			[{ property: "due", operator: "in_the_next", value: { amount: 3, unit: "day" } }, "3 day"],
			[{ property: "paid", operator: "equals", value: false }, "false"],
		];
		for (const [filter, value] of filters) {
			const text = filterWords(filter);
			holds(text.startsWith(`${filter.property} `) && text.endsWith(` ${value}`), `${text} does not end with ${value}`);
		}
		equals(filterWords({ property: "plan", operator: "is_set", value: "old" }), "plan is set");
		equals(filterWords({ property: "", operator: "is_set" }), "is set");
	},
};

export default tests;
