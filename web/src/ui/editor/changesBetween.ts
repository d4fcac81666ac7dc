import { diffLines } from "../lines";
import { type Change, changeBetween } from "./changeBetween";

/** changesBetween returns the parts of a text that differ in another, in their order: lines that both have stay. */
export function changesBetween(before: string, after: string): Change[] {
	const whole = changeBetween(before, after);
	if (whole.from === whole.to && whole.insert === "") return [];
	const removed = before.slice(whole.from, whole.to);
	if (!removed.includes("\n") || !whole.insert.includes("\n")) return [ofLines(before, whole)];
	// What differs begins and ends where lines do, as otherwise no line at its ends is one that both have.
	const first = whole.from === 0 ? 0 : before.lastIndexOf("\n", whole.from - 1) + 1;
	const end = before.indexOf("\n", whole.to);
	const last = end < 0 ? before.length : end + 1;
	const lines = before.slice(first, last);
	const instead = before.slice(first, whole.from) + whole.insert + before.slice(whole.to, last);
	const ending = end < 0 ? "\n" : "";
	const changes: Change[] = [];
	let at = first; // where the next line of the text begins
	let start = at;
	let inserted = "";
	let fits = true;
	const put = () => {
		if (start === at && inserted === "") return;
		// The last line may end where the text ends, and not with an end of line.
		const isLast = at > last;
		if (isLast && (start > last || inserted === "")) fits = false;
		const { from, to, insert } = changeBetween(
			before.slice(start, Math.min(at, last)),
			isLast ? inserted.slice(0, -1) : inserted,
		);
		changes.push({ from: start + from, to: start + to, insert });
	};
	for (const { kind, text } of diffLines(lines + ending, instead + ending)) {
		if (kind === "added") {
			inserted += `${text}\n`;
			continue;
		}
		if (kind === "removed") {
			at += text.length + 1;
			continue;
		}
		put();
		at += text.length + 1;
		start = at;
		inserted = "";
	}
	return fits ? changes : [whole];
}

/** ofLines returns a change that inserts or removes lines as one that begins where a line does, if that is the same. */
function ofLines(before: string, change: Change): Change {
	const text = change.insert === "" ? before.slice(change.from, change.to) : change.insert;
	if ((change.from < change.to && change.insert !== "") || !text.includes("\n")) return change;
	let back = 0;
	while (back < change.from && before[change.from - back - 1] !== "\n") {
		if (before[change.from - back - 1] !== text[text.length - 1 - (back % text.length)]) return change;
		back++;
	}
	const turn = back % text.length;
	const insert = change.insert && text.slice(text.length - turn) + text.slice(0, text.length - turn);
	return { from: change.from - back, to: change.to - back, insert };
}

/** moved returns where a position of a text is after changes of it; what is put before it moves it on. */
export function moved(position: number, changes: Change[]): number {
	let shift = 0;
	for (const { from, to, insert } of changes) {
		if (from > position) break;
		if (to > position) return from + shift;
		shift += insert.length - (to - from);
	}
	return position + shift;
}

/** kept returns where a position of a text is after changes of it; null if what stood there is gone. */
export function kept(position: number, changes: Change[]): number | null {
	return changes.some(({ from, to }) => from <= position && position < to) ? null : moved(position, changes);
}
