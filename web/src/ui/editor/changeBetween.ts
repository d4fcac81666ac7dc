/** Change is a part of a text, and what stands there instead, in UTF-16 units. */
export type Change = { from: number; to: number; insert: string };

/** changeBetween returns the part of a text that differs in another, and what stands there instead. */
export function changeBetween(before: string, after: string): Change {
	const shortest = Math.min(before.length, after.length);
	let start = 0;
	while (start < shortest && before[start] === after[start]) start++;
	let end = 0;
	while (end < shortest - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
	return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}
