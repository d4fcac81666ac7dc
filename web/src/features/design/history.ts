import type { CodeControl } from "../../ui/Code";
import type { Change } from "./model/acts";

/** change makes changes of a text as one step of its editor's history; nothing if the editor has another text by now. Steps of typing are joined. */
export function change(
	{ view, text: buffer }: CodeControl,
	text: string,
	changes: Change[],
	typing: "first" | "next" | "",
) {
	if (view.current?.state.doc.toString() !== text) return false;
	// Only input.type joins the step before it.
	view.current.dispatch({ changes, userEvent: typing === "next" ? "input.type" : "input" });
	buffer.commit();
	return true;
}

/** travel undoes a step, or does it again, and returns where what that brings back begins, or else where a position of the text is then; null if there is no step. */
export function travel(control: CodeControl, way: "undo" | "redo", position: number): number | null {
	const { current } = control.view;
	let at: number | null = null;
	if (!current) return at;
	control[way]({
		state: current.state,
		dispatch: (transaction) => {
			at = transaction.changes.mapPos(position, 1);
			transaction.changes.iterChanges((_fromA, _toA, from, _to, inserted) => {
				const code = inserted.toString();
				if (/^\s*</.test(code)) at = from + code.search("<");
			});
			current.dispatch(transaction);
		},
	});
	control.text.commit();
	return at;
}
