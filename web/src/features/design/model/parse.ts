import { isKnown } from "../../../ui/editor/mjml";
import { type Block, blocksOf, codeOf, masked, type Range, type Span, spansOf } from "./liquid";
import { controlAt, Fault } from "./reader";
import { isBlank, type Scanned, type ScannedElement, scan } from "./scan";
import {
	type Branch,
	type Broken,
	type ConditionNode,
	type Container,
	type Node,
	type OpaqueNode,
	type Root,
	sectionMark,
	slotMark,
	type Tree,
} from "./tree";

/**
 * parse reads MJML with Liquid: a document, or a fragment, which is what stands inside mj-body or mj-column. Positions
 * are indexes of the text. The tree is made of views of the text, and holds nothing else.
 */
export function parse(text: string, fragment = false): Tree | Broken {
	const known = recent.find((one) => one.fragment === fragment && one.result.text === text);
	if (known) return known.result;
	const result = read(text, fragment);
	if (text.length > short) recent.splice(0, recent.length, { fragment, result }, ...recent.slice(0, 2));
	return result;
}

/** The texts that were read last: an act reads what it leaves, which the page reads again. */
const recent: { fragment: boolean; result: Tree | Broken }[] = [];

/** Up to this length a text is read again, so that pieces of code do not push out documents. */
const short = 2000;

function read(text: string, fragment: boolean): Tree | Broken {
	const control = controlAt(text);
	if (control >= 0) return { text, broken: { at: control, why: "control" } };
	const spans = spansOf(text);
	const { blocks, at } = blocksOf(text, spans);
	try {
		const scanned = scan(masked(text, spans), fragment);
		if (at >= 0) return { text, broken: { at, why: "liquid" } };
		const root: Root = { kind: "root", fragment, from: 0, to: text.length, children: [], parent: null };
		const builder = new Builder(text, spans);
		root.children = builder.children(scanned, blocks, root);
		return { text, root };
	} catch (error) {
		if (error instanceof Fault) return { text, broken: { at: error.at, why: error.why } };
		throw error;
	}
}

/** Item is a child before it is known what Liquid encloses it. */
type Item = Range & ({ kind: "scanned"; scanned: Scanned } | { kind: "liquid"; span: Span } | { kind: "text" });

/** Interval is a block of Liquid that reaches over several children, by their indexes. */
type Interval = { first: number; last: number; block: Block; marks: number[]; simple: boolean };

class Builder {
	constructor(
		private readonly text: string,
		private readonly spans: Span[],
	) {}

	/** children makes the nodes of a container, of what was scanned in it and the blocks that begin and end in it. */
	children(scanned: Scanned[], blocks: Block[], parent: Container): Node[] {
		const items = scanned.flatMap((child) => this.items(child));
		const intervals: Interval[] = [];
		const inner = new Map<number, Block[]>();
		const opaque = new Set<number>();
		for (const block of blocks) {
			const marks = block.marks.map((mark) => indexAt(items, mark.from));
			const [first = -1, last = -1] = [marks[0], marks.at(-1)];
			const item = items[first];
			if (!item) continue;
			if (first < last) {
				// What looks like Liquid within raw would be Liquid elsewhere.
				const simple = block.name !== "raw" && block.marks.every((mark, i) => this.isMark(items[marks[i] ?? -1], mark));
				intervals.push({ first, last, block, marks, simple });
			} else if (item.kind === "scanned" && item.scanned.kind === "element") {
				const { open, close } = item.scanned;
				const within = (mark: Span) => mark.from >= open.to && close !== null && mark.from < close.from;
				if (block.marks.every(within)) inner.set(first, [...(inner.get(first) ?? []), block]);
				else if (block.marks.some(within)) opaque.add(first);
			}
		}
		const build = (from: number, to: number, parent: Container): Node[] => {
			const nodes: Node[] = [];
			for (let i = from; i <= to; i++) {
				const item = items[i] as Item;
				const here = intervals.filter((interval) => interval.first === i);
				const [outer] = here.toSorted((a, b) => b.last - a.last);
				if (!outer) {
					nodes.push(
						opaque.has(i) ? this.group(items.slice(i, i + 1), parent) : this.node(item, inner.get(i) ?? [], parent),
					);
				} else if (here.every((interval) => interval.simple)) {
					nodes.push(this.condition(outer, items, build, parent));
					i = outer.last;
				} else {
					const last = reach(intervals, i);
					nodes.push(this.group(items.slice(i, last + 1), parent));
					i = last;
				}
			}
			return nodes;
		};
		return build(0, items.length - 1, parent);
	}

	/** items splits text into pieces of Liquid, and what is between them. */
	private items(child: Scanned): Item[] {
		if (child.kind !== "text") return [{ kind: "scanned", from: child.from, to: child.to, scanned: child }];
		const all: Item[] = [];
		const text = (from: number, to: number) => {
			const piece = this.text.slice(from, to);
			if (isBlank(piece)) return;
			const start = from + piece.search(/[^\s\u0085]/);
			all.push({ kind: "text", from: start, to: start + piece.trim().length });
		};
		let last = child.from;
		for (let i = firstFrom(this.spans, child.from); (this.spans[i]?.from ?? child.to) < child.to; i++) {
			const span = this.spans[i] as Span;
			text(last, span.from);
			all.push({ kind: "liquid", from: span.from, to: span.to, span });
			last = span.to;
		}
		text(last, child.to);
		return all;
	}

