import { history, redo, undo } from "@codemirror/commands";
import { EditorState } from "@codemirror/state";
import { equals, holds, Random, type Tests } from "../../base/testing";
import type { Change } from "./changeBetween";
import { changesBetween } from "./changesBetween";
import { lineEnds, newEnds, textOf, withLines } from "./lineEnds";
import { documentChanges, inDocument, inText } from "./positions";

const open = (text: string) => EditorState.create({ doc: text, extensions: [history(), lineEnds(text)] });

const travel = (way: typeof undo, state: EditorState) => {
	let to = state;
	way({ state, dispatch: (transaction) => (to = transaction.state) });
	return to;
};

const applied = (text: string, changes: Change[]) =>
	changes.reduceRight((text, { from, to, insert }) => text.slice(0, from) + insert + text.slice(to), text);

const tests: Tests = {
	"a text is written with the ends of lines that it was read with"() {
		for (const text of ["", "a\nb", "a\r\nb\r\n", "a\rb\r", "a\r\nb\nc\r\n", "\r\r\n\n", "a\r\r\nb", "\ufeffa\r\n"])
			equals(textOf(open(text)), text);
	},
	"a position of the text is found in the document, and back"() {
		const text = "ab\r\ncd\nef\r\n\rg";
		const state = open(text);
		equals(state.doc.toString(), "ab\ncd\nef\n\ng");
		for (let at = 0; at <= state.doc.length; at++) {
			equals(withLines(text.slice(0, inText(state, at))), state.doc.sliceString(0, at), `up to ${at}`);
			equals(inDocument(state, inText(state, at)), at);
		}
	},
	"a new line ends as most others, and what is inserted as it is"() {
		let state = open("a\r\nb\r\nc\n");
		state = state.update({ changes: { from: 1, insert: "\n" } }).state;
		equals(textOf(state), "a\r\n\r\nb\r\nc\n");
		state = state.update(documentChanges(state, [{ from: 7, to: 7, insert: "x\ny\r\n" }])).state;
		equals(textOf(state), "a\r\n\r\nb\nx".slice(0, 6) + textOf(state).slice(6), "what was before stays");
		equals(textOf(travel(undo, state)), "a\r\n\r\nb\r\nc\n");
	},
	"changes of a text, undo and redo are exact, whatever ends its lines have"() {
		const random = new Random(5);
		const pieces = ["a", "bc", "\n", "\r\n", "\r", "x\r\ny", "<p>"];
		const text = (most: number) => {
			let all = "";
			for (const piece of random.list(most, () => random.of(pieces)))
				all += all.endsWith("\r") && piece.startsWith("\n") ? ` ${piece}` : piece;
			return all;
		};
		for (let i = 0; i < 400; i++) {
			let state = open(text(14));
			const texts = [textOf(state)];
			for (let n = 0; n < 4; n++) {
				const before = textOf(state);
				// A position within an end of a line is none of an act.
				const next = applied(before, [pick(random, before, text(4))]);
				const { changes, effects } = documentChanges(state, between(before, next));
				state = state.update({ changes, effects, userEvent: "input" }).state;
				equals(textOf(state), next, `after ${JSON.stringify([before, changes])}`);
				texts.push(next);
			}
			const last = state;
			for (const want of texts.toReversed().slice(1)) {
				const to = travel(undo, state);
				if (to === state) break; // steps that change nothing are none
				state = to;
				holds(texts.includes(textOf(state)), `undo to ${JSON.stringify(want)} made ${JSON.stringify(textOf(state))}`);
			}
			for (let n = 0; n < 4; n++) state = travel(redo, state);
			equals(textOf(state), textOf(last), "done again");
		}
	},
	"a text that comes from elsewhere brings its ends of lines"() {
		for (const [before, after] of [
			["a\r\nb\r\nc", "a\r\nB\r\nc"],
			["a\nb", "a\r\nb\r\n"],
			["a\r\nb", "a\nb\n"],
			["a\r\nb\nc", "x\r\na\r\nb\nc\r"],
		] as const) {
			const state = open(before);
			const changes = changesBetween(state.doc.toString(), withLines(after));
			equals(textOf(state.update({ changes, effects: newEnds(state, after) }).state), after);
		}
	},
};

/** pick returns a change that does not split an end of a line. */
function pick(random: Random, text: string, insert: string): Change {
	const whole = (at: number) => (text[at - 1] === "\r" && text[at] === "\n" ? at + 1 : at);
	const from = whole(random.below(text.length + 1));
	const to = whole(from + random.below(Math.min(5, text.length - from + 1)));
	const joins = text[from - 1] === "\r" || insert.endsWith("\r") || (insert === "" && text[to] === "\n");
	return { from, to, insert: joins ? `-${insert}-` : insert };
}

const between = (before: string, after: string): Change[] => {
	const changes = changesBetween(before, after);
	const splits = (at: number, text: string) => text[at - 1] === "\r" && text[at] === "\n";
	return changes.some(({ from, to }) => splits(from, before) || splits(to, before))
		? [{ from: 0, to: before.length, insert: after }]
		: changes;
};

export default tests;
