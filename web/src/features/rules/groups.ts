import type { RuleDefinition } from "../../api/schema";
import type { Leaf } from "./leaves";

// A rule is a tree of groups, whose leaves are conditions. A path such as [0, 2] leads from the outermost group to one of them.

export type Group = { logic: "and" | "or"; conditions: Condition[]; negate?: boolean };
export type Condition = Leaf | Group;

/** toDefinition returns a rule as requests have it: only rules of sequences have leaves of other types. */
export const toDefinition = (rule: Group) => rule as RuleDefinition;

export const isGroup = (condition: Condition): condition is Group => "conditions" in condition;

/** isRule reports whether a value from JSON is a group of conditions and groups: what these say is for the server to check. */
export function isRule(value: unknown): value is Group {
	const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
	const { conditions } = (isObject(value) ? value : {}) as { conditions?: unknown };
	return (
		Array.isArray(conditions) &&
		conditions.every((condition) => isObject(condition) && (!("conditions" in condition) || isRule(condition)))
	);
}

/** Groups within groups, at most. */
export const deepest = 5;

/** replaceAt returns a group with the condition at a path, such as [0, 2], replaced or removed. */
export function replaceAt(group: Group, path: number[], next: Condition | null): Group {
	const [i, ...rest] = path;
	if (i === undefined) return group;
	const conditions = [...group.conditions];
	const condition = conditions[i];
	if (rest.length === 0) {
		if (next === null) conditions.splice(i, 1);
		else conditions[i] = next;
	} else if (condition && isGroup(condition)) conditions[i] = replaceAt(condition, rest, next);
	return { ...group, conditions };
}

/** insertAt returns a group with a condition put before the place at a path. */
export function insertAt(group: Group, path: number[], added: Condition): Group {
	const [i = 0, ...rest] = path;
	const conditions = [...group.conditions];
	const condition = conditions[i];
	if (rest.length === 0) conditions.splice(i, 0, added);
	else if (condition && isGroup(condition)) conditions[i] = insertAt(condition, rest, added);
	return { ...group, conditions };
}

/** pathText writes a path as errors of the server name it: conditions[0].conditions[2]. */
export const pathText = (path: number[]) => path.map((i) => `conditions[${i}]`).join(".");

/** conditionAt returns the condition at a path; the group itself for an empty one. */
export function conditionAt(group: Group, path: number[]): Condition | undefined {
	let current: Condition | undefined = group;
	for (const i of path) current = current && isGroup(current) ? current.conditions[i] : undefined;
	return current;
}

/** heightOf counts the groups within groups of a condition: none of a leaf. */
export function heightOf(condition: Condition): number {
	return isGroup(condition) ? 1 + Math.max(0, ...condition.conditions.map(heightOf)) : 0;
}

const begins = (path: number[], with_: number[]) => with_.every((n, i) => path[i] === n);

/** canMove reports whether the condition at a path may stand before the place at another: not within itself, nor too deep. */
export function canMove(group: Group, from: number[], to: number[]): boolean {
	const condition = conditionAt(group, from);
	const targetGroup = conditionAt(group, to.slice(0, -1));
	return (
		condition !== undefined &&
		from.length > 0 &&
		targetGroup !== undefined &&
		isGroup(targetGroup) &&
		!begins(to, from) &&
		to.length + heightOf(condition) <= deepest
	);
}

/** moveTo puts the condition at a path before the place at another, and returns where it is then. */
export function moveTo(group: Group, from: number[], to: number[]): { group: Group; path: number[] } {
	const condition = conditionAt(group, from);
	if (!condition) return { group, path: from };
	// What is inserted before it moves the condition itself, and what is taken away moves the place.
	const level = to.length - 1;
	const shifted = [...from];
	if (begins(from, to.slice(0, level)) && from.length >= to.length && (to[level] ?? 0) <= (from[level] ?? 0))
		shifted[level] = (shifted[level] ?? 0) + 1;
	const path = [...to];
	const last = from.length - 1;
	if (begins(to, from.slice(0, last)) && to.length >= from.length && (from[last] ?? 0) < (to[last] ?? 0))
		path[last] = (path[last] ?? 0) - 1;
	return { group: replaceAt(insertAt(group, to, condition), shifted, null), path };
}

/** stepTo returns the place one step up or down from a path: over a leaf, into a group, or out of one. */
export function stepTo(g: Group, path: number[], direction: 1 | -1): number[] | null {
	const parent = path.slice(0, -1);
	const i = path.at(-1) ?? 0;
	const group = conditionAt(g, parent);
	if (!group || !isGroup(group) || path.length === 0) return null;
	const beside = group.conditions[i + direction];
	if (!beside) {
		if (parent.length === 0) return null;
		return direction < 0 ? parent : [...parent.slice(0, -1), (parent.at(-1) ?? 0) + 1];
	}
	if (isGroup(beside)) {
		const within = [...parent, i + direction, direction < 0 ? beside.conditions.length : 0];
		if (canMove(g, path, within)) return within;
	}
	return [...parent, direction < 0 ? i - 1 : i + 2];
}

/** pathOf reads a path as the server writes it, as far as it leads to a condition: "conditions[0].conditions[2].value". */
export function pathOf(text: string): number[] {
	const steps = /^(?:definition\.)?((?:conditions\[\d+\]\.?)*)/.exec(text)?.[1] ?? "";
	return [...steps.matchAll(/\[(\d+)\]/g)].map((match) => Number(match[1]));
}

/** parseRule returns the rule in an address: links to the people behind a number carry one. */
export function parseRule(text: string | null): Group | null {
	try {
		const rule: unknown = JSON.parse(text ?? "null");
		return isRule(rule) ? { ...rule, logic: rule.logic === "or" ? "or" : "and" } : null;
	} catch {
		return null;
	}
}
