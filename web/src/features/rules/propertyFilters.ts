import { operatorName, operators, shapeOf } from "./fields";

/** PropertyFilter is a condition on a property of an event. */
export type PropertyFilter = { property: string; operator: string; value?: unknown };

/** PropertyKind is the kind of a property: nothing declares it, so it is derived from the operators of a filter. */
export type PropertyKind = "text" | "number" | "date" | "boolean";

/** propertyKind returns the kind of property that a filter asks about. */
export function propertyKind({ operator, value }: PropertyFilter): PropertyKind {
	const includes = (all: readonly string[]) => all.includes(operator);
	if (includes(operators.boolean.slice(0, 2))) return "boolean";
	const sample = Array.isArray(value) ? value[0] : value;
	if (typeof sample === "number" || sample === null) return "number"; // null: it is not filled in yet
	if (includes(operators.text)) return "text";
	return includes(operators.number) && operator !== "between" ? "number" : "date";
}

const kindNames: { [kind: string]: PropertyKind } = {
	string: "text",
	number: "number",
	date: "date",
	boolean: "boolean",
};

/** recordedKind returns the kind of a property whose values were all of that kind, given the names of the API. */
export function recordedKind(kinds: string[] = []): PropertyKind | undefined {
	return kinds.length === 1 ? kindNames[kinds[0] ?? ""] : undefined;
}

/** filterWords writes a condition on a property: "total is more than 100". */
export const filterWords = (filter: PropertyFilter) => {
	const value = Array.isArray(filter.value)
		? filter.value.join(", ")
		: typeof filter.value === "object" && filter.value
			? Object.values(filter.value).join(" ")
			: String(filter.value ?? "");
	return [filter.property, operatorName(filter.operator), shapeOf(filter.operator) === "none" ? "" : value]
		.filter(Boolean)
		.join(" ");
};
