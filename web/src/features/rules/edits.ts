import { type FieldInfo, initialValue, operators, shapeOf } from "./fields";
import { type EventMatch, type Kind, kindOf, type Leaf, newLeaf, type Window } from "./leaves";
import type { PropertyFilter } from "./propertyFilters";

// How a condition changes when one of its parts does, so that the parts still belong together.

/** withKind returns a condition of another type. */
export const withKind = (leaf: Leaf, kind: string): Leaf => (kindOf(leaf) === kind ? leaf : newLeaf(kind as Kind));

/** unsetValue returns a value of the shape that an operator takes, which has to be filled in unless there is a usual one. */
export function unsetValue(operator: string, kind: FieldInfo["kind"]): unknown {
	if (kind !== "number") return initialValue(operator, kind);
	return { one: null, two: [null, null], many: [], none: undefined, period: undefined }[shapeOf(operator)];
}

/** withField returns a condition on another field, with the usual operator of its kind. */
export function withField(field: FieldInfo): Leaf {
	const operator = operators[field.kind][0] ?? "equals";
	return { field: field.field, operator, value: unsetValue(operator, field.kind) };
}

/** withFieldOperator returns a condition on a field with another operator. The value stays if that takes such a value. */
export const withFieldOperator = (leaf: Leaf, operator: string, kind: FieldInfo["kind"]): Leaf => ({
	...leaf,
	operator,
	value: shapeOf(operator) === shapeOf(leaf.operator ?? "") ? leaf.value : unsetValue(operator, kind),
});

/** without returns a condition without some of its members. */
function without(leaf: Leaf, ...members: (keyof Leaf)[]): Leaf {
	return Object.fromEntries(Object.entries(leaf).filter(([name]) => !members.includes(name as keyof Leaf)));
}

/** withOperator returns a condition with another operator: what did not happen is not counted. */
export const withOperator = (leaf: Leaf, operator: string): Leaf => ({
	...(operator === "did_not" ? without(leaf, "count") : leaf),
	operator,
});

/** ofBroadcast returns a condition on another broadcast, without what only the former one has. */
export const ofBroadcast = (leaf: Leaf, broadcast_id: string | undefined): Leaf =>
	broadcast_id === leaf.broadcast_id ? leaf : without({ ...leaf, broadcast_id }, "variant_id", "link_url");

/** ofSequence returns a condition on another sequence, without what only the former one has. */
export const ofSequence = (leaf: Leaf, sequence_id: string | undefined): Leaf =>
	sequence_id === leaf.sequence_id ? leaf : without({ ...leaf, sequence_id }, "node_id");

/** Whether an event of a mail is of the kind that people and programs cause. */
const hasLevel = (event: string | undefined) => ["opened", "clicked", "engaged"].includes(event ?? "");

/** withEvent returns a condition on another event of a mail, or on its absence: without what only belongs to the former. */
export function withEvent(leaf: Leaf, operator: string, event: string): Leaf {
	const next = { ...withOperator(leaf, operator), event };
	return without(
		next,
		...(hasLevel(event) ? [] : (["level"] as const)),
		...(event === "clicked" ? [] : (["link_url"] as const)),
	);
}

const month: Window = { in_the_last: { amount: 30, unit: "day" } };
const noFilter: PropertyFilter = { property: "", operator: "equals", value: "" };

/** Addition is what can be added to a condition: it is named by the part that it begins with, as far as that is always the same. */
export type Addition =
	| "filters"
	| "first.filters"
	| "then.filters"
	| "count"
	| "window"
	| "added"
	| "link_url"
	| "level";

const counted: Kind[] = ["email", "event", "page_view"];
const timed: Kind[] = ["email", "event", "event_sequence", "page_view", "form", "sequence"];

/** additionsTo returns what can be added to a condition. */
export function additionsTo(leaf: Leaf): Addition[] {
	const kind = kindOf(leaf);
	const all: [Addition, boolean][] = [
		["filters", kind === "event"],
		["first.filters", kind === "event_sequence"],
		["then.filters", kind === "event_sequence"],
		["count", counted.includes(kind) && leaf.operator === "did" && !leaf.count],
		["window", timed.includes(kind) && !leaf.window],
		["added", kind === "list" && !leaf.added],
		["link_url", kind === "broadcast" && leaf.event === "clicked" && leaf.link_url === undefined],
		["level", hasLevel(leaf.event) && !leaf.level],
	];
	return all.filter(([, is]) => is).map(([addition]) => addition);
}

const withFilter = (match: EventMatch = {}): EventMatch => ({
	...match,
	filters: [...(match.filters ?? []), noFilter],
});

/** add adds something to a condition, and returns the part that is to be changed next. */
export function add(leaf: Leaf, addition: Addition): { leaf: Leaf; part: string } {
	const filter = (path: string, match: EventMatch = {}) => `${path}filters[${match.filters?.length ?? 0}].property`;
	switch (addition) {
		case "filters":
			return { leaf: { ...leaf, ...withFilter(leaf) }, part: filter("", leaf) };
		case "first.filters":
			return { leaf: { ...leaf, first: withFilter(leaf.first) }, part: filter("first.", leaf.first) };
		case "then.filters":
			return { leaf: { ...leaf, then: withFilter(leaf.then) }, part: filter("then.", leaf.then) };
		case "count":
			return { leaf: { ...leaf, count: { operator: "at_least", value: 2 } }, part: "count" };
		case "link_url":
			return { leaf: { ...leaf, link_url: "" }, part: "link_url" };
		case "level":
			return { leaf: { ...leaf, level: "apparent" }, part: "level" };
		default:
			return { leaf: { ...leaf, [addition]: month }, part: addition };
	}
}

/** canRemove reports whether a condition can do without a part, which is then removed with it. */
export const canRemove = (part: string): boolean =>
	["count", "window", "added", "link_url", "variant_id", "node_id"].includes(part) || part.endsWith(".property");

/** matchAt returns the event that a path begins with: "first.filters[0].value" with the first one. */
export const matchAt = (leaf: Leaf, path: string): EventMatch =>
	path.startsWith("first.") ? (leaf.first ?? {}) : path.startsWith("then.") ? (leaf.then ?? {}) : leaf;

/** withMatch returns a condition with another event at a path. */
export const withMatch = (leaf: Leaf, path: string, match: EventMatch): Leaf =>
	path.startsWith("first.")
		? { ...leaf, first: match }
		: path.startsWith("then.")
			? { ...leaf, then: match }
			: { ...leaf, ...match };

/** filterPlace returns the number of the condition on a property that a path leads to: 0 for "first.filters[0].value". */
export function filterPlace(path: string): number | undefined {
	const place = /(?:^|\.)filters\[(\d+)\]\.\w+$/.exec(path)?.[1];
	return place === undefined ? undefined : Number(place);
}

/** withFilters returns an event with other conditions on its properties. */
export function withFilters({ filters: _, ...match }: EventMatch, filters: PropertyFilter[]): EventMatch {
	return filters.length > 0 ? { ...match, filters } : match;
}

/** remove returns a condition without a part that it can do without. */
export function remove(leaf: Leaf, part: string): Leaf {
	const place = filterPlace(part);
	if (place === undefined) return without(leaf, part as keyof Leaf);
	const { filters = [] } = matchAt(leaf, part);
	const rest = filters.filter((_, i) => i !== place);
	const bare = part.startsWith("filters") ? without(leaf, "filters") : leaf;
	return withMatch(bare, part, withFilters(part.startsWith("filters") ? {} : matchAt(leaf, part), rest));
}
