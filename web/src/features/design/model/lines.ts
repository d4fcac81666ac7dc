import { spansOf, type Range } from "./liquid";

// Lines and their indentation. A text keeps its own: tabs or blanks, and its ends of lines.

/** newlineOf returns how lines of a text end. */
export const newlineOf = (text: string) => (text.includes("\r\n") ? "\r\n" : "\n");

/** lineStart returns where the line of a position begins. A byte order mark is no part of a line. */
export function lineStart(text: string, position: number): number {
	const start = text.lastIndexOf("\n", position - 1) + 1;
	return start === 0 && text.startsWith("\ufeff") ? Math.min(1, position) : start;
}

/** indentAt returns the blanks that the line of a position begins with. */
export const indentAt = (text: string, position: number) =>
	/^[ \t]*/.exec(text.slice(lineStart(text, position), position))?.[0] ?? "";

/** beginsLine reports whether nothing but blanks is before a position in its line. */
export const beginsLine = (text: string, position: number) =>
	/^[ \t]*$/.test(text.slice(lineStart(text, position), position));

/** lineEnd returns where the next line begins, if nothing but blanks is behind a position in its line; else -1. */
export function lineEnd(text: string, position: number): number {
	let at = position;
	while (text[at] === " " || text[at] === "\t") at++;
	if (at === text.length) return at;
	if (text.startsWith("\r\n", at)) return at + 2;
	return text[at] === "\n" ? at + 1 : -1;
}

/** endsLine reports whether nothing but blanks is behind a position in its line. */
export const endsLine = (text: string, position: number) => lineEnd(text, position) >= 0;

/** unitOf returns by what a text indents: that of its first line with an indentation. */
export function unitOf(text: string): string {
	const first = /^([ \t]+)<mj/m.exec(text)?.[1];
	if (!first) return "  ";
	return first.startsWith("\t") ? "\t" : first.length > 8 ? "  " : first;
}

/** laidOut returns code, which indents by two blanks, as it stands in a text at an indentation; its first line begins where it is put. */
export function laidOut(code: string, text: string, indent: string): string {
	const unit = unitOf(text);
	return code
		.split("\n")
		.map((line, i) => {
			const depth = (/^ */.exec(line)?.[0].length ?? 0) >> 1;
			return i === 0 || line === "" ? line : indent + unit.repeat(depth) + line.slice(depth * 2);
		})
		.join(newlineOf(text));
}

/** shifted returns a part of a text with another indentation. Lines that begin inside of what is fixed stay as they are. */
export function shifted(text: string, part: Range, indent: string, fixed: Range[]): string {
	const before = indentAt(text, part.from);
	const code = text.slice(part.from, part.to);
	if (before === indent) return code;
	const liquid = spansOf(code).map(({ from, to }) => ({ from: from + part.from, to: to + part.from }));
	const keep = [...fixed, ...liquid];
	return code.replace(/\n([ \t]*)/g, (whole, blanks: string, offset: number) => {
		const at = part.from + offset + 1;
		if (!blanks.startsWith(before) || keep.some(({ from, to }) => from < at && at < to)) return whole;
		return `\n${indent}${blanks.slice(before.length)}`;
	});
}
