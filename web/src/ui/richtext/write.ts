import type { Mark, Node } from "prosemirror-model";
import { encode, encodeAround } from "./entities";
import { isPlain } from "./schema";
import { nameOf } from "./tags";

/** write returns the source of a document. What was read and not changed is as it was. */
export function write(doc: Node): string {
	const only = doc.childCount === 1 ? doc.firstChild : null;
	if (only?.type.name === "paragraph" && only.content.size === 0 && only.attrs.fill === null) return "";
	return children(doc);
}

function children(parent: Node): string {
	let source = "";
	parent.forEach((node, _, i) => {
		const next = i + 1 < parent.childCount ? parent.child(i + 1) : null;
		source += block(node, i > 0 ? parent.child(i - 1) : null, next);
	});
	return source;
}

function block(node: Node, previous: Node | null, next: Node | null): string {
	if ("src" in node.attrs) return String(node.attrs.src);
	let open = String(node.attrs.open);
	let close = String(node.attrs.close);
	if (isPlain(node)) {
		// Two texts beside each other are one, unless they have elements.
		if (isPlain(previous) || isPlain(next)) [open, close] = [`${open}<p>`, `</p>${close}`];
	} else if (isPlain(next) && !close.includes("</")) close = `</${nameOf(open)}>${close}`;
	return open + (node.isTextblock ? inline(node) || filling(node, open) : children(node)) + close;
}

/** Returns what keeps the line of an empty paragraph open. */
const filling = (node: Node, open: string): string =>
	node.attrs.fill ?? (node.type.name === "paragraph" && open.includes("<") ? "<br/>" : "");

/** Returns how many children from an index on have a mark. */
function extent(parent: Node, mark: Mark, from: number): number {
	let i = from;
	while (i < parent.childCount && mark.isInSet(parent.child(i).marks)) i++;
	return i - from;
}

/** isLink reports whether a link begins with a node, which ends one before it. */
const isLink = (node: Node) =>
	node.marks.some((mark) => mark.type.name === "link") || /^<a\b/i.test(String(node.attrs.src ?? ""));

/** inline returns the source of the content of a paragraph. Of two marks that begin at a place, the longer one is around the other. */
function inline(parent: Node): string {
	let source = "";
	let open: Mark[] = [];
	const closeTo = (count: number, next: Node | null) => {
		const [outer] = open.slice(count);
		for (const mark of open.slice(count).reverse()) {
			source += mark.attrs.close;
			const isLinkAfterLink = mark.type.name === "link" && next !== null && isLink(next);
			if (mark === outer && next && mark.attrs.close === "" && !isLinkAfterLink)
				source += `</${nameOf(mark.attrs.open)}>`;
		}
		open = open.slice(0, count);
	};
	parent.forEach((node, _, i) => {
		const marks = node.marks.filter((mark) => mark.type.name !== "source");
		const lost = open.findIndex((mark) => !mark.isInSet(marks));
		if (lost >= 0) closeTo(lost, node);
		const added = marks
			.filter((mark) => !mark.isInSet(open))
			.map((mark) => ({ mark, extent: extent(parent, mark, i) }))
			.sort((a, b) => b.extent - a.extent || a.mark.attrs.id - b.mark.attrs.id);
		for (const { mark } of added) {
			source += mark.attrs.open;
			open.push(mark);
		}
		source += node.isText ? text(node) : String(node.attrs.src);
	});
	closeTo(0, null);
	return source;
}

/** text returns the source of a text, in which Liquid is code. */
function text(node: Node): string {
	const mark = node.marks.find((mark) => mark.type.name === "source");
	const shown = node.text ?? "";
	if (mark) return shown.split(mark.attrs.shown).map(encode).join(mark.attrs.src);
	return encodeAround(shown);
}
