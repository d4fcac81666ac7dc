import { catalogue } from "../../base/words/catalogue";
import { and, calendarDay } from "../../base/words/formats";
import { type FieldInfo, operatorName, shapeOf } from "./fields";
import { choiceName } from "./choiceName";

// Filters of a list: conditions on fields of contacts, all of which must match.

const words = catalogue("rules.filters", {
	yes: "yes",
	no: "no",
	ago: {
		minute: "{count, plural, one {# minute} other {# minutes}}",
		hour: "{count, plural, one {# hour} other {# hours}}",
		day: "{count, plural, one {# day} other {# days}}",
		week: "{count, plural, one {# week} other {# weeks}}",
		month: "{count, plural, one {# month} other {# months}}",
		year: "{count, plural, one {# year} other {# years}}",
	},
});

export type Filter = { field?: string; operator?: string; value?: unknown };

/** nameOfValue writes one value of a field. */
export function nameOfValue(value: unknown, field: Pick<FieldInfo, "kind" | "choices" | "codes"> | undefined): string {
	if (typeof value === "boolean") return value ? words.yes : words.no;
	const text = String(value ?? "");
	return field?.kind === "date" && /^\d{4}-\d\d-\d\d/.test(text)
		? calendarDay(text.slice(0, 10))
		: choiceName(field, text);
}

/** periodText writes a length of time: "30 days". */
export function periodText({ amount = 0, unit = "day" }: { amount?: number; unit?: string }): string {
	return unit in words.ago ? words.ago[unit as keyof typeof words.ago]({ count: amount }) : `${amount} ${unit}`;
}

/** valueText writes the value of a filter, with the names of what it names. */
function valueText(filter: Filter, field: FieldInfo | undefined): string {
	const name = (value: unknown) => nameOfValue(value, field);
	switch (shapeOf(filter.operator ?? "")) {
		case "none":
			return "";
		case "many":
			return Array.isArray(filter.value) ? filter.value.map(name).join(", ") : name(filter.value);
		case "two":
			return Array.isArray(filter.value) ? and(filter.value.map(name)) : "";
		case "period":
			return periodText((filter.value ?? {}) as { amount?: number; unit?: string });
		default:
			return name(filter.value);
	}
}

/** sentence writes a filter as people say it: "Country is any of DE, AT". */
export function sentence(filter: Filter, fields: FieldInfo[]): string {
	const field = fields.find((field) => field.field === filter.field);
	const value = valueText(filter, field);
	const operator = operatorName(filter.operator ?? "");
	return operator.includes("…")
		? `${field?.name ?? filter.field} ${operator.replace("…", value)}`
		: [field?.name ?? filter.field, operator, value].filter(Boolean).join(" ");
}

/** ruleOf writes filters as the rule of a segment. */
export const ruleOf = (filters: Filter[]) => ({
	logic: "and",
	conditions: filters.map((filter) =>
		filter.field === "list" ? { type: "list", operator: filter.operator, segment_keys: filter.value } : filter,
	),
});

/** filtersIn reads filters from an address; none from what is no list. */
export function filtersIn(text: string | null): Filter[] {
	try {
		const all: unknown = JSON.parse(text ?? "[]");
		return Array.isArray(all) ? (all as Filter[]) : [];
	} catch {
		return [];
	}
}
