import { equals, holds, Random, type Tests } from "../../base/testing";
import { diffLines, hunks, type Line } from "./lines";

const marks = { same: " ", added: "+", removed: "-" };
const written = (lines: Line[]) => lines.map((l) => marks[l.kind] + l.text).join("|");
const of = (before: string, after: string) =>
	written(diffLines(before.replaceAll("|", "\n"), after.replaceAll("|", "\n")));

/** most is the length of the longest list of lines that both texts have in order. */
function longestCommon(a: string[], b: string[]): number {
	const rows = a.map(() => b.map(() => 0));
	let best = 0;
	for (const [i, x] of a.entries())
		for (const [j, y] of b.entries()) {
			const n = x === y ? (rows[i - 1]?.[j - 1] ?? 0) + 1 : Math.max(rows[i - 1]?.[j] ?? 0, rows[i]?.[j - 1] ?? 0);
			(rows[i] as number[])[j] = n;
			best = Math.max(best, n);
		}
	return best;
}

const tests: Tests = {
	"lines are the same, added or removed"() {
		const texts: [before: string, after: string, want: string][] = [
			["", "", ""],
			["a", "a", " a"],
			["", "a|b", "+a|+b"],
			["a|b", "", "-a|-b"],
			["a", "b", "-a|+b"],
			["a|b|c", "a|c", " a|-b| c"],
			["a|c", "a|b|c", " a|+b| c"],
			["a|b|c", "a|x|c", " a|-b|+x| c"],
			["a|b", "b|a", "-a| b|+a"],
			["a|a", "a", " a|-a"],
			["a|", "a", " a|-"],
		];
		for (const [before, after, want] of texts) equals(of(before, after), want, `${before} to ${after}`);
	},
	"both texts can be read from the lines, with the numbers of their lines"() {
		const random = new Random(1);
		for (let n = 0; n < 400; n++) {
			const text = () => random.list(9, () => random.of(["a", "b", "c", ""]));
			const [a, b] = [text(), text()];
			const lines = diffLines(a.join("\n"), b.join("\n"));
			const before = lines.filter((l) => l.kind !== "added");
			const after = lines.filter((l) => l.kind !== "removed");
			equals(before.map((l) => l.text).join("\n"), a.join("\n"), "the text before");
			equals(after.map((l) => l.text).join("\n"), b.join("\n"), "the text after");
			equals(
				before.map((l) => l.from),
				before.map((_, i) => i + 1),
				"the numbers before",
			);
			equals(
				after.map((l) => l.to),
				after.map((_, i) => i + 1),
				"the numbers after",
			);
			for (const l of lines)
				equals([l.from === 0, l.to === 0], [l.kind === "added", l.kind === "removed"], "numbers of the other text");
			if (a.join("\n") !== "" && b.join("\n") !== "")
				equals(lines.filter((l) => l.kind === "same").length, longestCommon(a, b), `lines that stay from ${a} to ${b}`);
		}
	},
	"a difference that is too long to compare is shown as a whole"() {
		const numbers = (from: number) => Array.from({ length: 2100 }, (_, i) => String(from + i));
		const [before, after] = [numbers(0), numbers(1)];
		const lines = diffLines(
			["same", ...before, "end", "last"].join("\n"),
			["same", ...after, "end", "last"].join("\n"),
		);
		equals(
			lines.map((l) => marks[l.kind] + l.text),
			[" same", ...before.map((n) => `-${n}`), ...after.map((n) => `+${n}`), " end", " last"],
		);
		equals(lines.at(-1), { kind: "same", text: "last", from: 2103, to: 2103 });
	},
	"only lines that differ are shown, with some around them"() {
		const before = Array.from({ length: 20 }, (_, i) => `line ${i}`);
		const after = before.with(10, "changed");
		const shown = hunks(diffLines(before.join("\n"), after.join("\n")));
		equals(
			shown.map((l) => l && `${marks[l.kind]}${l.text}`),
			[null, " line 8", " line 9", "-line 10", "+changed", " line 11", " line 12", null],
		);
		equals(hunks(diffLines("a\nb", "a\nb")), [null], "no difference");
		equals(hunks([]), []);
		equals(
			hunks(diffLines("a\nb\nc", "x\nb\nc"), 0).map((l) => l?.text ?? null),
			["a", "x", null],
		);
	},
	"what is left out is so few lines that all others are near a difference"() {
		const random = new Random(3);
		for (let n = 0; n < 200; n++) {
			const a = random.list(40, () => random.of(["a", "b", "c", "d"]));
			const b = a.filter(() => random.below(12) > 0);
			const lines = diffLines(a.join("\n"), b.join("\n"));
			const shown = hunks(lines, 2);
			const kept = shown.filter((l) => l !== null);
			for (const l of lines) if (l.kind !== "same") holds(kept.includes(l), `${l.text} is left out`);
			for (const [i, l] of lines.entries()) {
				const near = lines.slice(Math.max(0, i - 2), i + 3).some((x) => x.kind !== "same");
				equals(kept.includes(l), near, `line ${i} is shown`);
			}
			for (const [i, l] of shown.entries()) holds(l !== null || shown[i - 1] !== null, "two gaps in a row");
		}
	},
};

export default tests;
