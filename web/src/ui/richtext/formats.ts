import type { Mark, Node } from "prosemirror-model";
import type { Command, EditorState, Transaction } from "prosemirror-state";
import { asAddress } from "./address";
import { markType, nodeType, schema } from "./schema";
import { attribute, attributesOf, nameOf, property, withAttribute, withProperty } from "./tags";

// Formats of parts of a text: bold and the like, links, colours and sizes.

type Span = { from: number; to: number };
type Piece = Span & { node: Node };

/** Returns the pieces of text and code that the selection has. */
function pieces({ doc, selection }: EditorState): Piece[] {
	const found: Piece[] = [];
	for (const { $from, $to } of selection.ranges)
		doc.nodesBetween($from.pos, $to.pos, (node, at) => {
			if (!node.isInline || node.type.name === "line_break") return;
			found.push({ node, from: Math.max(at, $from.pos), to: Math.min(at + node.nodeSize, $to.pos) });
		});
	return found.filter((piece) => piece.from < piece.to);
}

const marksHere = (state: EditorState) => state.storedMarks ?? state.selection.$from.marks();

/** hasFormat reports whether all of the selection has a format. */
export function hasFormat(state: EditorState, name: string): boolean {
	const type = markType(name);
	if (state.selection.empty) return marksHere(state).some((mark) => mark.type === type);
	const found = pieces(state);
	return found.length > 0 && found.every(({ node }) => type.isInSet(node.marks) !== undefined);
}

/** toggleFormat gives a format to the part of the selection that lacks it, or takes it from all. */
export const toggleFormat =
	(name: string): Command =>
	(state, dispatch) => {
		const type = markType(name);
		const has = hasFormat(state, name);
		const { tr } = state;
		if (state.selection.empty) {
			const marks = marksHere(state);
			if (!state.selection.$from.parent.inlineContent) return false;
			dispatch?.(tr.setStoredMarks(has ? type.removeFromSet(marks) : type.create().addToSet(marks)));
			return true;
		}
		for (const { node, from, to } of pieces(state)) {
			if (has) tr.removeMark(from, to, type);
			else if (!type.isInSet(node.marks)) tr.addMark(from, to, type.create());
		}
		dispatch?.(tr.scrollIntoView());
		return true;
	};

/** clearFormats takes all formats but links from the selection, or from the paragraph. */
export const clearFormats: Command = (state, dispatch) => {
	const { selection, tr } = state;
	const { $from, empty } = selection;
	const from = empty ? $from.start() : selection.from;
	const to = empty ? $from.end() : selection.to;
	for (const name of ["strong", "em", "underline", "strike", "element"]) tr.removeMark(from, to, markType(name));
	dispatch?.(tr.setStoredMarks([]));
	return true;
};

/** Returns how far a mark reaches around a place in its paragraph. */
function reach(state: EditorState, mark: Mark, at: number): Span {
	const $at = state.doc.resolve(at);
	let pos = $at.start();
	let span: Span = { from: at, to: at };
	let open: number | null = null;
	$at.parent.forEach((node) => {
		if (mark.isInSet(node.marks)) open ??= pos;
		else open = null;
		pos += node.nodeSize;
		if (open !== null && open <= at && pos >= at) span = { from: open, to: pos };
	});
	return span;
}

/** linkHere returns the link of the selection: its address and what has it. */
export function linkHere(state: EditorState): (Span & { address: string; mark: Mark }) | null {
	const { $from, from, to, empty } = state.selection;
	const type = markType("link");
	const around = [...$from.marks(), ...($from.nodeAfter?.marks ?? []), ...($from.nodeBefore?.marks ?? [])];
	const mark = empty
		? type.isInSet(around)
		: pieces(state)
				.map(({ node }) => type.isInSet(node.marks))
				.find(Boolean);
	if (!mark) return null;
	const address = attribute(String(mark.attrs.open), "href") ?? "";
	const span = reach(state, mark, from);
	return empty || (span.from <= from && to <= span.to) ? { ...span, address, mark } : { from, to, address, mark };
}

