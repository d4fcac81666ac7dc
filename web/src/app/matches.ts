// How the palette finds its own pages and actions.

/** The words of a text, in lower case: letters and digits. */
const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** How well something is found: by its name, by other words for it, or not. */
export const found = { byName: 2, byWords: 1, not: 0 };

/** finds tells how well a typed text finds something with a name and other words for it. Each typed word begins one of those. */
export function finds(search: string, name: string, others = ""): number {
	if (name.toLowerCase().includes(search.trim().toLowerCase())) return found.byName;
	const searchWords = wordsOf(search);
	const own = wordsOf(name);
	const all = [...own, ...wordsOf(others)];
	if (searchWords.length === 0 || !searchWords.every((a) => all.some((word) => word.startsWith(a)))) return found.not;
	return searchWords.every((a) => own.some((word) => word.startsWith(a))) ? found.byName : found.byWords;
}

/** bestFirst returns what a text finds: first what it finds by name, and otherwise in its order. */
export function bestFirst<T extends { title: string; also?: string }>(search: string, all: T[]): T[] {
	if (search === "") return all;
	return all
		.map((row) => ({ r: row, n: finds(search, row.title, row.also) }))
		.filter((ranked) => ranked.n > found.not)
		.sort((a, b) => b.n - a.n)
		.map((ranked) => ranked.r);
}
