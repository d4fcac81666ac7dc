import { history } from "prosemirror-history";
import type { Node } from "prosemirror-model";
import { EditorState, type Plugin, type Transaction } from "prosemirror-state";
import { EditorView } from "prosemirror-view";
import type { Allowed } from "./allowed";
import { chip, type Names } from "./chips";
import { clipboardEvents } from "./clipboard";
import { type KeyActions, keys, typedLiquid } from "./keys";
import { read, readLine } from "./read";
import { write } from "./write";

/** documentOf returns the document of a source, or null if editing it would change what it says elsewhere. */
export function documentOf(source: string, allowed: Allowed): Node | null {
	if (lastRead?.source === source && lastRead.allowed === allowed) return lastRead.doc;
	const doc = allowed.isLine ? readLine(source) : read(source, allowed.blocks[0]);
	lastRead = { source, allowed, doc: doc && write(doc) === source ? doc : null };
	return lastRead.doc;
}

/** The source that was read last: who asks whether it can be edited edits it then, and two editors may show it. */
let lastRead: { source: string; allowed: Allowed; doc: Node | null } | null = null;

type Options = {
	doc: Node;
	allowed: Allowed;
	names: Names;
	undoes: boolean;
	editable: () => boolean;
	attributes: () => { [name: string]: string };
	actions: KeyActions;
	/** Called after each change of the text or of the selection. */
	changed: (view: EditorView, source: string | null) => void;
};

/** createView shows a document in an element, in which it is edited. */
export function createView(place: HTMLElement, options: Options): EditorView {
	const { doc, allowed, names, undoes, editable, attributes, actions, changed } = options;
	const plugins: Plugin[] = [...(undoes ? [history()] : []), keys(allowed, actions)];
	const view: EditorView = new EditorView(place, {
		state: EditorState.create({ doc, plugins }),
		editable,
		attributes,
		nodeViews: chips(names),
		handleTextInput: typedLiquid,
		handleDOMEvents: clipboardEvents(allowed),
		dispatchTransaction(tr: Transaction) {
			view.updateState(view.state.apply(tr));
			changed(view, tr.docChanged && tr.getMeta("outside") !== true ? write(view.state.doc) : null);
		},
	});
	return view;
}

/** chips returns what shows code in a view. */
export function chips(names: Names) {
	const show = (node: Node) => chip(node, names);
	return { liquid: show, code: show, code_block: show };
}

/** replaceDocument shows another document; what both have stays, with the cursor in it. */
export function replaceDocument(view: EditorView, doc: Node) {
	const old = view.state.doc;
	const start = old.content.findDiffStart(doc.content);
	const end = old.content.findDiffEnd(doc.content);
	if (start === null || !end) return;
	const overlap = Math.max(0, start - Math.min(end.a, end.b));
	const tr = view.state.tr.replace(start, end.a + overlap, doc.slice(start, end.b + overlap));
	const whole = tr.doc.eq(doc) ? tr : view.state.tr.replaceWith(0, old.content.size, doc.content);
	view.dispatch(whole.setMeta("addToHistory", false).setMeta("outside", true));
}
