import { catalogue } from "../../base/words/catalogue";
import { and, calendarDay } from "../../base/words/formats";
import { type FieldInfo, operatorName, shapeOf } from "./fields";

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

/** valueText writes the value of a filter, with the names of what it names. */
function valueText(filter: Filter, field: FieldInfo | undefined): string {
	const name = (value: unknown) =>
		(typeof value === "boolean" ? (value ? words.yes : words.no) : undefined) ??
		field?.choices?.find((choice) => choice.value === value)?.label ??
		(field?.kind === "date" && typeof value === "string" && value
			? calendarDay(value.slice(0, 10))
			: String(value ?? ""));
	switch (shapeOf(filter.operator ?? "")) {
		case "none":
			return "";
		case "many":
			return Array.isArray(filter.value) ? filter.value.map(name).join(", ") : name(filter.value);
		case "two":
			return Array.isArray(filter.value) ? and(filter.value.map(name)) : "";
		case "period": {
			const period = filter.value as { amount?: number; unit?: string } | undefined;
			const unit = period?.unit ?? "day";
			const count = period?.amount ?? 0;
			return unit in words.ago ? words.ago[unit as keyof typeof words.ago]({ count }) : `${count} ${unit}`;
		}
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
