import { catalogue } from "../base/words/catalogue";
import css from "./Diff.module.css";

const words = catalogue("shell.diff", {
	same: "No differences.",
	added: "Added",
	removed: "Removed",
	skipped: "{count, plural, one {# unchanged line} other {# unchanged lines}}",
	long: "These texts are too long to compare line by line.",
});

export type Line = { kind: "same" | "added" | "removed"; text: string };

/** Above this many pairs of lines, texts are not compared. */
const maxCells = 4_000_000;

/** diffLines returns the lines of two texts, with those that are in one of them alone; null if they are too long. */
export function diffLines(before: string, after: string): Line[] | null {
	const a = before.split("\n");
	const b = after.split("\n");
	let start = 0;
	while (start < a.length && start < b.length && a[start] === b[start]) start++;
	let end = 0;
	while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
	const x = a.slice(start, a.length - end);
	const y = b.slice(start, b.length - end);
	if (x.length * y.length > maxCells) return null;
	// The longest common subsequence, from the ends.
	const width = y.length + 1;
	const length = new Uint32Array((x.length + 1) * width);
	for (let i = x.length - 1; i >= 0; i--)
		for (let j = y.length - 1; j >= 0; j--)
			length[i * width + j] =
				x[i] === y[j]
					? (length[(i + 1) * width + j + 1] ?? 0) + 1
					: Math.max(length[(i + 1) * width + j] ?? 0, length[i * width + j + 1] ?? 0);
	const result: Line[] = a.slice(0, start).map((text) => ({ kind: "same", text }));
	let i = 0;
	let j = 0;
	while (i < x.length || j < y.length) {
		if (i < x.length && j < y.length && x[i] === y[j]) {
			result.push({ kind: "same", text: x[i] ?? "" });
			i++;
			j++;
		} else if (
			j >= y.length ||
			(i < x.length && (length[(i + 1) * width + j] ?? 0) >= (length[i * width + j + 1] ?? 0))
		)
			result.push({ kind: "removed", text: x[i++] ?? "" });
		else result.push({ kind: "added", text: y[j++] ?? "" });
	}
	return [...result, ...a.slice(a.length - end).map((text): Line => ({ kind: "same", text }))];
}

/** Equal lines that are shown around a difference. */
const contextLines = 2;

/** Diff shows the lines in which two texts differ. */
export function Diff({ before, after, label }: { before: string; after: string; label: string }) {
	if (before === after) return <p className={css.muted}>{words.same}</p>;
	const lines = diffLines(before, after);
	if (!lines) return <p className={css.muted}>{words.long}</p>;
	const nearChange = lines.map((_, i) =>
		lines.slice(Math.max(0, i - contextLines), i + contextLines + 1).some((line) => line.kind !== "same"),
	);
	const shown: ({ line: Line; at: number } | { skipped: number; at: number })[] = [];
	for (const [index, line] of lines.entries()) {
		const last = shown.at(-1);
		if (nearChange[index]) shown.push({ line, at: index });
		else if (last && "skipped" in last) last.skipped++;
		else shown.push({ skipped: 1, at: index });
	}
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, and contains nothing to focus
		<section className={css.diff} aria-label={label} tabIndex={0}>
			{shown.map((part) =>
				"skipped" in part ? (
					<div key={part.at} className={css.skipped}>
						{words.skipped({ count: part.skipped })}
					</div>
				) : (
					<div key={part.at} className={css[part.line.kind]}>
						<span aria-hidden>{part.line.kind === "added" ? "+" : part.line.kind === "removed" ? "−" : " "}</span>
						{part.line.kind !== "same" && <span className="visually-hidden">{words[part.line.kind]}: </span>}
						{part.line.text || "\u00a0"}
					</div>
				),
			)}
		</section>
	);
}
