import { redo, undo } from "@codemirror/commands";
import { EditorView } from "@codemirror/view";
import type { RefObject } from "react";
import type { Change } from "./changeBetween";
import { textOf } from "./lineEnds";
import { documentChanges, inDocument, inText } from "./positions";

/**
 * CodeControl changes the text of a code editor from outside of it, in the editor's history. Positions are those of the
 * text, with its own ends of lines.
 */
export type CodeControl = {
	/** read returns the text that the editor has; null while it has none. */
	read: () => string | null;
	/** change makes changes of a text one step of the history; false if the editor has another text by now. Steps of typing are joined. */
	change: (text: string, changes: Change[], typing: "first" | "next" | "") => boolean;
	/** travel undoes a step, or does it again, and returns where what that brings back begins, or else where a position of the text is then; null if there is no step. */
	travel: (way: "undo" | "redo", position: number) => number | null;
	/** cursor returns where the cursor is; null if nobody has put it anywhere. */
	cursor: () => number | null;
	/** select puts the cursor at a position, and in view once the editor is. */
	select: (position: number) => void;
};

const ways = { undo, redo };

/** controlOf returns the control of an editor; commit passes its text on to the page. */
export function controlOf(view: RefObject<EditorView | null>, commit: () => void): CodeControl {
	return {
		read: () => view.current && textOf(view.current.state),
		change(text, changes, typing) {
			const { current } = view;
			if (!current || textOf(current.state) !== text) return false;
			// Only input.type joins the step before it.
			current.dispatch({
				...documentChanges(current.state, changes),
				userEvent: typing === "next" ? "input.type" : "input",
			});
			commit();
			return true;
		},
		travel(way, position) {
			const { current } = view;
			let at: number | null = null;
			if (!current) return at;
			const from = inDocument(current.state, position);
			ways[way]({
				state: current.state,
				dispatch(transaction) {
					let to = transaction.changes.mapPos(from, 1);
					transaction.changes.iterChanges((_fromA, _toA, start, _end, inserted) => {
						const code = inserted.toString();
						if (/^\s*</.test(code)) to = start + code.search("<");
					});
					// What is edited is in view, and not the code.
					Object.defineProperty(transaction, "scrollIntoView", { value: false });
					current.dispatch(transaction);
					at = inText(current.state, to);
				},
			});
			commit();
			return at;
		},
		cursor() {
			const { state } = view.current ?? {};
			return state && state.selection.main.head > 0 ? inText(state, state.selection.main.head) : null;
		},
		select(position) {
			const { current } = view;
			if (!current) return;
			const at = inDocument(current.state, position);
			const effects = EditorView.scrollIntoView(at, { y: "center" });
			current.dispatch({ effects, selection: { anchor: at } });
		},
	};
}
