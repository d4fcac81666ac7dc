import { Fragment, type Node, Slice } from "prosemirror-model";
import { TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { isAddress } from "./address";
import type { Allowed } from "./allowed";
import { setLink } from "./formats";
import { pastedMarkup, pastedText } from "./paste";
import { read, readLine } from "./read";
import { isPlain, nodeType, schema } from "./schema";
import { write } from "./write";

// What is copied here is pasted here with its source. Everything else that is pasted or dropped is cleaned as text,
// before the browser makes a page of it.

/** What was copied last on this page, and the name that it has on the clipboard. */
let copied = { name: "", source: "" };

function selected(view: EditorView): string {
	const { content } = view.state.selection.content();
	const only = content.childCount === 1 ? content.firstChild : null;
	if (only?.type.name !== "paragraph") return write(nodeType("doc").create(null, content));
	return write(nodeType("doc").create(null, nodeType("paragraph").create({ fill: "" }, only.content)));
}

const textOf = (node: Node) => (node.type.name === "line_break" ? "\n" : String(node.attrs.src ?? ""));

function copy(view: EditorView, event: ClipboardEvent): boolean {
	if (view.state.selection.empty || !event.clipboardData) return false;
	event.preventDefault();
	const source = selected(view);
	const { content } = view.state.selection.content();
	copied = { name: String(Math.random()).slice(2), source };
	event.clipboardData.setData("text/html", `<div data-copied="${copied.name}">${source}</div>`);
	event.clipboardData.setData("text/plain", content.textBetween(0, content.size, "\n\n", textOf));
	return true;
}

/** Returns the source of what is pasted or dropped. */
function sourceOf(data: DataTransfer, allowed: Allowed): string {
	const html = data.getData("text/html");
	const text = data.getData("text/plain");
	if (!html) return pastedText(text, allowed);
	const isOwn = copied.name !== "" && html.includes(`data-copied="${copied.name}"`);
	if (isOwn && (!allowed.isLine || readLine(copied.source))) return copied.source;
	return pastedMarkup(html, allowed) || pastedText(text, allowed);
}

/** sliceOf returns a source as a part of a document. */
export function sliceOf(source: string): Slice {
	const { content } = read(source, "");
	const only = content.childCount === 1 ? content.firstChild : null;
	if (only?.type.name !== "paragraph") return Slice.maxOpen(content);
	// Space around a part of a sentence is part of it.
	const space = (attribute: unknown) => (isPlain(only) && String(attribute) !== "" ? schema.text(" ") : null);
	const nodes = [space(only.attrs.open), ...only.children, space(only.attrs.close)].filter((node) => node !== null);
	return new Slice(Fragment.from(nodes), 0, 0);
}

function insert(view: EditorView, data: DataTransfer, allowed: Allowed) {
	const text = data.getData("text/plain").trim();
	if (!view.state.selection.empty && /^https?:\/\/\S+$/.test(text) && isAddress(text)) {
		setLink(text)(view.state, view.dispatch);
		return;
	}
	const source = sourceOf(data, allowed);
	if (source) view.dispatch(view.state.tr.replaceSelection(sliceOf(source)).scrollIntoView().setMeta("paste", true));
}

/** clipboardEvents returns what a text does with what is copied, pasted and dropped. */
export const clipboardEvents = (allowed: Allowed) => ({
	copy,
	cut(view: EditorView, event: ClipboardEvent) {
		if (!copy(view, event)) return false;
		if (view.editable) view.dispatch(view.state.tr.deleteSelection().scrollIntoView().setMeta("uiEvent", "cut"));
		return true;
	},
	paste(view: EditorView, event: ClipboardEvent) {
		if (!view.editable || !event.clipboardData) return false;
		event.preventDefault();
		insert(view, event.clipboardData, allowed);
		return true;
	},
	drop(view: EditorView, event: DragEvent) {
		if (view.dragging || !event.dataTransfer || !view.editable) return false;
		event.preventDefault();
		const place = view.posAtCoords({ left: event.clientX, top: event.clientY });
		if (!place) return true;
		view.dispatch(view.state.tr.setSelection(TextSelection.near(view.state.doc.resolve(place.pos))));
		insert(view, event.dataTransfer, allowed);
		view.focus();
		return true;
	},
});
