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
	const out: Line[] = [];
	for (let i = 0; i < start; i++) out.push({ kind: "same", text: a[i] ?? "", from: i + 1, to: i + 1 });
	const x = a.slice(start, a.length - end);
	const y = b.slice(start, b.length - end);
	const removed = (i: number) => out.push({ kind: "removed", text: x[i] ?? "", from: start + i + 1, to: 0 });
	const added = (j: number) => out.push({ kind: "added", text: y[j] ?? "", from: 0, to: start + j + 1 });
	if (x.length * y.length > maxCells) {
		for (let i = 0; i < x.length; i++) removed(i);
		for (let j = 0; j < y.length; j++) added(j);
	} else {
		const width = y.length + 1;
		const longest = new Uint32Array((x.length + 1) * width);
		const at = (i: number, j: number) => longest[i * width + j] ?? 0;
		for (let i = x.length - 1; i >= 0; i--)
			for (let j = y.length - 1; j >= 0; j--)
				longest[i * width + j] = x[i] === y[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
		let i = 0;
		let j = 0;
		while (i < x.length || j < y.length) {
			if (i < x.length && j < y.length && x[i] === y[j]) {
				out.push({ kind: "same", text: x[i] ?? "", from: start + ++i, to: start + ++j });
			} else if (i < x.length && (j >= y.length || at(i + 1, j) >= at(i, j + 1))) removed(i++);
			else added(j++);
		}
	}
	for (let round = end; round > 0; round--)
		out.push({ kind: "same", text: a[a.length - round] ?? "", from: a.length - round + 1, to: b.length - round + 1 });
	return out;
}

/** hunks keeps lines that differ and a few around them; null stands for what is left out. */
export function hunks(lines: Line[], around = 2): (Line | null)[] {
	const keep = new Set<number>();
	lines.forEach((line, i) => {
		if (line.kind !== "same") for (let round = i - around; round <= i + around; round++) keep.add(round);
	});
	const out: (Line | null)[] = [];
	lines.forEach((line, i) => {
		if (keep.has(i)) out.push(line);
		else if (out.at(-1) !== null) out.push(null);
	});
	return out;
}
