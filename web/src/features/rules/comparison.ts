import { catalogue } from "../../base/words/catalogue";
import { fill } from "../../base/words/fill";
import { and, cached, formatter } from "../../base/words/formats";
import { type FieldInfo, operatorName, shapeOf } from "./fields";
import { type Filter, nameOfValue, periodText } from "./filters";
import { joint, part, type Piece } from "./pieces";

// How a field of a contact, or a property of an event, is compared with a value, in words.

const words = catalogue("rules.comparison", {
	comparison: "{subject} {operator} {value} {end}",
	value: "value",
	many: "{values} or {count, number} more",
	manyOf: "{values} and {count, number} more",
	/** How operators are called that take several values: the values are joined. */
	operators: { in: "is", not_in: "is not" },
});

const or = (texts: readonly string[]) =>
	cached("or", (language) => new Intl.ListFormat(language, { type: "disjunction" })).format(texts);

/** How many values are written; of more, the first few are. */
const [most, few] = [4, 3];

/** anyOf joins names: "a, b or c"; of many, the first ones and how many more there are. */
export function anyOf(names: readonly string[], all = false): string {
	if (names.length <= most) return (all ? and : or)(names);
	const values = { values: names.slice(0, few).join(", "), count: names.length - few };
	return all ? words.manyOf(values) : words.many(values);
}

type Compared = Pick<FieldInfo, "kind" | "choices" | "codes">;

/** valueWords writes what a field is compared with; undefined if that is not set. */
export function valueWords({ operator = "", value }: Filter, field: Compared | undefined): string | undefined {
	const isSet = (value: unknown) => value !== "" && value !== null && value !== undefined && !Number.isNaN(value);
	const name = (value: unknown) => (typeof value === "number" ? formatter.value(value, "") : nameOfValue(value, field));
	switch (shapeOf(operator)) {
		case "none":
			return undefined;
		case "many": {
			const values = (Array.isArray(value) ? value : [value]).filter(isSet);
			return values.length > 0 ? anyOf(values.map(name), operator === "has_all") : undefined;
		}
		case "two":
			return Array.isArray(value) && value.length === 2 && value.every(isSet) ? and(value.map(name)) : undefined;
		case "period": {
			const period = (value ?? {}) as { amount?: number; unit?: string };
			return Number(period.amount) > 0 ? periodText(period) : undefined;
		}
		default:
			return isSet(value) && typeof value !== "object" ? name(value) : undefined;
	}
}

/** operatorInSentence returns the words of an operator before and after the value. */
function operatorInSentence(operator: string): { before: string; after: string } {
	const name = (words.operators as { [operator: string]: string })[operator] ?? operatorName(operator);
	const [before = "", after = ""] = name.split("…");
	return { before: before.trim(), after: after.trim() };
}

/** comparison writes a condition on what a part names: "Created is more than 30 days ago". Its parts begin with a prefix. */
export function comparison(prefix: string, subject: Piece[], filter: Filter, field: Compared | undefined): Piece[] {
	const { operator = "" } = filter;
	const { before, after } = operatorInSentence(operator);
	const takesValue = shapeOf(operator) !== "none";
	return fill(words.comparison, {
		subject,
		operator: joint(`${prefix}operator`, before),
		value: takesValue ? part(`${prefix}value`, valueWords(filter, field), words.value) : "",
		end: takesValue ? after : "",
	});
}
