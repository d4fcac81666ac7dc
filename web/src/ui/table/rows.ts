// Which row of a table Tab reaches, where keys lead from it, and which rows are selected.

/** TabStop is the row that Tab reaches: by its key, and where it is or was last. Without a key it is the row at that place. */
export type TabStop = { key: string | null; index: number };

/** indexOf returns where a row is among rows. A row that has gone is replaced by the nearest one of before, following ones first. */
export function indexOf({ key, index }: TabStop, keys: string[], before: string[]): number {
	const last = keys.length - 1;
	if (keys === before || key === null) return Math.min(index, last);
	const currentIndex = keys.indexOf(key);
	if (currentIndex >= 0) return currentIndex;
	const indexes = new Map(keys.map((key, i) => [key, i]));
	const previousIndex = before.indexOf(key);
	for (const neighbour of previousIndex < 0
		? []
		: [...before.slice(previousIndex + 1), ...before.slice(0, previousIndex).reverse()]) {
		const index = indexes.get(neighbour);
		if (index !== undefined) return index;
	}
	return Math.min(index, last);
}

/** clamp returns the row of some that is nearest to a place. */
export const clamp = (index: number, count: number) => Math.max(0, Math.min(count - 1, index));

/** moveOf returns the row that a key leads to from another, where a page has some rows; null for other keys. */
export function moveOf(key: string, from: number, count: number, page: number): number | null {
	const moves: { [key: string]: number } = {
		ArrowDown: from + 1,
		j: from + 1,
		ArrowUp: from - 1,
		k: from - 1,
		PageDown: from + page,
		PageUp: from - page,
		Home: 0,
		End: count - 1,
	};
	return Object.hasOwn(moves, key) ? clamp(moves[key] ?? from, count) : null;
}

/** toggled returns a selection with a row added, or taken away if it was selected. */
export function toggled(selected: ReadonlySet<string>, key: string): Set<string> {
	const next = new Set(selected);
	if (!next.delete(key)) next.add(key);
	return next;
}

/**
 * extended returns a selection with the rows from where a range begins to another. Without a beginning it is the first
 * row; one that has gone begins no range, because it could have stood anywhere.
 */
export function extended(
	selected: ReadonlySet<string>,
	keys: string[],
	anchor: string | null,
	to: number,
): Set<string> {
	const found = anchor === null ? 0 : keys.indexOf(anchor);
	const first = found < 0 ? to : found;
	return new Set([...selected, ...keys.slice(Math.min(first, to), Math.max(first, to) + 1)]);
}
