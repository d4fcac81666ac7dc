import { catalogue } from "../words/catalogue";
import type { Filter } from "./FilterBar";
import { type FieldInfo, operators } from "./fields";
import { initialValue } from "./ValueEditor";

// A rule is a tree: groups of conditions, whose leaves ask about a field, about mail, events, page views,
// lists and so on. The server checks it; here it is only edited.

export type Period = { amount: number; unit: string };
export type Window = { in_the_last?: Period; from?: string; to?: string };
export type Count = { operator: string; value: number };

export type Leaf = Filter & {
	type?: string;
	segment_keys?: string[];
	event?: string;
	email_type_keys?: string[];
	broadcast_id?: string;
	link_url?: string;
	event_name?: string;
	/** Of the event that started a sequence or an automation. */
	property?: string;
	filters?: { property?: string; operator?: string; value?: unknown }[];
	url?: string;
	match?: string;
	form_slug?: string;
	email_type_key?: string;
	category_id?: string;
	sequence_id?: string;
	count?: Count;
	window?: Window;
	level?: string;
};
export type Group = { logic: "and" | "or"; conditions: Condition[]; negate?: boolean };
export type Condition = Leaf | Group;

export const isGroup = (c: Condition): c is Group => "conditions" in c;

/** Groups within groups, at most. */
export const deepest = 5;

export const leafWords = catalogue({
	kinds: {
		field: "Field of the contact",
		list: "Member of a list",
		segment: "Member of a segment",
		email: "Any mail",
		broadcast: "One broadcast",
		event: "Event of your programs",
		page_view: "Page view",
		form: "Form",
		subscription: "Subscription",
		sequence: "Sequence",
		suppression: "Suppression list",
		trigger_event: "Event that started it",
	},
	operators: {
		in: "is in",
		not_in: "is not in",
		did: "did",
		did_not: "did not",
		subscribed: "is subscribed to",
		unsubscribed: "is not subscribed to",
		active: "is in",
		ever: "was ever in",
		never: "was never in",
		completed: "completed",
		exited: "left",
		listed: "is on the list",
		not_listed: "is not on the list",
	},
	events: {
		recipient: "was a recipient",
		sent: "was sent",
		delivered: "got",
		opened: "opened",
		clicked: "clicked",
		engaged: "opened or clicked",
		bounced: "bounced",
		complained: "complained",
		unsubscribed: "unsubscribed",
	},
	counts: { at_least: "at least", at_most: "at most", exactly: "exactly" },
	levels: { verified: "by people", confirmed: "confirmed", apparent: "counting machines" },
	matches: { equals: "is", contains: "contains", starts_with: "begins with" },
});

export type Kind = keyof typeof leafWords.kinds;

/** kindOf returns the type of a leaf. */
export const kindOf = (l: Leaf): Kind => (l.type as Kind | undefined) ?? "field";

/** The operators of each type of leaf; those of fields depend on the field. */
export const leafOperators: { [K in Exclude<Kind, "field">]: string[] } = {
	list: ["in", "not_in"],
	segment: ["in", "not_in"],
	email: ["did", "did_not"],
	broadcast: ["did", "did_not"],
	event: ["did", "did_not"],
	page_view: ["did", "did_not"],
	form: ["did", "did_not"],
	subscription: ["subscribed", "unsubscribed"],
	sequence: ["active", "ever", "never", "completed", "exited"],
	suppression: ["listed", "not_listed"],
	trigger_event: ["equals"],
};

/** newLeaf returns a leaf of a type with initial values. */
export function newLeaf(kind: Kind, fields: FieldInfo[]): Leaf {
	if (kind === "field") {
		const f = fields.find((x) => x.field === "country") ?? fields[0];
		const operator = f ? (operators[f.kind][0] ?? "equals") : "equals";
		return { field: f?.field ?? "email", operator, value: f && initialValue(operator, f.kind) };
	}
	const operator = leafOperators[kind][0] ?? "did";
	const month: Window = { in_the_last: { amount: 30, unit: "day" } };
	switch (kind) {
		case "list":
		case "segment":
			return { type: kind, operator, segment_keys: [] };
		case "email":
			return { type: kind, operator, event: "clicked", window: month };
		case "broadcast":
			return { type: kind, operator, event: "opened" };
		case "event":
			return { type: kind, operator, event_name: "", window: month };
		case "page_view":
			return { type: kind, operator, url: "", match: "contains", window: month };
		case "trigger_event":
			return { type: kind, property: "", operator, value: "" };
		default:
			return { type: kind, operator };
	}
}

