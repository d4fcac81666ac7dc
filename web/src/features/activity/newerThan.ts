/** newerThan returns how many rows of a fresh first page stand before what is shown, and whether there may be more. */
export function newerThan(
	shown: { id: string }[],
	newest: { id: string }[],
	pageSize: number,
): { count: number; more: boolean } {
	const known = new Set(shown.map((row) => row.id));
	const first = newest.findIndex((row) => known.has(row.id));
	return first < 0 ? { count: newest.length, more: newest.length >= pageSize } : { count: first, more: false };
}
