import {
	baseKeymap,
	chainCommands,
	createParagraphNear,
	exitCode,
	liftEmptyBlock,
	newlineInCode,
} from "prosemirror-commands";
import { redo, undo } from "prosemirror-history";
import { type Command, Plugin, TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import type { Allowed } from "./allowed";
import { toggleFormat } from "./formats";
import { lift, sink, splitItem } from "./lists";
import { retagged } from "./paragraphs";
import { nodeType } from "./schema";
import { nameOf } from "./tags";

/** splitParagraph makes a paragraph of what stands behind the cursor. After the end of a heading it is no heading. */
const splitParagraph: Command = (state, dispatch) => {
	const { $from } = state.selection;
	if ($from.parent.type.name !== "paragraph") return false;
	const { tr } = state;
	tr.deleteSelection();
	const $at = tr.doc.resolve(tr.mapping.map($from.pos));
	const isPlain = nameOf(String($at.parent.attrs.open)) === "";
	// Text without an element is followed by a paragraph only if it is one itself.
	const whole = isPlain ? retagged($at.parent.attrs, "p") : $at.parent.attrs;
	// The space after the paragraph follows the new one.
	tr.setNodeMarkup($at.before(), null, { ...whole, close: String(whole.close).trimEnd() });
	const isAtEnd = $at.parentOffset === $at.parent.content.size;
	const attrs = isAtEnd ? retagged(whole, "p") : whole;
	tr.split($at.pos, 1, [{ type: $at.parent.type, attrs: { ...attrs, fill: null } }]);
	dispatch?.(tr.scrollIntoView());
	return true;
};

const breakLine: Command = (state, dispatch) => {
	dispatch?.(state.tr.replaceSelectionWith(nodeType("line_break").create(), true).scrollIntoView());
	return true;
};

export type KeyActions = { link: () => void; done?: () => void };

/** At the start of an item it leaves the list. */
const liftAtStart: Command = (state, dispatch, view) => {
	const { $from, empty } = state.selection;
	const isFirst = $from.depth > 1 && $from.node(-1).type.name === "item" && $from.index(-1) === 0;
	return empty && $from.parentOffset === 0 && isFirst && lift(state, dispatch, view);
};

type Press = Pick<KeyboardEvent, "key" | "keyCode" | "shiftKey" | "ctrlKey" | "altKey" | "metaKey">;

/** pressName returns the name of a key that is pressed, such as "Shift-Mod-z". Mod is Command on a Mac, else Control. */
export function pressName(press: Press, isMac: boolean): string {
	// On keyboards without Latin letters, shortcuts are where these are on others.
	const isLetter = press.keyCode >= 65 && press.keyCode <= 90 && !/^[a-z]$/i.test(press.key);
	const key = isLetter && press.key.length === 1 ? String.fromCharCode(press.keyCode) : press.key;
	const mod = isMac ? press.metaKey : press.ctrlKey;
	const ctrl = isMac && press.ctrlKey;
	return [
		press.shiftKey && "Shift-",
		ctrl && "Ctrl-",
		press.altKey && "Alt-",
		mod && "Mod-",
		key.length === 1 ? key.toLowerCase() : key,
	]
		.filter(Boolean)
		.join("");
}

/** keys returns what keys do in a text. Escape, then Tab, leaves a list without changing it. */
export function keys(allowed: Allowed, actions: KeyActions): Plugin {
	let leaves = false;
	const bound = bindings(allowed, actions, {
		leave: () => {
			leaves = true;
		},
		isLeaving: () => leaves,
	});
	const isMac = /Mac|iP(hone|[oa]d)/.test(globalThis.navigator?.platform ?? "");
	return new Plugin({
		props: {
			handleKeyDown(view, event) {
				if (event.key !== "Tab" && event.key !== "Shift" && event.key !== "Escape") leaves = false;
				return bound[pressName(event, isMac)]?.(view.state, view.dispatch, view) ?? false;
			},
		},
	});
}

type Leaving = { leave: () => void; isLeaving: () => boolean };

function bindings(allowed: Allowed, actions: KeyActions, { leave, isLeaving }: Leaving): { [key: string]: Command } {
	const act =
		(run: (() => void) | undefined, isHandled = run !== undefined): Command =>
		() => {
			run?.();
			return isHandled;
		};
	const unlessLeaving =
		(command: Command): Command =>
		(...args) =>
			!isLeaving() && command(...args);
	const bound: { [key: string]: Command } = {
		...baseKeymap,
		"Mod-b": toggleFormat("strong"),
		"Mod-i": toggleFormat("em"),
		"Mod-k": act(actions.link),
		"Mod-z": undo,
		"Shift-Mod-z": redo,
		"Mod-y": redo,
		"Shift-Enter": chainCommands(exitCode, breakLine),
		"Mod-Enter": chainCommands(act(actions.done), breakLine),
		Escape: chainCommands(act(leave, false), act(actions.done)),
		Enter: allowed.isLine
			? chainCommands(act(actions.done), () => true)
			: chainCommands(newlineInCode, splitItem, createParagraphNear, liftEmptyBlock, splitParagraph),
	};
	if (bound.Backspace) bound.Backspace = chainCommands(liftAtStart, bound.Backspace);
	if (allowed.underline) bound["Mod-u"] = toggleFormat("underline");
	if (allowed.lists) {
		bound.Tab = unlessLeaving(sink);
		bound["Shift-Tab"] = unlessLeaving(lift);
	}
	return bound;
}

/** typedLiquid makes Liquid of what is typed once its end is. */
export function typedLiquid(view: EditorView, from: number, to: number, text: string): boolean {
	if (!text.includes("}")) return false;
	const tr = view.state.tr.insertText(text, from, to);
	const $end = tr.doc.resolve(tr.mapping.map(to));
	if (!$end.parent.isTextblock || $end.parent.type.spec.code) return false;
	const all = $end.parent.textBetween(0, $end.parent.content.size, null, "\ufffc");
	const found = [...all.matchAll(/\{\{[^{}\ufffc]+\}\}|\{%[^%\ufffc]+%\}/g)].reverse();
	for (const { 0: source, index } of found) {
		const start = $end.start() + index;
		const marks = tr.doc.resolve(start + 1).marks();
		const type = nodeType(source.startsWith("{{") ? "liquid" : "code");
		tr.replaceWith(start, start + source.length, type.create({ src: source }, null, marks));
	}
	if (found.length === 0) return false;
	tr.setSelection(TextSelection.create(tr.doc, tr.mapping.slice(1).map($end.pos)));
	view.dispatch(tr.scrollIntoView());
	return true;
}
