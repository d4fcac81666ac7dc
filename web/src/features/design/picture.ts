import { find, type Node, nodeAt, type Tree } from "./model/tree";

/** Picture is a mail as HTML with marks, and the text that the marks are positions of. */
export type Picture = { html: string; text: string; size: number | null };

/** Rect is where an element of the mail is in its frame, in pixels; its mark is a position of the text of the picture. */
export type Rect = { mark: number; x: number; y: number; width: number; height: number };

export type Box = { x: number; y: number; width: number; height: number };

/** mapped returns how positions of a text become those of another one; null for those in what is not the same in both. */
export function mapped(from: string, to: string): (position: number) => number | null {
	if (from === to) return (position) => position;
	let start = 0;
	const most = Math.min(from.length, to.length);
	while (start < most && from[start] === to[start]) start++;
	let end = 0;
	while (end < most - start && from[from.length - 1 - end] === to[to.length - 1 - end]) end++;
	return (position) => {
		if (position < start) return position;
		return position >= from.length - end ? position + to.length - from.length : null;
	};
}

/** around returns the box around some boxes; null of none. */
export function around(boxes: Box[]): Box | null {
	if (boxes.length === 0) return null;
	const x = Math.min(...boxes.map((box) => box.x));
	const y = Math.min(...boxes.map((box) => box.y));
	const right = Math.max(...boxes.map((box) => box.x + box.width));
	const bottom = Math.max(...boxes.map((box) => box.y + box.height));
	return { x, y, width: right - x, height: bottom - y };
}

/** View joins the nodes of a tree with what a picture shows of them. */
export class View {
	private readonly toTree: (position: number) => number | null;
	private readonly boxes = new Map<number, Box[]>();
	/** Where the nodes begin that have boxes, in their order. */
	private readonly starts: number[];

	constructor(
		private readonly tree: Tree,
		picture: string,
		rects: Rect[],
	) {
		this.toTree = mapped(picture, tree.text);
		for (const { mark, ...box } of rects) {
			const at = this.toTree(mark);
			if (at === null) continue;
			const same = this.boxes.get(at);
			if (same) same.push(box);
			else this.boxes.set(at, [box]);
		}
		this.starts = [...this.boxes.keys()].sort((a, b) => a - b);
	}

	/** nodeOf returns the node with a mark. */
	nodeOf(mark: number): Node | null {
		const at = mark < 0 ? null : this.toTree(mark);
		return at === null ? null : (nodeAt(this.tree, at) ?? find(this.tree, at));
	}

	/** boxesOf returns where a node is shown, once for each time that it repeats. */
	boxesOf(node: Node): Box[] {
		const own = this.boxes.get(node.from);
		if (own) return own;
		const inner: Box[] = [];
		if (node.kind === "element") return inner;
		const { starts } = this;
		for (let i = firstBehind(starts, node.from); (starts[i] ?? node.to) < node.to; i++)
			inner.push(...(this.boxes.get(starts[i] as number) ?? []));
		const box = around(inner);
		return box ? [box] : [];
	}
}

/** firstBehind returns the index of the first of ordered numbers that is greater than one. */
function firstBehind(ordered: number[], number: number): number {
	let [low, high] = [0, ordered.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((ordered[middle] as number) <= number) low = middle + 1;
		else high = middle;
	}
	return low;
}
