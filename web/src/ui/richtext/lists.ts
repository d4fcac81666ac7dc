import { liftListItem, sinkListItem, wrapInList } from "prosemirror-schema-list";
import type { Attrs, Node, ResolvedPos } from "prosemirror-model";
import type { Command, EditorState, Transaction } from "prosemirror-state";
import { paragraphs, retag } from "./paragraphs";
import { nodeType } from "./schema";
import { nameOf, withName } from "./tags";

/** Returns the innermost list around a place. */
function listAround($at: ResolvedPos): { node: Node; at: number } | null {
	for (let depth = $at.depth; depth > 0; depth--) {
		const node = $at.node(depth);
		if (node.type.name === "list") return { node, at: $at.before(depth) };
	}
	return null;
}

/** listName returns the element of the list around the selection. */
export function listName(state: EditorState): string | null {
	const list = listAround(state.selection.$from);
	return list ? nameOf(String(list.node.attrs.open)) : null;
}

/** toggleList makes a list of paragraphs, changes the kind of a list, or makes paragraphs of its items. */
export const toggleList =
	(name: "ul" | "ol"): Command =>
	(state, dispatch, view) => {
		const list = listAround(state.selection.$from);
		if (!list) {
			const attrs = { open: `<${name}>`, close: `</${name}>` };
			return wrapInList(nodeType("list"), attrs)(state, dispatch && ((tr) => dispatch(withPlainItems(tr))));
		}
		if (nameOf(String(list.node.attrs.open)) === name) return lift(state, dispatch, view);
		dispatch?.(state.tr.setNodeMarkup(list.at, null, renamed(list.node.attrs, name)));
		return true;
	};

const renamed = (attrs: Attrs, name: string) => ({
	...attrs,
	open: withName(String(attrs.open), name),
	close: withName(String(attrs.close), name),
});

/**
 * The paragraphs of items that were just made are plain: in mail, those with an element have space around. The space
 * around their tags is around those of the items and of the list.
 */
function withPlainItems(tr: Transaction): Transaction {
	const list = listAround(tr.selection.$from);
	if (!list) return tr;
	const found = paragraphs(tr).filter(({ node }) => /^\s*<p>\s*$/.test(String(node.attrs.open)));
	retag(tr, found, "");
	const last = list.node.childCount - 1;
	list.node.forEach((_, offset, i) => {
		const at = list.at + 1 + offset;
		const paragraph = tr.doc.nodeAt(at + 1);
		const item = tr.doc.nodeAt(at);
		if (!paragraph || !item || item.childCount !== 1) return;
		const before = /^\s*/.exec(paragraph.attrs.open)?.[0] ?? "";
		const after = /\s*$/.exec(paragraph.attrs.close)?.[0] ?? "";
		tr.setNodeMarkup(at + 1, null, inner(paragraph.attrs, before, after));
		tr.setNodeMarkup(at, null, outer(item.attrs, i === 0 ? "" : before, i === last ? "" : after));
		const around = tr.doc.nodeAt(list.at)?.attrs ?? list.node.attrs;
		tr.setNodeMarkup(list.at, null, outer(around, i === 0 ? before : "", i === last ? after : ""));
	});
	return tr;
}

const inner = (attrs: Attrs, before: string, after: string) => ({
	...attrs,
	open: String(attrs.open).slice(before.length),
	close: String(attrs.close).slice(0, String(attrs.close).length - after.length),
});

const outer = (attrs: Attrs, before: string, after: string) => ({
	...attrs,
	open: before + attrs.open,
	close: attrs.close + after,
});

/** lift takes items out of their list. Paragraphs that are in no list have an element again. */
export const lift: Command = (state, dispatch) =>
	liftListItem(nodeType("item"))(
		state,
		dispatch &&
			((tr) => {
				const out = paragraphs(tr).filter(
					({ node, at }) => nameOf(node.attrs.open) === "" && !listAround(tr.doc.resolve(at)),
				);
				dispatch(retag(tr, out, "p"));
			}),
	);

/** sink makes items a list in the item before them, of the same kind. */
export const sink: Command = (state, dispatch) => {
	const name = listName(state);
	return sinkListItem(nodeType("item"))(
		state,
		dispatch &&
			((tr) => {
				const list = listAround(tr.selection.$from);
				const isNew = list?.node.childCount === 1 && list.node.attrs.open === "<ul>";
				if (list && isNew && name === "ol") tr.setNodeMarkup(list.at, null, renamed(list.node.attrs, name));
				dispatch(tr);
			}),
	);
};

/** splitItem makes an item of what stands behind the cursor. An empty item leaves its list. */
export const splitItem: Command = (state, dispatch, view) => {
	const { $from } = state.selection;
	const item = $from.depth > 1 ? $from.node(-1) : null;
	if (item?.type.name !== "item" || $from.parent.type.name !== "paragraph") return false;
	if (state.selection.empty && $from.parent.content.size === 0 && item.childCount === 1)
		return lift(state, dispatch, view);
	const { tr } = state;
	tr.deleteSelection();
	// The space after the item follows the new one.
	tr.setNodeMarkup($from.before(-1), null, { ...item.attrs, close: String(item.attrs.close).trimEnd() });
	tr.split(tr.mapping.map($from.pos), 2, [
		{ type: item.type, attrs: item.attrs },
		{ type: $from.parent.type, attrs: { ...$from.parent.attrs, fill: null } },
	]);
	dispatch?.(tr.scrollIntoView());
	return true;
};
