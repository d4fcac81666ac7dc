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
function valueText(f: Filter, field: FieldInfo | undefined): string {
	const name = (v: unknown) =>
		(typeof v === "boolean" ? (v ? words.yes : words.no) : undefined) ??
		field?.choices?.find((c) => c.value === v)?.label ??
		(field?.kind === "date" && typeof v === "string" && v ? calendarDay(v.slice(0, 10)) : String(v ?? ""));
	switch (shapeOf(f.operator ?? "")) {
		case "none":
			return "";
		case "many":
			return Array.isArray(f.value) ? f.value.map(name).join(", ") : name(f.value);
		case "two":
			return Array.isArray(f.value) ? and(f.value.map(name)) : "";
		case "period": {
			const p = f.value as { amount?: number; unit?: string } | undefined;
			const unit = p?.unit ?? "day";
			const count = p?.amount ?? 0;
			return unit in words.ago ? words.ago[unit as keyof typeof words.ago]({ count }) : `${count} ${unit}`;
		}
		default:
			return name(f.value);
	}
}

/** sentence writes a filter as people say it: "Country is any of DE, AT". */
export function sentence(f: Filter, fields: FieldInfo[]): string {
	const field = fields.find((i) => i.field === f.field);
	const value = valueText(f, field);
	const operator = operatorName(f.operator ?? "");
	return operator.includes("…")
		? `${field?.name ?? f.field} ${operator.replace("…", value)}`
		: [field?.name ?? f.field, operator, value].filter(Boolean).join(" ");
}

/** ruleOf writes filters as the rule of a segment. */
export const ruleOf = (filters: Filter[]) => ({
	logic: "and",
	conditions: filters.map((f) =>
		f.field === "list" ? { type: "list", operator: f.operator, segment_keys: f.value } : f,
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