/** replaceAt returns a group with the condition at a path, such as [0, 2], replaced or removed. */
export function replaceAt(g: Group, path: number[], next: Condition | null): Group {
	const [i, ...rest] = path;
	if (i === undefined) return g;
	const conditions = [...g.conditions];
	const here = conditions[i];
	if (rest.length === 0) {
		if (next === null) conditions.splice(i, 1);
		else conditions[i] = next;
	} else if (here && isGroup(here)) conditions[i] = replaceAt(here, rest, next);
	return { ...g, conditions };
}

/** insertAt returns a group with a condition put before the place at a path. */
export function insertAt(g: Group, path: number[], added: Condition): Group {
	const [i = 0, ...rest] = path;
	const conditions = [...g.conditions];
	const here = conditions[i];
	if (rest.length === 0) conditions.splice(i, 0, added);
	else if (here && isGroup(here)) conditions[i] = insertAt(here, rest, added);
	return { ...g, conditions };
}

/** pathText writes a path as errors of the server name it: conditions[0].conditions[2]. */
export const pathText = (path: number[]) => path.map((i) => `conditions[${i}]`).join(".");

/** conditionAt returns the condition at a path; the group itself for an empty one. */
export function conditionAt(g: Group, path: number[]): Condition | undefined {
	let at: Condition | undefined = g;
	for (const i of path) at = at && isGroup(at) ? at.conditions[i] : undefined;
	return at;
}

/** heightOf counts the groups within groups of a condition: none of a leaf. */
export function heightOf(c: Condition): number {
	return isGroup(c) ? 1 + Math.max(0, ...c.conditions.map(heightOf)) : 0;
}

const begins = (path: number[], with_: number[]) => with_.every((n, i) => path[i] === n);

/** fits reports whether the condition at a path may stand before the place at another: not within itself, nor too deep. */
export function fits(g: Group, from: number[], to: number[]): boolean {
	const c = conditionAt(g, from);
	const into = conditionAt(g, to.slice(0, -1));
	return c !== undefined && from.length > 0 && into !== undefined && isGroup(into) && !begins(to, from) && to.length + heightOf(c) <= deepest;
}

/** moveTo puts the condition at a path before the place at another, and returns where it is then. */
export function moveTo(g: Group, from: number[], to: number[]): { group: Group; path: number[] } {
	const c = conditionAt(g, from);
	if (!c) return { group: g, path: from };
	// What is inserted before it moves the condition itself, and what is taken away moves the place.
	const level = to.length - 1;
	const shifted = [...from];
	if (begins(from, to.slice(0, level)) && from.length >= to.length && (to[level] ?? 0) <= (from[level] ?? 0)) shifted[level] = (shifted[level] ?? 0) + 1;
	const path = [...to];
	const last = from.length - 1;
	if (begins(to, from.slice(0, last)) && to.length >= from.length && (from[last] ?? 0) < (to[last] ?? 0)) path[last] = (path[last] ?? 0) - 1;
	return { group: replaceAt(insertAt(g, to, c), shifted, null), path };
}

/** stepTo returns the place one step up or down from a path: over a leaf, into a group, or out of one. */
export function stepTo(g: Group, path: number[], by: 1 | -1): number[] | null {
	const parent = path.slice(0, -1);
	const i = path.at(-1) ?? 0;
	const group = conditionAt(g, parent);
	if (!group || !isGroup(group) || path.length === 0) return null;
	const beside = group.conditions[i + by];
	if (!beside) {
		if (parent.length === 0) return null;
		return by < 0 ? parent : [...parent.slice(0, -1), (parent.at(-1) ?? 0) + 1];
	}
	if (isGroup(beside)) {
		const within = [...parent, i + by, by < 0 ? beside.conditions.length : 0];
		if (fits(g, path, within)) return within;
	}
	return [...parent, by < 0 ? i - 1 : i + 2];
}

/** pathOf reads a path as the server writes it, as far as it leads to a condition: "conditions[0].conditions[2].value". */
export function pathOf(text: string): number[] {
	const steps = /^(?:definition\.)?((?:conditions\[\d+\]\.?)*)/.exec(text)?.[1] ?? "";
	return [...steps.matchAll(/\[(\d+)\]/g)].map((m) => Number(m[1]));
}

/** What leaves say of everybody to whom something does not apply. */
const negative = ["not_in", "not_equals", "did_not", "never", "unsubscribed", "not_listed", "has_none", "not_contains"];

/** isNegative reports whether a leaf matches those to whom something does not apply. */
export const isNegative = (l: Leaf) => negative.includes(l.operator ?? "");
