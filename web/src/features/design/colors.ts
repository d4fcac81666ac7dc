// The colours of a mail's code.

const property = /(?:color|background|border(?:-\w+)?)["']?\s*[:=]\s*["']?([^"';{}<>]*)/gi;
const digits = /#([0-9a-f]{6}|[0-9a-f]{3})(?![0-9a-z])/gi;

/** longOf returns a colour with six digits, in small letters; undefined of what is none. */
export const longOf = (color: string) =>
	color
		.toLowerCase()
		.replace(/^#(.)(.)(.)$/, "#$1$1$2$2$3$3")
		.match(/^#[0-9a-f]{6}$/)?.[0];

/** colorsIn returns the colours that some code has, those that it has most often first. */
export function colorsIn(code: string, most = 12): string[] {
	const counts = new Map<string, number>();
	for (const [, value = ""] of code.matchAll(property))
		for (const [color] of value.matchAll(digits)) {
			const long = longOf(color) ?? "";
			counts.set(long, (counts.get(long) ?? 0) + 1);
		}
	return [...counts]
		.sort((a, b) => b[1] - a[1])
		.slice(0, most)
		.map(([color]) => color);
}
