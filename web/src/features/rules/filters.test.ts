import { equals, type Tests } from "../../base/testing";
import type { FieldInfo } from "./fields";
import { type Filter, filtersIn, ruleOf, sentence } from "./filters";

const fields: FieldInfo[] = [
	{ field: "email", name: "Email", group: "Person", kind: "text" },
	{ field: "created_at", name: "Created", group: "Activity", kind: "date" },
	{ field: "score", name: "Score", group: "Activity", kind: "number" },
	{ field: "vip", name: "Important", group: "Own", kind: "boolean" },
	{
		field: "country",
		name: "Country",
		group: "Address",
		kind: "choice",
		choices: [
			{ value: "DE", label: "Germany" },
			{ value: "AT", label: "Austria" },
		],
	},
];

const tests: Tests = {
	"a filter is a sentence with the names of what it names"() {
		const filters: [filter: Filter, want: string][] = [
			[{ field: "email", operator: "contains", value: "@example.com" }, "Email contains @example.com"],
			[{ field: "email", operator: "is_set" }, "Email is set"],
			[{ field: "email", operator: "is_not_set", value: "of before" }, "Email is not set"],
			[{ field: "country", operator: "in", value: ["DE", "AT", "CH"] }, "Country is any of Germany, Austria, CH"],
			[{ field: "country", operator: "in", value: "DE" }, "Country is any of Germany"],
			[{ field: "score", operator: "between", value: [1, 10] }, "Score is between 1 and 10"],
			[{ field: "score", operator: "between" }, "Score is between"],
			[{ field: "score", operator: "equals", value: 0 }, "Score is 0"],
			[{ field: "created_at", operator: "on", value: "2026-05-09" }, "Created is on 9 May 2026"],
			[{ field: "created_at", operator: "after", value: "2026-05-09T10:00:00Z" }, "Created is after 9 May 2026"],
			[
				{ field: "created_at", operator: "in_the_last", value: { amount: 1, unit: "day" } },
				"Created is in the last 1 day",
			],
			[
				{ field: "created_at", operator: "more_than_ago", value: { amount: 3, unit: "week" } },
				"Created is more than 3 weeks ago",
			],
			[{ field: "created_at", operator: "in_the_last" }, "Created is in the last 0 days"],
			[{ field: "vip", operator: "equals", value: false }, "Important is no"],
			[{ field: "vip", operator: "equals", value: true }, "Important is yes"],
		];
		for (const [filter, expected] of filters) equals(sentence(filter, fields), expected);
	},
	"a field or an operator that is not known is shown by its name"() {
		equals(
			sentence({ field: "custom_fields.gone", operator: "sounds_like", value: "x" }, fields),
			"custom_fields.gone sounds_like x",
		);
	},
	"filters are a rule whose conditions must all hold"() {
		equals(
			ruleOf([
				{ field: "country", operator: "in", value: ["DE"] },
				{ field: "list", operator: "not_in", value: ["members"] },
			]),
			{
				logic: "and",
				conditions: [
					{ field: "country", operator: "in", value: ["DE"] },
					{ type: "list", operator: "not_in", segment_keys: ["members"] },
				],
			},
		);
		equals(ruleOf([]), { logic: "and", conditions: [] });
	},
	"filters are read from an address, none from what is no list"() {
		equals(filtersIn('[{"field":"email","operator":"is_set"}]'), [{ field: "email", operator: "is_set" }]);
		for (const text of [null, "", "[", "{}", "null", "3"]) equals(filtersIn(text), [], String(text));
	},
};

export default tests;
