// Liquid in a text: where it stands, and which tags belong together. It is read as the server reads it (Spans in
// package markup): an output or a tag ends at the first closing mark, within quotes or not.

export type Range = { from: number; to: number };

/** Span is an output, a tag, or a whole comment block. name is that of the tag; "" for an output. */
export type Span = Range & { name: string };

const isTag = (name: string) => new RegExp(`\\{%-?[\\s]*${name}[\\s]*-?%\\}`, "y");
const endraw = isTag("endraw");
const raw = isTag("raw");
const comment = isTag("comment");
const endcomment = isTag("endcomment");

/** lengthAt returns the length of what a pattern matches at a position; 0 if it does not. */
function lengthAt(pattern: RegExp, text: string, at: number): number {
	pattern.lastIndex = at;
	return pattern.exec(text)?.[0].length ?? 0;
}

/** rawEnd returns where the endraw at or after a position begins, or the end of the text. */
function rawEnd(text: string, from: number): number {
	for (let i = text.indexOf("{%", from); i >= 0; i = text.indexOf("{%", i + 2))
		if (lengthAt(endraw, text, i) > 0) return i;
	return text.length;
}

/** commentEnd returns where the comment block that holds a position ends. Such blocks nest, and raw hides what it holds. */
function commentEnd(text: string, from: number): number {
	let depth = 1;
	let hidden = true; // whether raw may still be closed
	for (let i = text.indexOf("{%", from); i >= 0; ) {
		const end = lengthAt(endcomment, text, i);
		if (end > 0) {
			i += end;
			if (--depth === 0) return i;
		} else {
			if (lengthAt(comment, text, i) > 0) depth++;
			else if (hidden && lengthAt(raw, text, i) > 0) {
				const close = rawEnd(text, i);
				hidden = close < text.length;
				if (hidden) i = close;
			}
			i += 2;
		}
		i = text.indexOf("{%", i);
	}
	return text.length;
}

/** codeOf returns what stands between the marks of an output or a tag. */
export const codeOf = (piece: string) => piece.slice(2, -2).replace(/^-/, "").replace(/-$/, "").trim();

const nameOf = (piece: string) => (piece[1] === "%" ? (/^[A-Za-z0-9_]*/.exec(codeOf(piece))?.[0] ?? "") : "");

/** spansOf returns the Liquid of a text, in its order. */
export function spansOf(text: string): Span[] {
	const all: Span[] = [];
	const open = { "{": true, "%": true }; // kinds that may still close
	for (let i = text.indexOf("{"); i >= 0 && i + 1 < text.length; i = text.indexOf("{", i)) {
		const kind = text[i + 1];
		if ((kind !== "{" && kind !== "%") || !open[kind]) {
			i++;
			continue;
		}
		const close = text.indexOf(kind === "%" ? "%}" : "}}", i + 2);
		if (close < 0) {
			open[kind] = false;
			i++;
			continue;
		}
		let [from, to] = [i, close + 2];
		if (text.startsWith("{{{", i)) {
			if (text[to] === "}") {
				i = to + 1;
				continue;
			}
			while (text[from + 2] === "{") from++; // the innermost pair is an output
		}
		const name = nameOf(text.slice(from, to));
		if (name === "comment") to = commentEnd(text, to);
		all.push({ from, to, name });
		i = name === "raw" ? rawEnd(text, to) : to;
	}
	return all;
}

/** filler stands in the place of each character of Liquid while markup is read. No text of MJML may have it. */
export const filler = "\u0001";

/** masked returns a text with filler in place of its Liquid, and of what looks like Liquid inside raw blocks. */
export function masked(text: string, spans: Span[]): string {
	let out = "";
	let last = 0;
	const hide = (from: number, to: number) => {
		out += text.slice(last, from) + filler.repeat(to - from);
		last = to;
	};
	spans.forEach(({ from, to, name }, i) => {
		hide(from, to);
		if (name !== "raw") return;
		const end = spans[i + 1]?.from ?? text.length;
		for (const inner of spansOf(text.slice(to, end))) hide(to + inner.from, to + inner.to);
	});
	return out + text.slice(last);
}

/** Block is a tag with what it encloses: its own mark, those of its other branches, and its end. */
export type Block = { name: string; marks: Span[] };

const ends: { [name: string]: string } = {
	if: "endif",
	unless: "endunless",
	case: "endcase",
	for: "endfor",
	capture: "endcapture",
	raw: "endraw",
};
const closing = new Set(Object.values(ends));
const branches: { [name: string]: string[] } = {
	if: ["elsif", "else"],
	unless: ["elsif", "else"],
	case: ["when", "else"],
	for: ["else"],
};
const middle = new Set(["elsif", "else", "when"]);

/** roleOf says whether Liquid begins a block, begins another branch of one, or ends one. Sections of placeholders are blocks. */
export function roleOf(text: string, span: Span): { role: "open" | "branch" | "end" | ""; name: string } {
	if (span.name !== "") {
		if (Object.hasOwn(ends, span.name)) return { role: "open", name: span.name };
		if (middle.has(span.name)) return { role: "branch", name: span.name };
		if (closing.has(span.name)) return { role: "end", name: span.name.slice("end".length) };
		return { role: "", name: span.name };
	}
	if (text[span.from + 1] === "%") return { role: "", name: "" };
	const code = codeOf(text.slice(span.from, span.to));
	if (/^#section\b/.test(code)) return { role: "open", name: "section" };
	if (/^\/section\b/.test(code)) return { role: "end", name: "section" };
	return { role: "", name: "" };
}

/** blocksOf returns the blocks of a text; at is where one does not fit, or -1. */
export function blocksOf(text: string, spans: Span[]): { blocks: Block[]; at: number } {
	const open: Block[] = [];
	const blocks: Block[] = [];
	for (const span of spans) {
		const { role, name } = roleOf(text, span);
		const top = open.at(-1);
		if (role === "open") {
			const block = { name, marks: [span] };
			open.push(block);
			blocks.push(block);
		} else if (role === "branch") {
			if (!top || !branches[top.name]?.includes(name)) return { blocks, at: span.from };
			top.marks.push(span);
		} else if (role === "end") {
			if (top?.name !== name) return { blocks, at: span.from };
			top.marks.push(span);
			open.pop();
		}
	}
	return { blocks, at: open.at(-1)?.marks[0]?.from ?? -1 };
}
