import type { Attrs, Node } from "prosemirror-model";
import type { Command, EditorState, Transaction } from "prosemirror-state";
import { attribute, nameOf, property, withAttribute, withName, withProperty } from "./tags";

// Elements and alignment of paragraphs, as changes of their tags.

/** Returns the paragraphs that the selection touches. */
export function paragraphs({ doc, selection }: Pick<EditorState, "doc" | "selection">): { node: Node; at: number }[] {
	const found: { node: Node; at: number }[] = [];
	for (const { $from, $to } of selection.ranges)
		doc.nodesBetween($from.pos, $to.pos, (node, at) => {
			if (node.type.name === "paragraph") found.push({ node, at });
		});
	return found;
}

/** retagged returns the attributes of a paragraph with another element; "" is none. */
export function retagged(attrs: Attrs, name: string): Attrs {
	const open = String(attrs.open);
	const close = String(attrs.close);
	const [before, after] = edges(open);
	if (name === "") return { ...attrs, open: before + after, close: close.replace(/<\/[^>]*>/, "") };
	if (nameOf(open) === "") return { ...attrs, open: `${before}<${name}>${after}`, close: `</${name}>${close}` };
	return { ...attrs, open: withName(open, name), close: close.includes("</") ? withName(close, name) : `</${name}>` };
}

/** Returns the space before and after the tag; that of a text without a tag is before. */
function edges(open: string): [before: string, after: string] {
	const from = open.indexOf("<");
	return from < 0 ? [open, ""] : [open.slice(0, from), open.slice(open.lastIndexOf(">") + 1)];
}

/** retag changes the element of paragraphs. */
export function retag(tr: Transaction, found: { node: Node; at: number }[], name: string): Transaction {
	for (const { node, at } of found) tr.setNodeMarkup(at, null, retagged(node.attrs, name));
	return tr;
}

/** blockName returns the element of the paragraphs of the selection, or null if they have several. */
export function blockName(state: EditorState): string | null {
	const names = new Set(paragraphs(state).map(({ node }) => nameOf(String(node.attrs.open))));
	return names.size === 1 ? ([...names][0] ?? null) : null;
}

/** setBlock changes the element of the paragraphs of the selection. */
export const setBlock =
	(name: string): Command =>
	(state, dispatch) => {
		const found = paragraphs(state);
		dispatch?.(retag(state.tr, found, name).scrollIntoView());
		return found.length > 0;
	};

const alignOf = (open: string) => property(open, "text-align") ?? attribute(open, "align")?.toLowerCase() ?? "";

/** alignment returns the alignment of the paragraphs of the selection: "" if they have none, null if they differ. */
export function alignment(state: EditorState): string | null {
	const all = new Set(paragraphs(state).map(({ node }) => alignOf(String(node.attrs.open))));
	return all.size === 1 ? ([...all][0] ?? null) : null;
}

/** setAlignment aligns the paragraphs of the selection. */
export const setAlignment =
	(align: string | null): Command =>
	(state, dispatch) => {
		const { tr } = state;
		const found = paragraphs(state);
		for (const { node, at } of found) {
			const attrs = align === null || nameOf(String(node.attrs.open)) !== "" ? node.attrs : retagged(node.attrs, "p");
			const open = String(attrs.open);
			const hasAttribute = attribute(open, "align") !== undefined && property(open, "text-align") === undefined;
			const next = hasAttribute ? withAttribute(open, "align", align) : withProperty(open, "text-align", align);
			tr.setNodeMarkup(at, null, { ...attrs, open: next });
		}
		dispatch?.(tr);
		return found.length > 0;
	};
