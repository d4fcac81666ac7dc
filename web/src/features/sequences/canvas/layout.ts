import { type Block, type Graph, outline, type Place, type Slot } from "../graph";

// Where the steps of a graph stand on the canvas, from top to bottom, and the lines between them. Nothing is
// kept: the same graph always looks the same.

export const nodeWidth = 248;
export const startHeight = 60;
const gapX = 28;
const gapY = 64;
const gapFan = 92;
const slotWidth = 132;
const endHeight = 20;
const loopGap = 22;
const radius = 10;
const margin = 40;

export type Point = { x: number; y: number };

/** Node is a step: the middle of its upper edge. */
export type Node = { id: string; x: number; y: number };

export type Line = {
	place: Place;
	kind: Slot["kind"] | "start";
	path: string;
	/** Where a step can be added on it. */
	add: Point;
	/** Where its label stands, if it has one. */
	label: Point | null;
	/** Where the path ends, if it does. */
	end: Point | null;
};

export type Layout = { width: number; height: number; nodes: Node[]; lines: Line[]; start: Point; goals: Point | null };

/** drawn writes a line through points with round corners. */
export function drawn(points: Point[]): string {
	const kept = points.filter((p, i) => i === 0 || p.x !== points[i - 1]?.x || p.y !== points[i - 1]?.y);
	let d = "";
	for (const [i, p] of kept.entries()) {
		const [before, after] = [kept[i - 1], kept[i + 1]];
		if (!before) d += `M${p.x} ${p.y}`;
		else if (!after) d += `L${p.x} ${p.y}`;
		else {
			const r = Math.min(
				radius,
				Math.hypot(p.x - before.x, p.y - before.y) / 2,
				Math.hypot(after.x - p.x, after.y - p.y) / 2,
			);
			const toward = (q: Point) => {
				const length = Math.hypot(q.x - p.x, q.y - p.y) || 1;
				return `${p.x + ((q.x - p.x) * r) / length} ${p.y + ((q.y - p.y) * r) / length}`;
			};
			d += `L${toward(before)}Q${p.x} ${p.y} ${toward(after)}`;
		}
	}
	return d;
}

type Size = { width: number; height: number; slots: number; slotsHeight: number; inner: Map<Slot | Block, Size> };

/** loopsInto counts the ways in a block that lead back to its first step. They go up on its right side. */
const loopsInto = (b: Block, id: string): number =>
	b.slots.reduce(
		(n, s) => n + (s.kind === "block" ? loopsInto(s.block, id) : s.kind === "loop" && s.to === id ? 1 : 0),
		0,
	) + b.joins.reduce((n, j) => n + loopsInto(j, id), 0);

function measure(b: Block, nodeHeight: number): Size {
	const inner = new Map<Slot | Block, Size>();
	let [width, below] = [0, 0];
	for (const s of b.slots) {
		const size =
			s.kind === "block"
				? measure(s.block, nodeHeight)
				: {
						width: b.slots.length === 1 ? nodeWidth : slotWidth,
						height: s.kind === "end" ? endHeight : 0,
						slots: 0,
						slotsHeight: 0,
						inner: new Map(),
					};
		inner.set(s, size);
		width += size.width + (width > 0 ? gapX : 0);
		below = Math.max(below, size.height);
	}
	const fan = b.slots.length > 1 ? gapFan : gapY;
	let height = nodeHeight + (b.slots.length > 0 ? fan + below : 0);
	const slots = width;
	for (const j of b.joins) {
		const size = measure(j, nodeHeight);
		inner.set(j, size);
		width = Math.max(width, size.width);
		height += gapY + size.height;
	}
	return {
		width: Math.max(nodeWidth, width) + 2 * loopGap * loopsInto(b, b.step.id),
		height,
		slots,
		slotsHeight: below,
		inner,
	};
}

