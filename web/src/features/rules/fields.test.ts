import { equals, holds, type Tests } from "../../base/testing";
import { type FieldKind, fieldsOf, initialValue, operatorName, operators, ruleFieldsOf, shapeOf } from "./fields";

const kinds = Object.keys(operators) as FieldKind[];
const custom = (field_key: string, field_type: string, enum_values: string[] | null = null) =>
	({ field_key, name: `Own ${field_key}`, field_type, enum_values }) as never;

const fields = fieldsOf(
	[custom("size", "number"), custom("plan", "enum", ["free", "paid"])],
	[{ slug: "lead", name: "Lead" }],
	[
		{ segment_key: "members", name: "Members", type: "static" },
		{ segment_key: "active", name: "Active", type: "dynamic" },
	],
);
const fieldNamed = (field: string) => fields.find((f) => f.field === field);

const tests: Tests = {
	"every operator has words, and stands once in its kind"() {
		for (const kind of kinds) {
			equals(new Set(operators[kind]).size, operators[kind].length, `the number of different operators of ${kind}`);
			for (const operator of operators[kind])
				holds(operatorName(operator) !== "" && !operatorName(operator).includes("_"), `${operator} has no words`);
		}
		equals(operatorName("sounds_like"), "sounds_like", "an operator of a later version");
	},
	"the first value of a condition has the shape that its operator takes"() {
		const empty: { [shape: string]: (value: unknown) => boolean } = {
			none: (value) => value === undefined,
			one: (value) => value !== undefined && typeof value !== "object",
			many: (value) => Array.isArray(value) && value.length === 0,
			two: (value) => Array.isArray(value) && value.length === 2,
			period: (value) => JSON.stringify(value) === '{"amount":30,"unit":"day"}',
		};
		for (const kind of kinds)
			for (const operator of operators[kind]) {
				const value = initialValue(operator, kind);
				holds(
					empty[shapeOf(operator)]?.(value) ?? false,
					`${JSON.stringify(value)} is not ${shapeOf(operator)}, as ${operator} takes it`,
				);
			}
	},
	"the first value is of the kind of the field"() {
		const values: [operator: string, kind: FieldKind, want: unknown][] = [
			["equals", "number", 0],
			["between", "number", [0, 0]],
			["equals", "boolean", true],
			["equals", "text", ""],
			["between", "date", ["", ""]],
			["equals", "reference", ""],
		];
		for (const [operator, kind, expected] of values)
			equals(initialValue(operator, kind), expected, `${operator} of ${kind}`);
	},
	"shapes are those that the API takes"() {
		const shapes: { [operator: string]: string } = {
			equals: "one",
			contains: "one",
			on_or_after: "one",
			is_set: "none",
			is_true: "none",
			unsubscribed: "none",
			not_in: "many",
			has_none: "many",
			between: "two",
			in_the_last: "period",
			not_in_the_last: "period",
			anniversary_in_next: "period",
			more_than_ago: "period",
		};
		for (const [operator, expected] of Object.entries(shapes)) equals(shapeOf(operator), expected, operator);
	},
	"fields are those of all contacts, and the workspace's own"() {
		equals(new Set(fields.map((field) => field.field)).size, fields.length, "the number of different fields");
		for (const field of fields) holds(field.name !== "" && field.group !== "", `${field.field} has no name or group`);
		equals(fieldNamed("email")?.kind, "text");
		equals(fieldNamed("custom_fields.size"), {
			field: "custom_fields.size",
			name: "Own size",
			group: fieldNamed("custom_fields.plan")?.group,
			kind: "number",
		});
		equals(fieldNamed("custom_fields.plan")?.choices, [
			{ value: "free", label: "free" },
			{ value: "paid", label: "paid" },
		]);
		equals(fieldNamed("stage")?.choices, [{ value: "lead", label: "Lead" }]);
		equals(fieldNamed("list")?.choices, [{ value: "members", label: "Members" }], "only lists have members by hand");
		equals(
			fieldNamed("global_status")?.choices?.map((choice) => choice.value),
			["active", "pending", "unsubscribed", "bounced", "complained", "suppressed"],
		);
	},
	"each type of custom field is of a kind with operators"() {
		const types: { [type: string]: FieldKind } = {
			string: "text",
			email: "text",
			url: "text",
			number: "number",
			currency: "number",
			boolean: "boolean",
			date: "date",
			datetime: "date",
			time: "time",
			enum: "choice",
			tags: "tags",
			timezone: "choice",
			country: "choice",
			contact: "reference",
		};
		for (const [type, expected] of Object.entries(types))
			equals(fieldsOf([custom("x", type)], [], []).at(-1)?.kind, expected, type);
	},
	"rules ask about fields, what is recorded, and subscriptions, group by group"() {
		const all = ruleFieldsOf(
			fields,
			[
				{ type_key: "news", display_name: "News", category_id: null },
				{ type_key: "offers", display_name: "Offers", category_id: "c1" as never },
			],
			[{ id: "c1" as never, name: "Marketing" }],
		);
		const includes = (field: string) => all.some((f) => f.field === field);
		for (const field of fields) holds(includes(field.field), `${field.field} cannot be asked about`);
		holds(includes("bounce_type") && includes("first_touch_source"), "what is recorded cannot be asked about");
		equals(
			[includes("subscriptions.news"), includes("subscriptions.offers"), includes("category_subscriptions.c1")],
			[true, false, true],
			"a type with a category follows the category",
		);
		const groups = all.map((field) => field.group).filter((group, i, list) => group !== list[i - 1]);
		equals(new Set(groups).size, groups.length, "the number of different groups in a row");
		equals(all.find((field) => field.field === "subscriptions.news")?.kind, "subscription");
	},
};

export default tests;
