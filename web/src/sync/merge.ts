// Comparing and joining what two sides made of one record.

/** equal reports whether two values are the same in JSON. The order of members does not matter, since a database may store them in another one. */
export function equal(a: unknown, b: unknown): boolean {
	if (a === b || (a ?? null) === (b ?? null)) return true;
	if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
	if (Array.isArray(a) || Array.isArray(b))
		return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]));
	const [x, y] = [a, b] as { [name: string]: unknown }[];
	const names = Object.keys({ ...x, ...y });
	// A member that is undefined is absent in JSON; one that is null is not.
	return names.every((name) => (x?.[name] === undefined) === (y?.[name] === undefined) && equal(x?.[name], y?.[name]));
}

/** Side is one of the two versions that are joined. */
export type Side = "mine" | "theirs";

/** Bases are what both sides began with, as each has it: the server may write a value otherwise than it was sent. */
export type Bases<D> = { mine: D; theirs: D };

/** Clash is a group of fields that both sides changed differently, with what each of them has. */
export type FieldConflict = { group: string; mine: unknown; theirs: unknown };

/** Merged is what two sides made of a record, joined; joined names the fields that were taken from the other side. */
export type Merged<D> = { merged: D; conflicts: FieldConflict[]; theirFields: string[] };

/** Choice says which side stays in a group that clashes. */
export type Choice = (group: string) => Side;

/** fieldsByGroup returns the fields of each group. */
export function fieldsByGroup<D extends object>(fields: (keyof D & string)[], groupOf: (field: string) => string) {
	const groups = new Map<string, (keyof D & string)[]>();
	for (const field of fields) groups.set(groupOf(field), [...(groups.get(groupOf(field)) ?? []), field]);
	return groups;
}

/** pick returns some fields of an object. */
export const pick = <D extends object>(from: D | Partial<D>, fields: readonly (keyof D)[]) =>
	Object.fromEntries(fields.filter((field) => field in from).map((field) => [field, from[field]])) as Partial<D>;

/**
 * merge3 joins the changes of two sides field by field. The fields of a group make sense only together: where both sides
 * changed some of them, the group is a clash, unless they made the same of it, and stays as `choose` says.
 */
export function merge3<D extends object>(
	bases: Bases<D>,
	mine: D,
	theirs: D,
	groupOf: (field: string) => string = (field) => field,
	choose: Choice = () => "mine",
): Merged<D> {
	const merged = { ...mine };
	const conflicts: FieldConflict[] = [];
	const theirFields: string[] = [];
	for (const [group, fields] of fieldsByGroup<D>(Object.keys(mine) as (keyof D & string)[], groupOf)) {
		const theirChanges = fields.filter(
			(field) => !equal(theirs[field], bases.theirs[field]) && !equal(theirs[field], mine[field]),
		);
		if (theirChanges.length === 0) continue;
		if (fields.every((field) => equal(mine[field], bases.mine[field]))) {
			theirFields.push(...theirChanges);
			Object.assign(merged, pick<D>(theirs, theirChanges));
			continue;
		}
		conflicts.push({ group, mine: pick<D>(mine, fields), theirs: pick<D>(theirs, fields) });
		if (choose(group) === "theirs") Object.assign(merged, pick<D>(theirs, fields));
	}
	return { merged, conflicts, theirFields };
}
