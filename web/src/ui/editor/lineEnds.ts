import { invertedEffects } from "@codemirror/commands";
import {
	type ChangeDesc,
	type EditorState,
	type Extension,
	RangeSet,
	RangeValue,
	StateEffect,
	StateField,
} from "@codemirror/state";

// The documents of CodeMirror have one kind of ends of lines, of one character. A text keeps its own: the state knows which
// its lines have, so that it is written as it was read, and a position of the one is found in the other.

const ends = /\r\n|\r|\n/g;

/** End is that of a line which ends otherwise than most of its text; its range is the break of the line. */
class End extends RangeValue {
	override startSide = 1;
	override endSide = -1;

	constructor(readonly end: string) {
		super();
	}

	override eq(other: RangeValue) {
		return other instanceof End && other.end === this.end;
	}
}

type Ends = { usual: string; others: RangeSet<End> };
/** Other is the break of a line that does not end as most others. */
export type Other = { at: number; end: string };

const rangesOf = (others: Other[]) => others.map(({ at, end }) => new End(end).range(at, at + 1));

/** endsOf returns how the lines of a text end. */
function endsOf(text: string): Ends {
	if (!text.includes("\r")) return { usual: "\n", others: RangeSet.empty };
	const counts = new Map<string, number>();
	for (const [end] of text.matchAll(ends)) counts.set(end, (counts.get(end) ?? 0) + 1);
	const [usual = "\n"] = [...counts.keys()].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
	return { usual, others: counts.size > 1 ? RangeSet.of(rangesOf(othersIn(text, usual, 0))) : RangeSet.empty };
}

/** othersIn returns the ends in a text that are not the usual ones; start is where it stands in the document. */
export function othersIn(text: string, usual: string, start: number): Other[] {
	const others: Other[] = [];
	let shorter = 0;
	for (const { 0: end, index } of text.matchAll(ends)) {
		if (end !== usual) others.push({ at: start + index - shorter, end });
		shorter += end.length - 1;
	}
	return others;
}

const setEnds = StateEffect.define<Ends>();
export const addOthers = StateEffect.define<Other[]>({
	map: (others, changes: ChangeDesc) => others.map(({ at, end }) => ({ at: changes.mapPos(at, 1), end })),
});

const plain: Ends = { usual: "\n", others: RangeSet.empty };

const endsField = StateField.define<Ends>({
	create: () => plain,
	update(value, transaction) {
		let { usual, others } = value;
		if (transaction.docChanged && others.size > 0) {
			transaction.changes.iterChangedRanges((filterFrom, filterTo) => {
				others = others.update({ filterFrom, filterTo, filter: (at) => at < filterFrom || at >= filterTo });
			});
			others = others.map(transaction.changes);
		}
		for (const effect of transaction.effects) {
			if (effect.is(setEnds)) ({ usual, others } = effect.value);
			else if (effect.is(addOthers)) others = others.update({ add: rangesOf(effect.value), sort: true });
		}
		return usual === value.usual && others === value.others ? value : { usual, others };
	},
});

/** Undo brings back also how the lines ended that it brings back. */
const inverted = invertedEffects.of((transaction) => {
	const { others } = transaction.startState.field(endsField);
	if (others.size === 0 || !transaction.docChanged) return [];
	const lost: Other[] = [];
	transaction.changes.iterChangedRanges((from, to) =>
		others.between(from, to, (at, _, { end }) => {
			if (at >= from && at < to) lost.push({ at, end });
		}),
	);
	return lost.length > 0 ? [addOthers.of(lost)] : [];
});

/** lineEnds keeps how the lines of a text end. */
export const lineEnds = (text: string): Extension => [endsField.init(() => endsOf(text)), inverted];

/** withLines returns a text as the document of an editor has it. */
export const withLines = (text: string) => (text.includes("\r") ? text.replace(ends, "\n") : text);

/** newEnds returns what makes the lines of a state end as those of a text that it gets; nothing if they do already. */
export function newEnds(state: EditorState, text: string): StateEffect<unknown>[] {
	const known = state.field(endsField, false);
	if (!known) return text.includes("\r") ? [StateEffect.appendConfig.of(lineEnds(text))] : [];
	return [setEnds.of(endsOf(text))];
}

/** stateEnds returns how the lines of a state end. */
export const stateEnds = (state: EditorState) => state.field(endsField, false) ?? plain;

/** textOf returns the text of a state. */
export function textOf(state: EditorState): string {
	const { usual, others } = stateEnds(state);
	const { doc } = state;
	if (others.size === 0) return doc.sliceString(0, doc.length, usual);
	let text = "";
	let last = 0;
	for (const other = others.iter(); other.value; other.next()) {
		text += doc.sliceString(last, other.from, usual) + other.value.end;
		last = other.to;
	}
	return text + doc.sliceString(last, doc.length, usual);
}
