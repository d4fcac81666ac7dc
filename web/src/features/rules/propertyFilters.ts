import { unsetValue } from "./edits";
import { operatorName, operators, shapeOf } from "./fields";

/** PropertyKind is the kind of a property: nothing declares it, so it is derived from the operators of a filter. */
export type PropertyKind = "text" | "number" | "date" | "boolean";

/** Under this, a filter that is edited has the kind that was chosen: no request has it, and "is set" does not tell it. */
export const chosenKind: unique symbol = Symbol("chosenKind");

/** PropertyFilter is a condition on a property of an event. */
export type PropertyFilter = { property: string; operator: string; value?: unknown; [chosenKind]?: PropertyKind };

/** propertyKind returns the kind of property that a filter asks about. */
export function propertyKind({ operator, value, [chosenKind]: chosen }: PropertyFilter): PropertyKind {
	const includes = (all: readonly string[]) => all.includes(operator);
	if (chosen && includes(operators[chosen])) return chosen;
	if (includes(operators.boolean.slice(0, 2))) return "boolean";
	const sample = Array.isArray(value) ? value[0] : value;
	if (typeof sample === "boolean") return "boolean";
	if (typeof sample === "number" || sample === null) return "number"; // null: it is not filled in yet
	if (includes(operators.text)) return "text";
	return includes(operators.number) && operator !== "between" ? "number" : "date";
}

/** ofKind returns a condition on a property of a kind. What it is compared with stays if it is of that kind, and of the shape that the operator takes. */
export function ofKind(
	filter: PropertyFilter,
	kind: PropertyKind,
	operator: string = operators[kind][0] ?? "equals",
): PropertyFilter {
	const stays = kind === propertyKind(filter) && shapeOf(operator) === shapeOf(filter.operator);
	return { ...filter, operator, value: stays ? filter.value : unsetValue(operator, kind), [chosenKind]: kind };
}

/** valuesIn reads values of a kind that are separated by commas. What is no number is left out of numbers. */
export function valuesIn(text: string, kind: PropertyKind): (string | number)[] {
	const texts = text
		.split(",")
		.map((part) => part.trim())
		.filter(Boolean);
	return kind === "number" ? texts.map(Number).filter(Number.isFinite) : texts;
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
