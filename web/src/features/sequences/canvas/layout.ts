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
	const bends = points.filter((point, i) => i === 0 || point.x !== points[i - 1]?.x || point.y !== points[i - 1]?.y);
	let d = "";
	for (const [i, point] of bends.entries()) {
		const [before, after] = [bends[i - 1], bends[i + 1]];
		if (!before) d += `M${point.x} ${point.y}`;
		else if (!after) d += `L${point.x} ${point.y}`;
		else {
			const r = Math.min(
				radius,
				Math.hypot(point.x - before.x, point.y - before.y) / 2,
				Math.hypot(after.x - point.x, after.y - point.y) / 2,
			);
			const pointToward = (q: Point) => {
				const length = Math.hypot(q.x - point.x, q.y - point.y) || 1;
				return `${point.x + ((q.x - point.x) * r) / length} ${point.y + ((q.y - point.y) * r) / length}`;
			};
			d += `L${pointToward(before)}Q${point.x} ${point.y} ${pointToward(after)}`;
		}
	}
	return d;
}

type Size = { width: number; height: number; slots: number; slotsHeight: number; inner: Map<Slot | Block, Size> };

/** loopsInto counts the edges in a block that lead back to its first step. They go up on its right side. */
const loopsInto = (block: Block, id: string): number =>
	block.slots.reduce(
		(sum, slot) =>
			sum + (slot.kind === "block" ? loopsInto(slot.block, id) : slot.kind === "loop" && slot.to === id ? 1 : 0),
		0,
	) + block.joins.reduce((sum, block) => sum + loopsInto(block, id), 0);

function measure(block: Block, nodeHeight: number): Size {
	const inner = new Map<Slot | Block, Size>();
	let [width, below] = [0, 0];
	for (const slot of block.slots) {
		const size =
			slot.kind === "block"
				? measure(slot.block, nodeHeight)
				: {
						width: block.slots.length === 1 ? nodeWidth : slotWidth,
						height: slot.kind === "end" ? endHeight : 0,
						slots: 0,
						slotsHeight: 0,
						inner: new Map(),
					};
		inner.set(slot, size);
		width += size.width + (width > 0 ? gapX : 0);
		below = Math.max(below, size.height);
	}
	const gap = block.slots.length > 1 ? gapFan : gapY;
	let height = nodeHeight + (block.slots.length > 0 ? gap + below : 0);
	const slots = width;
	for (const join of block.joins) {
		const size = measure(join, nodeHeight);
		inner.set(join, size);
		width = Math.max(width, size.width);
		height += gapY + size.height;
	}
	return {
		width: Math.max(nodeWidth, width) + 2 * loopGap * loopsInto(block, block.step.id),
		height,
		slots,
		slotsHeight: below,
		inner,
	};
}

/** layoutOf lays out a graph whose steps have a height. */
export function layoutOf(graph: Graph, nodeHeight: number): Layout {
	const nodes: Node[] = [];
	const nodeById = new Map<string, Node>();
	const rightEdges = new Map<string, number>(); // the right edges of the blocks
	const pending: { slot: Slot; from: Node; x: number; top: number; gap: number; many: boolean }[] = [];
	const placeBlock = (block: Block, size: Size, left: number, top: number) => {
		const x = left + size.width / 2;
		const node = { id: block.step.id, x, y: top };
		nodes.push(node);
		nodeById.set(block.step.id, node);
		rightEdges.set(block.step.id, left + size.width);
		const many = block.slots.length > 1;
		const gap = many ? gapFan : gapY;
		let slotX = x - size.slots / 2;
		for (const slot of block.slots) {
			const own = size.inner.get(slot) as Size;
			pending.push({ slot, from: node, x: slotX + own.width / 2, top: top + nodeHeight + gap, gap, many });
			if (slot.kind === "block") placeBlock(slot.block, own, slotX, top + nodeHeight + gap);
			slotX += own.width + gapX;
		}
		let y = top + nodeHeight + (block.slots.length > 0 ? gap + size.slotsHeight : 0);
		for (const join of block.joins) {
			const own = size.inner.get(join) as Size;
			placeBlock(join, own, x - own.width / 2, y + gapY);
			y += gapY + own.height;
		}
	};
	const { roots } = outline(graph);
	const main = roots.filter((root) => root.step.id === graph.entry);
	const others = roots.filter((root) => !main.includes(root));
	const top = margin + startHeight + gapY;
	let left = margin;
	let [width, height] = [margin + nodeWidth, top];
	let goals: Point | null = null;
	for (const block of [...main, ...others]) {
		const size = measure(block, nodeHeight);
		if (!main.includes(block)) {
			if (main.length === 0 && left === margin) left += nodeWidth + 2 * gapX;
			goals ??= { x: left, y: margin };
		}
		placeBlock(block, size, left, top);
		left += size.width + 2 * gapX;
		width = Math.max(width, left - 2 * gapX);
		height = Math.max(height, top + size.height);
	}
	const first = graph.entry ? nodeById.get(graph.entry) : undefined;
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
	for (const edge of pending) {
		const { slot, from, x, many } = edge;
		const y = from.y + nodeHeight;
		const bend = y + 18;
		const place = { from: from.id, label: slot.label };
		const start = [
			{ x: from.x, y },
			{ x: from.x, y: bend },
			{ x, y: bend },
		];
		const target = slot.kind === "join" || slot.kind === "loop" ? nodeById.get(slot.to) : undefined;
		const add = { x, y: many ? y + 66 : y + gapY / 2 };
		const label = many ? { x, y: y + 34 } : null;
		if (slot.kind === "block")
			lines.push({ place, kind: "block", path: drawn([...start, { x, y: edge.top }]), add, label, end: null });
		else if (slot.kind === "end" || !target)
			lines.push({
				place,
				kind: "end",
				path: drawn([...start, { x, y: edge.top }]),
				add,
				label,
				end: { x, y: edge.top },
			});
		else if (slot.kind === "join" && target.y > y) {
			const bendY = Math.max(target.y - 18, add.y + 14);
			lines.push({
				place,
				kind: "join",
				path: drawn([...start, { x, y: bendY }, { x: target.x, y: bendY }, { x: target.x, y: target.y }]),
				add,
				label,
				end: null,
			});
		} else {
			// On the right of all that is between, back to the side of the step.
			const edge = target.y <= from.y ? rightEdges.get(target.id) : undefined;
			if (edge !== undefined) rightEdges.set(target.id, edge - loopGap);
			const lineX = edge === undefined ? width + 20 + 14 * loops++ : edge - loopGap / 2;
			const bendY = add.y + 18;
			const targetY = target.y + nodeHeight / 2;
			lines.push({
				place,
				kind: "loop",
				path: drawn([
					...start,
					{ x, y: bendY },
					{ x: lineX, y: bendY },
					{ x: lineX, y: targetY },
					{ x: target.x + nodeWidth / 2 + 6, y: targetY },
				]),
				add,
				label,
				end: null,
			});
		}
	}
	for (const line of lines) height = Math.max(height, line.add.y + 24, (line.end?.y ?? 0) + 12);
	return {
		width: width + margin + (loops > 0 ? 20 + 14 * loops : 0),
		height: height + margin,
		nodes,
		lines,
		start,
		goals,
	};
}
