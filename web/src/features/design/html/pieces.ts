import type { Change } from "../../../ui/editor/changeBetween";
import { filler, masked, type Range, spansOf } from "../model/liquid";
import { attributeOf, decode, wordsOf } from "../model/text";
import { type Allowed, line, mjmlText } from "../../../ui/richtext/allowed";
import { type Element, type Part, tree } from "../../../ui/richtext/tree";

// What of HTML is edited in the picture of its mail: texts, links and images. The server marks the same elements (HTML in
// package mark), and their changes are those of their own ranges.

/** Attribute is one of a start tag. value is what stands between the quotes; null if it has no value. */
export type Attribute = Range & { name: string; value: Range | null; quote: string };

/** Piece is a text, a link or an image. */
export type Piece = Range & {
	kind: "text" | "link" | "image";
	tag: string;
	/** The start tag. */
	open: Range;
	/** What stands between the tags; null of an image. */
	inner: Range | null;
	attributes: Attribute[];
	/** Whether it has nothing but text, with its formatting. */
	isPlain: boolean;
	/** Whether it has no elements. */
	isEmpty: boolean;
	/** The words of a link or a plain text, or those that stand for an image; "" if there are none. */
	words: string;
	/** The piece around it. */
	around: Piece | null;
};

const words = (list: string) => new Set(list.split(" "));

/** What stands in a text, and what is one that has nothing else, as the server has them. */
const phrases = words("a abbr b br code del em font i img ins mark s small span strong sub sup u wbr");
const texts = words("blockquote button caption dd div dt figcaption h1 h2 h3 h4 h5 h6 li p td th");

/** piecesOf returns the pieces of HTML, by the positions at which they begin. What Liquid makes the tag of is none. */
export function piecesOf(html: string): Map<number, Piece> {
	const found = new Map<number, Piece>();
	const visit = (parts: Part[], around: Piece | null) => {
		for (const part of parts) {
			if (part.kind !== "element") continue;
			const piece = pieceOf(html, part, around);
			if (piece) found.set(piece.from, piece);
			visit(part.children, piece ?? around);
		}
	};
	visit(tree(html), null);
	return found;
}

function pieceOf(html: string, element: Element, around: Piece | null): Piece | null {
	const { name: tag, from, to } = element;
	const kind = tag === "img" ? "image" : tag === "a" ? "link" : texts.has(tag) ? "text" : null;
	const hasEnd = element.closeFrom < to;
	if (!kind || (kind !== "image" && !hasEnd)) return null;
	const open = { from, to: element.openTo };
	const attributes = attributesOf(html, open);
	if (!attributes) return null;
	const inner = kind === "image" ? null : { from: open.to, to: element.closeFrom };
	const isEmpty = element.children.every((part) => part.kind !== "element");
	const range = { from, to, open, inner };
	const piece: Piece = { kind, tag, ...range, attributes, isPlain: isPlain(element), isEmpty, words: "", around };
	if (!inner) piece.words = valueIn(html, piece, "alt");
	else if (kind === "link" || piece.isPlain) piece.words = wordsOf(html.slice(inner.from, inner.to));
	return piece;
}

const isPlain = (element: Element): boolean =>
	element.children.every((part) => part.kind !== "element" || (phrases.has(part.name) && isPlain(part)));

const attribute = /([^\s=/>"']+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s>"']+))?/y;
const between = /[\s/]*/y;

/** attributesOf returns the attributes of a start tag; null if they cannot be told, as where Liquid stands between them. */
function attributesOf(html: string, open: Range): Attribute[] | null {
	const source = html.slice(open.from, open.to);
	const tag = masked(source, spansOf(source));
	const found: Attribute[] = [];
	const name = /^<[a-z][^\s/>]*/i.exec(tag)?.[0] ?? "";
	if (name === "" || name.includes(filler)) return null;
	for (let at = name.length; ; ) {
		between.lastIndex = at;
		at += between.exec(tag)?.[0].length ?? 0;
		if (at === tag.length - 1 && tag[at] === ">") return found;
		attribute.lastIndex = at;
		const [whole, name, written] = attribute.exec(tag) ?? [];
		if (!whole || !name || name.includes(filler)) return null;
		const from = open.from + at;
		at += whole.length;
		const quote = written?.startsWith('"') ? '"' : written?.startsWith("'") ? "'" : "";
		const value =
			written === undefined
				? null
				: { from: open.from + at - written.length + quote.length, to: open.from + at - quote.length };
		found.push({ name: name.toLowerCase(), from, to: open.from + at, value, quote });
	}
}

/** hasWords reports whether a piece is a text with something to read, and nothing but its formatting. */
export const hasWords = (piece: Piece) => piece.isPlain && piece.inner !== null && piece.words !== "";

/** canOpen reports whether a piece is edited: a text that only holds an image or a link is not, but these are. */
export const canOpen = (piece: Piece) => piece.kind !== "text" || piece.words !== "" || piece.isEmpty;

/** listed returns the pieces that are offered by name, in their order. */
export const listed = (pieces: Map<number, Piece>) =>
	[...pieces.values()].filter((piece) => piece.kind !== "text" || hasWords(piece)).sort((a, b) => a.from - b.from);

/** The texts that may have paragraphs and lists. */
const withBlocks = words("td th div dd blockquote");

/** allowedOf returns what the text of a piece may have; null of an image. */
export const allowedOf = (piece: Piece): Allowed | null =>
	piece.kind === "image" ? null : withBlocks.has(piece.tag) ? mjmlText : line;

/** valueIn returns the value of an attribute as people read it; "" if there is none. */
export function valueIn(html: string, piece: Piece, name: string): string {
	const value = piece.attributes.find((attribute) => attribute.name === name)?.value;
	return value ? decode(html.slice(value.from, value.to)) : "";
}

export const hasAttribute = (piece: Piece, name: string) =>
	piece.attributes.some((attribute) => attribute.name === name);

/** setValues writes values of attributes; those that are the same stay as they are. */
export function setValues(html: string, piece: Piece, values: { [name: string]: string }): Change[] {
	const changes: Change[] = [];
	for (const [name, value] of Object.entries(values)) {
		const old = piece.attributes.find((attribute) => attribute.name === name);
		if (old && valueIn(html, piece, name) === value) continue;
		if (old?.value && old.quote) changes.push({ ...old.value, insert: attributeOf(value, old.quote) });
		else {
			const written = `"${attributeOf(value, '"')}"`;
			const end = piece.attributes.at(-1)?.to ?? piece.open.from + 1 + piece.tag.length;
			if (old?.value) changes.push({ ...old.value, insert: written });
			else if (old) changes.push({ from: old.to, to: old.to, insert: `=${written}` });
			else changes.push({ from: end, to: end, insert: ` ${name}=${written}` });
		}
	}
	return changes.sort((a, b) => a.from - b.from || a.to - b.to);
}

/** setText changes what stands between the tags of a piece. */
export const setText = (piece: Piece, html: string): Change[] =>
	piece.inner ? [{ ...piece.inner, insert: html }] : [];

/** isSafe reports whether HTML with changes of a piece still has that piece, with what is around it as it was. */
export function isSafe(html: string, piece: Piece, next: string): boolean {
	const after = piecesOf(next).get(piece.from);
	const more = next.length - html.length;
	return after?.tag === piece.tag && after.to === piece.to + more;
}
