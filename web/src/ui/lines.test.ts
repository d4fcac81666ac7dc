import { equals, holds, Random, type Tests } from "../base/testing";
import { diffLines, hunks, type Line } from "./lines";

const signs = { same: " ", added: "+", removed: "-" };
const written = (lines: Line[]) => lines.map((line) => signs[line.kind] + line.text).join("|");
const textDiff = (before: string, after: string) =>
	written(diffLines(before.replaceAll("|", "\n"), after.replaceAll("|", "\n")));

/** longestCommon is the length of the longest list of lines that both texts have in order. */
function longestCommon(a: string[], b: string[]): number {
	const rows = a.map(() => b.map(() => 0));
	let longest = 0;
	for (const [i, x] of a.entries())
		for (const [j, y] of b.entries()) {
			const n = x === y ? (rows[i - 1]?.[j - 1] ?? 0) + 1 : Math.max(rows[i - 1]?.[j] ?? 0, rows[i]?.[j - 1] ?? 0);
			(rows[i] as number[])[j] = n;
			longest = Math.max(longest, n);
		}
	return longest;
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
		for (const [before, after, expected] of texts) equals(textDiff(before, after), expected, `${before} to ${after}`);
	},
	"both texts can be read from the lines, with the numbers of their lines"() {
		const random = new Random(1);
		for (let round = 0; round < 400; round++) {
			const text = () => random.list(9, () => random.of(["a", "b", "c", ""]));
			const [a, b] = [text(), text()];
			const lines = diffLines(a.join("\n"), b.join("\n"));
			const before = lines.filter((line) => line.kind !== "added");
			const after = lines.filter((line) => line.kind !== "removed");
			equals(before.map((line) => line.text).join("\n"), a.join("\n"), "the text before");
			equals(after.map((line) => line.text).join("\n"), b.join("\n"), "the text after");
			equals(
				before.map((line) => line.from),
				before.map((_, i) => i + 1),
				"the numbers before",
			);
			equals(
				after.map((line) => line.to),
				after.map((_, i) => i + 1),
				"the numbers after",
			);
			for (const line of lines)
				equals(
					[line.from === 0, line.to === 0],
					[line.kind === "added", line.kind === "removed"],
					"numbers of the other text",
				);
			if (a.join("\n") !== "" && b.join("\n") !== "")
				equals(
					lines.filter((line) => line.kind === "same").length,
					longestCommon(a, b),
					`lines that stay from ${a} to ${b}`,
				);
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
			lines.map((line) => signs[line.kind] + line.text),
			[" same", ...before.map((name) => `-${name}`), ...after.map((name) => `+${name}`), " end", " last"],
		);
		equals(lines.at(-1), { kind: "same", text: "last", from: 2103, to: 2103 });
	},
	"only lines that differ are shown, with some around them"() {
		const before = Array.from({ length: 20 }, (_, i) => `line ${i}`);
		const after = before.with(10, "changed");
		const shown = hunks(diffLines(before.join("\n"), after.join("\n")));
		equals(
			shown.map((line) => line && `${signs[line.kind]}${line.text}`),
			[null, " line 8", " line 9", "-line 10", "+changed", " line 11", " line 12", null],
		);
		equals(hunks(diffLines("a\nb", "a\nb")), [null], "no difference");
		equals(hunks([]), []);
		equals(
			hunks(diffLines("a\nb\nc", "x\nb\nc"), 0).map((hunk) => hunk?.text ?? null),
			["a", "x", null],
		);
	},
	"what is left out is so few lines that all others are near a difference"() {
		const random = new Random(3);
		for (let round = 0; round < 200; round++) {
			const a = random.list(40, () => random.of(["a", "b", "c", "d"]));
			const b = a.filter(() => random.below(12) > 0);
			const lines = diffLines(a.join("\n"), b.join("\n"));
			const shown = hunks(lines, 2);
			const visibleLines = shown.filter((line) => line !== null);
			for (const line of lines)
				if (line.kind !== "same") holds(visibleLines.includes(line), `${line.text} is left out`);
			for (const [i, line] of lines.entries()) {
				const nearChange = lines.slice(Math.max(0, i - 2), i + 3).some((line) => line.kind !== "same");
				equals(visibleLines.includes(line), nearChange, `line ${i} is shown`);
			}
			for (const [i, line] of shown.entries()) holds(line !== null || shown[i - 1] !== null, "two gaps in a row");
		}
	},
};

export default tests;