	/** isMark reports whether a child is nothing but a tag of Liquid: by itself, or in mj-raw. */
	private isMark(item: Item | undefined, mark: Span): boolean {
		if (item?.kind === "liquid") return item.span === mark;
		if (item?.kind !== "scanned" || item.scanned.kind !== "element") return false;
		const { tag, attributes, open, close } = item.scanned;
		if (tag !== "mj-raw" || attributes.length > 0 || !close) return false;
		return isBlank(this.text.slice(open.to, mark.from)) && isBlank(this.text.slice(mark.to, close.from));
	}

	private condition(
		interval: Interval,
		items: Item[],
		build: (from: number, to: number, parent: Container) => Node[],
		parent: Container,
	): ConditionNode {
		const { block, marks } = interval;
		const ranges = marks.map((index) => {
			const { from, to } = items[index] as Item;
			return { from, to };
		});
		const [start, end] = [ranges[0] as Range, ranges.at(-1) as Range];
		const wrapped = items[marks[0] ?? 0]?.kind === "scanned";
		const node: ConditionNode = {
			kind: "condition",
			name: block.name,
			from: start.from,
			to: end.to,
			branches: [],
			end,
			effective: wrapped || block.name === "section",
			tags: wrapped ? ["mj-raw"] : block.name === "section" ? [sectionMark] : [],
			parent,
		};
		node.branches = marks.slice(0, -1).map((index, i) => {
			const mark = ranges[i] as Range;
			const next = ranges[i + 1] as Range;
			const branch: Branch = {
				kind: "branch",
				mark,
				from: mark.to,
				to: next.from,
				...this.codeOf(block.marks[i] as Span),
				children: [],
				parent: node,
			};
			branch.children = build(index + 1, (marks[i + 1] ?? 0) - 1, branch);
			return branch;
		});
		for (const branch of node.branches)
			for (const child of branch.children) node.tags.push(...(child.kind === "element" ? [child.tag] : child.tags));
		return node;
	}

	/** codeOf returns the name of a tag, what stands behind it, and where. */
	private codeOf(span: Span): { name: string; code: string; codeRange: Range } {
		const piece = this.text.slice(span.from, span.to);
		const [, name = "", code = ""] = /^(#?\w+)\s*(.*)$/s.exec(codeOf(piece)) ?? [];
		const at = span.from + piece.indexOf(name) + name.length;
		const from = code === "" ? at : this.text.indexOf(code, at);
		return { name, code, codeRange: { from, to: from + code.length } };
	}

	private group(items: Item[], parent: Container): OpaqueNode {
		const tags = items.flatMap((item) =>
			item.kind === "scanned" && item.scanned.kind === "element" ? [item.scanned.tag] : [],
		);
		return { kind: "opaque", what: "group", tags, from: items[0]?.from ?? 0, to: items.at(-1)?.to ?? 0, parent };
	}

	private node(item: Item, blocks: Block[], parent: Container): Node {
		const { from, to } = item;
		const opaque = (what: OpaqueNode["what"], tags: string[] = []): OpaqueNode => ({
			kind: "opaque",
			what,
			tags,
			from,
			to,
			parent,
		});
		if (item.kind === "text") return opaque("text");
		if (item.kind === "liquid") {
			const code = codeOf(this.text.slice(from, to));
			if (/^slot\s*:/.test(code)) return opaque("slot", [slotMark]);
			return opaque(item.span.name === "comment" ? "comment" : "liquid");
		}
		const { scanned } = item;
		if (scanned.kind === "comment") return opaque("comment");
		if (scanned.kind !== "element") return opaque("text");
		if (!isKnown(scanned.tag)) return opaque("unknown", [scanned.tag]);
		if (scanned.tag === "mj-raw") return opaque("raw", ["mj-raw"]);
		return this.element(scanned, blocks, parent);
	}

	private element(scanned: ScannedElement, blocks: Block[], parent: Container): Node {
		const { tag, from, to, open, close, content, attributes } = scanned;
		const element: Node = { kind: "element", tag, from, to, open, close, content, attributes, children: [], parent };
		if (content === "elements") element.children = this.children(scanned.children, blocks, element);
		return element;
	}
}

/** reach returns the last child of those that blocks hold together with a child, other than as conditions. */
function reach(intervals: Interval[], first: number): number {
	let last = first;
	for (let before = -1; before !== last; ) {
		before = last;
		for (const interval of intervals)
			if (interval.first >= first && interval.first <= last) last = Math.max(last, interval.last);
	}
	return last;
}

/** firstFrom returns the index of the first range that begins at a position or behind it. */
function firstFrom(ranges: Range[], position: number): number {
	let [low, high] = [0, ranges.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((ranges[middle] as Range).from < position) low = middle + 1;
		else high = middle;
	}
	return low;
}

/** indexAt returns the index of the range that a position is in; -1 if it is in none. */
function indexAt(ranges: Range[], position: number): number {
	const index = firstFrom(ranges, position + 1) - 1;
	return position < (ranges[index]?.to ?? 0) ? index : -1;
}