/** setLink makes the selection a link, or changes the one that is there. Without either it inserts the address as a link. */
export const setLink =
	(typed: string): Command =>
	(state, dispatch) => {
		const here = linkHere(state);
		const address = asAddress(typed);
		const { from, to } = here ?? state.selection;
		const type = markType("link");
		const attrs = here?.mark.attrs ?? { close: "</a>", id: 0 };
		const mark = type.create({ ...attrs, open: withAttribute(here?.mark.attrs.open ?? "<a>", "href", address) });
		const { tr } = state;
		if (from === to) tr.insert(from, schema.text(address.replace(/^(mailto|tel):/, ""), [mark]));
		else tr.removeMark(from, to, type).addMark(from, to, mark);
		dispatch?.(tr.removeStoredMark(type).scrollIntoView());
		return true;
	};

/** removeLink leaves the text of a link. */
export const removeLink: Command = (state, dispatch) => {
	const here = linkHere(state);
	if (here) dispatch?.(state.tr.removeMark(here.from, here.to, markType("link")));
	return here !== null;
};

const isSpan = (mark: Mark) => mark.type.name === "element" && nameOf(String(mark.attrs.open)) === "span";

/** looks returns the values that a property of style has in the selection, "" where it has none. */
function looks(state: EditorState, name: string): Set<string> {
	const of = (marks: readonly Mark[]) =>
		marks.map((mark) => property(String(mark.attrs.open), name)).findLast((value) => value !== undefined) ?? "";
	return new Set(state.selection.empty ? [of(marksHere(state))] : pieces(state).map(({ node }) => of(node.marks)));
}

/** look returns the value of a property of style that all of the selection has, else "". */
export function look(state: EditorState, name: string): string {
	const values = looks(state, name);
	return values.size === 1 ? ([...values][0] ?? "") : "";
}

/** hasSeveral reports whether parts of the selection have different values of a property of style. */
export const hasSeveral = (state: EditorState, name: string) => looks(state, name).size > 1;

/** setLook sets a property of style of the selection; null removes it. */
export const setLook =
	(name: string, value: string | null): Command =>
	(state, dispatch) => {
		const { tr } = state;
		if (state.selection.empty) {
			const marks = marksHere(state);
			const old = marks.filter((mark) => isSpan(mark) && property(String(mark.attrs.open), name) !== undefined);
			const kept = marks.filter((mark) => !old.includes(mark));
			dispatch?.(tr.setStoredMarks(value === null ? kept : styled(name, value).addToSet(kept)));
			return true;
		}
		for (const { node, from, to } of pieces(state)) {
			for (const mark of node.marks.filter(isSpan)) restyle(tr, { from, to }, mark, name);
			if (value !== null) tr.addMark(from, to, styled(name, value));
		}
		dispatch?.(tr);
		return true;
	};

const styled = (name: string, value: string) =>
	markType("element").create({ open: withProperty("<span>", name, value), close: "</span>" });

/** restyle removes a property from a mark of a part of a text; one that says nothing then goes. */
function restyle(tr: Transaction, { from, to }: Span, mark: Mark, name: string) {
	const open = String(mark.attrs.open);
	if (property(open, name) === undefined) return;
	const next = withProperty(open, name, null);
	tr.removeMark(from, to, mark);
	if (attributesOf(next).length > 0) tr.addMark(from, to, mark.type.create({ ...mark.attrs, open: next }));
}

/** insertLiquid puts an output or a tag of Liquid in place of the selection. */
export const insertLiquid =
	(source: string): Command =>
	(state, dispatch) => {
		const type = nodeType(source.startsWith("{{") ? "liquid" : "code");
		dispatch?.(state.tr.replaceSelectionWith(type.create({ src: source }), true).scrollIntoView());
		return true;
	};
