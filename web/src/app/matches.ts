// How the palette finds its own pages and actions.

/** The words of a text, in lower case: letters and digits. */
const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** How well something is found: by its name, by other words for it, or not. */
export const ranks = { byName: 2, byWords: 1, not: 0 };

/** matchRank returns how well a search matches an entry with a name and keywords: each word of the search must be the beginning of one of their words. */
export function matchRank(search: string, name: string, others = ""): number {
	if (name.toLowerCase().includes(search.trim().toLowerCase())) return ranks.byName;
	const searchWords = wordsOf(search);
	const own = wordsOf(name);
	const all = [...own, ...wordsOf(others)];
	if (searchWords.length === 0 || !searchWords.every((a) => all.some((word) => word.startsWith(a)))) return ranks.not;
	return searchWords.every((a) => own.some((word) => word.startsWith(a))) ? ranks.byName : ranks.byWords;
}

/** grouped brings together what is of one kind: the kinds in the order of their first results, which keep theirs. */
export function grouped<T extends { kind: string }>(results: T[]): { kind: string; results: T[] }[] {
	const groups = new Map<string, T[]>();
	for (const result of results) groups.set(result.kind, [...(groups.get(result.kind) ?? []), result]);
	return [...groups].map(([kind, results]) => ({ kind, results }));
}

/** bestFirst returns what a text finds: first what it finds by name, and otherwise in its order. */
export function bestFirst<T extends { title: string; keywords?: string }>(search: string, all: T[]): T[] {
	if (search === "") return all;
	return all
		.map((row) => ({ r: row, n: matchRank(search, row.title, row.keywords) }))
		.filter((ranked) => ranked.n > ranks.not)
		.sort((a, b) => b.n - a.n)
		.map((ranked) => ranked.r);
}