/** arranged lays out a graph whose steps have a height. */
export function arranged(g: Graph, nodeHeight: number): Layout {
	const nodes: Node[] = [];
	const at = new Map<string, Node>();
	const sides = new Map<string, number>(); // the right edges of the blocks
	const pending: { slot: Slot; from: Node; x: number; top: number; fan: number; many: boolean }[] = [];
	const put = (b: Block, size: Size, left: number, top: number) => {
		const x = left + size.width / 2;
		const node = { id: b.step.id, x, y: top };
		nodes.push(node);
		at.set(b.step.id, node);
		sides.set(b.step.id, left + size.width);
		const many = b.slots.length > 1;
		const fan = many ? gapFan : gapY;
		let slotX = x - size.slots / 2;
		for (const s of b.slots) {
			const own = size.inner.get(s) as Size;
			pending.push({ slot: s, from: node, x: slotX + own.width / 2, top: top + nodeHeight + fan, fan, many });
			if (s.kind === "block") put(s.block, own, slotX, top + nodeHeight + fan);
			slotX += own.width + gapX;
		}
		let y = top + nodeHeight + (b.slots.length > 0 ? fan + size.slotsHeight : 0);
		for (const j of b.joins) {
			const own = size.inner.get(j) as Size;
			put(j, own, x - own.width / 2, y + gapY);
			y += gapY + own.height;
		}
	};
	const { roots } = outline(g);
	const main = roots.filter((r) => r.step.id === g.entry);
	const others = roots.filter((r) => !main.includes(r));
	const top = margin + startHeight + gapY;
	let left = margin;
	let [width, height] = [margin + nodeWidth, top];
	let goals: Point | null = null;
	for (const r of [...main, ...others]) {
		const size = measure(r, nodeHeight);
		if (!main.includes(r)) {
			if (main.length === 0 && left === margin) left += nodeWidth + 2 * gapX;
			goals ??= { x: left, y: margin };
		}
		put(r, size, left, top);
		left += size.width + 2 * gapX;
		width = Math.max(width, left - 2 * gapX);
		height = Math.max(height, top + size.height);
	}
	const first = g.entry ? at.get(g.entry) : undefined;
	const start = { x: first?.x ?? margin + nodeWidth / 2, y: margin };
	const lines: Line[] = [];
	const bottom = { x: start.x, y: start.y + startHeight };
	lines.push({
		place: { from: null, label: null },
		kind: first ? "start" : "end",
		path: drawn([bottom, { x: start.x, y: first?.y ?? bottom.y + gapY }]),
		add: { x: start.x, y: bottom.y + gapY / 2 },
		label: null,
		end: first ? null : { x: start.x, y: bottom.y + gapY },
	});
	let loops = 0;
	for (const p of pending) {
		const { slot, from, x, many } = p;
		const y = from.y + nodeHeight;
		const bend = y + 18;
		const place = { from: from.id, label: slot.label };
		const lead = [
			{ x: from.x, y },
			{ x: from.x, y: bend },
			{ x, y: bend },
		];
		const target = slot.kind === "join" || slot.kind === "loop" ? at.get(slot.to) : undefined;
		const add = { x, y: many ? y + 66 : y + gapY / 2 };
		const label = many ? { x, y: y + 34 } : null;
		if (slot.kind === "block")
			lines.push({ place, kind: "block", path: drawn([...lead, { x, y: p.top }]), add, label, end: null });
		else if (slot.kind === "end" || !target)
			lines.push({ place, kind: "end", path: drawn([...lead, { x, y: p.top }]), add, label, end: { x, y: p.top } });
		else if (slot.kind === "join" && target.y > y) {
			const turn = Math.max(target.y - 18, add.y + 14);
			lines.push({
				place,
				kind: "join",
				path: drawn([...lead, { x, y: turn }, { x: target.x, y: turn }, { x: target.x, y: target.y }]),
				add,
				label,
				end: null,
			});
		} else {
			// On the right of all that is between, back to the side of the step.
			const edge = target.y <= from.y ? sides.get(target.id) : undefined;
			if (edge !== undefined) sides.set(target.id, edge - loopGap);
			const side = edge === undefined ? width + 20 + 14 * loops++ : edge - loopGap / 2;
			const turn = add.y + 18;
			const into = target.y + nodeHeight / 2;
			lines.push({
				place,
				kind: "loop",
				path: drawn([
					...lead,
					{ x, y: turn },
					{ x: side, y: turn },
					{ x: side, y: into },
					{ x: target.x + nodeWidth / 2 + 6, y: into },
				]),
				add,
				label,
				end: null,
			});
		}
	}
	for (const l of lines) height = Math.max(height, l.add.y + 24, (l.end?.y ?? 0) + 12);
	return {
		width: width + margin + (loops > 0 ? 20 + 14 * loops : 0),
		height: height + margin,
		nodes,
		lines,
		start,
		goals,
	};
}
