import { isolateHistory } from "@codemirror/commands";
import { Transaction } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { changesBetween } from "./changesBetween";
import { newEnds, withLines } from "./lineEnds";

// What a code editor is shown without, and gets a moment later.

export { controlOf } from "./control";
export { hints } from "./hints";
export { lineEnds, textOf } from "./lineEnds";

/** receive gives an editor a text that the page has. What the person did to it is a step of the history; what others did is none. */
export function receive(view: EditorView, text: string, isOwn: boolean) {
	const { state } = view;
	view.dispatch({
		changes: changesBetween(state.doc.toString(), withLines(text)),
		effects: newEnds(state, text),
		annotations: isOwn ? isolateHistory.of("full") : Transaction.addToHistory.of(false),
	});
}
