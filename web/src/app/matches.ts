// How the palette finds its own pages and actions.

/** The words of a text, in lower case: letters and digits. */
const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** How well something is found: by its name, by other words for it, or not. */
export const found = { byName: 2, byWords: 1, not: 0 };

/** finds tells how well a typed text finds something with a name and other words for it. Each typed word begins one of those. */
export function finds(typed: string, name: string, others = ""): number {
	if (name.toLowerCase().includes(typed.trim().toLowerCase())) return found.byName;
	const asked = wordsOf(typed);
	const own = wordsOf(name);
	const all = [...own, ...wordsOf(others)];
	if (asked.length === 0 || !asked.every((a) => all.some((word) => word.startsWith(a)))) return found.not;
	return asked.every((a) => own.some((word) => word.startsWith(a))) ? found.byName : found.byWords;
}

/** bestFirst returns what a text finds: first what it finds by name, and otherwise in its order. */
export function bestFirst<T extends { title: string; also?: string }>(typed: string, all: T[]): T[] {
	if (typed === "") return all;
	return all
		.map((row) => ({ r: row, n: finds(typed, row.title, row.also) }))
		.filter((ranked) => ranked.n > found.not)
		.sort((a, b) => b.n - a.n)
		.map((ranked) => ranked.r);
}
