/** Quoted names, addresses in angle brackets, what ends a name, and other words. */
const tokens = /"[^"\n]*"|<[^<>\s]*>|[\n\r,;]|[^\s<>,;"]+|[<>"]/g;

/**
 * addressesIn returns what somebody typed or pasted as addresses: one a line, or parted by blanks, commas or semicolons,
 * with names or without, such as "Lee, Ann" <ann@example.com>.
 */
export function addressesIn(text: string): string[] {
	const addresses: string[] = [];
	let words: string[] = []; // since the last address: its name, or addresses without one
	for (const [token] of text.matchAll(tokens)) {
		if (/^[\n\r,;]$/.test(token)) {
			addresses.push(...words);
			words = [];
		} else if (/^<.+>$/.test(token)) {
			const name = words.findLastIndex((word) => word.includes("@") && !word.startsWith('"'));
			addresses.push(...words.slice(0, name + 1), token.slice(1, -1));
			words = [];
		} else words.push(token);
	}
	return [...addresses, ...words];
}
