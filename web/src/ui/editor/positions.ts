import type { EditorState } from "@codemirror/state";
import type { Change } from "./changeBetween";
import { addOthers, type Other, othersIn, stateEnds, withLines } from "./lineEnds";

// Positions in a text, and in the document that an editor has of it.

/** inText returns where in its text a position of the document is. */
export function inText(state: EditorState, position: number): number {
	const { usual, others } = stateEnds(state);
	if (usual.length === 1 && others.size === 0) return position;
	let at = position + (state.doc.lineAt(position).number - 1) * (usual.length - 1);
	others.between(0, position, (_, to, { end }) => {
		if (to <= position) at += end.length - usual.length;
	});
	return at;
}

/** inDocument returns where in the document a position of its text is. */
export function inDocument(state: EditorState, position: number): number {
	const { usual, others } = stateEnds(state);
	if (usual.length === 1 && others.size === 0) return Math.min(position, state.doc.length);
	let [low, high] = [0, state.doc.length];
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (inText(state, middle) <= position) low = middle;
		else high = middle - 1;
	}
	return low;
}

/** documentChanges returns changes of a text as those of its document. What is inserted keeps its ends of lines, too. */
export function documentChanges(state: EditorState, changes: Change[]) {
	const { usual } = stateEnds(state);
	const others: Other[] = [];
	let shift = 0;
	const own = changes.map((change) => {
		const [from, to] = [inDocument(state, change.from), inDocument(state, change.to)];
		const insert = withLines(change.insert);
		if (usual !== "\n" || change.insert.includes("\r")) others.push(...othersIn(change.insert, usual, from + shift));
		shift += insert.length - (to - from);
		return { from, to, insert };
	});
	return { changes: own, effects: others.length > 0 ? [addOthers.of(others)] : [] };
}
