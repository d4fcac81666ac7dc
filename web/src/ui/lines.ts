// Differences of two texts, by lines.

export type Line = { kind: "same" | "added" | "removed"; text: string; from: number; to: number };

/** Above so many cells of the table the differing middle is shown as a whole. */
const maxCells = 4_000_000;

/** diffLines returns the lines of both texts in order, each with whether only one of them has it. */
export function diffLines(before: string, after: string): Line[] {
	const a = before === "" ? [] : before.split("\n");
	const b = after === "" ? [] : after.split("\n");
	let start = 0;
	while (start < a.length && start < b.length && a[start] === b[start]) start++;
	let end = 0;
	while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
	const result: Line[] = [];
	for (let i = 0; i < start; i++) result.push({ kind: "same", text: a[i] ?? "", from: i + 1, to: i + 1 });
	const x = a.slice(start, a.length - end);
	const y = b.slice(start, b.length - end);
	const removed = (i: number) => result.push({ kind: "removed", text: x[i] ?? "", from: start + i + 1, to: 0 });
	const added = (j: number) => result.push({ kind: "added", text: y[j] ?? "", from: 0, to: start + j + 1 });
	if (x.length * y.length > maxCells) {
		for (let i = 0; i < x.length; i++) removed(i);
		for (let j = 0; j < y.length; j++) added(j);
	} else {
		const width = y.length + 1;
		const longest = new Uint32Array((x.length + 1) * width);
		const lengthAt = (i: number, j: number) => longest[i * width + j] ?? 0;
		for (let i = x.length - 1; i >= 0; i--)
			for (let j = y.length - 1; j >= 0; j--)
				longest[i * width + j] =
					x[i] === y[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
		let i = 0;
		let j = 0;
		while (i < x.length || j < y.length) {
			if (i < x.length && j < y.length && x[i] === y[j]) {
				result.push({ kind: "same", text: x[i] ?? "", from: start + ++i, to: start + ++j });
			} else if (i < x.length && (j >= y.length || lengthAt(i + 1, j) >= lengthAt(i, j + 1))) removed(i++);
			else added(j++);
		}
	}
	for (let round = end; round > 0; round--)
		result.push({
			kind: "same",
			text: a[a.length - round] ?? "",
			from: a.length - round + 1,
			to: b.length - round + 1,
		});
	return result;
}

/** hunks keeps lines that differ and a few around them; null stands for what is left out. */
export function hunks(lines: Line[], contextLines = 2): (Line | null)[] {
	const visible = new Set<number>();
	lines.forEach((line, i) => {
		if (line.kind !== "same") for (let round = i - contextLines; round <= i + contextLines; round++) visible.add(round);
	});
	const result: (Line | null)[] = [];
	lines.forEach((line, i) => {
		if (visible.has(i)) result.push(line);
		else if (result.at(-1) !== null) result.push(null);
	});
	return result;
}
