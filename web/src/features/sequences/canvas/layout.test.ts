import { equals, holds, Random, type Tests } from "../../../base/testing";
import { empty, type Graph, placesOf, targetOf } from "../graph";
import { diamond, edit, line, step } from "../graph.test";
import { arranged, drawn, type Layout, nodeWidth, startHeight } from "./layout";

const nodeHeight = 72;

/** numbersIn returns the coordinates of a path, in order. */
const numbersIn = (path: string) => (path.match(/-?\d+(\.\d+)?/g) ?? []).map(Number);

/** ends returns where a path begins and ends. */
const ends = (path: string) => {
	const all = numbersIn(path);
	return { from: { x: all[0], y: all[1] }, to: { x: all.at(-2), y: all.at(-1) } };
};

/** corners returns the points that a path was drawn through. */
const corners = (path: string) =>
	[...path.matchAll(/(?:M|Q|L(?=[^Q]*$))(-?[\d.]+) (-?[\d.]+)/g)].map((m) => ({ x: Number(m[1]), y: Number(m[2]) }));

const nodeOf = (l: Layout, id: string | null) => l.nodes.find((n) => n.id === id);

/** some returns graphs as they come from edits by chance. */
function* some(count: number): Generator<[graph: Graph, what: string]> {
	for (let seed = 1; seed <= count; seed++) {
		const random = new Random(seed);
		let g = empty;
		for (let i = 0; i < 18; i++) g = edit(g, random);
		yield [g, `seed ${seed}`];
	}
}

const tests: Tests = {
	"a path turns with round corners, which are smaller where it is short"() {
		const at = (x: number, y: number) => ({ x, y });
		equals(drawn([]), "");
		equals(drawn([at(0, 0), at(0, 50)]), "M0 0L0 50");
		equals(drawn([at(0, 0), at(0, 50), at(50, 50)]), "M0 0L0 40Q0 50 10 50L50 50");
		equals(drawn([at(0, 0), at(0, 8), at(50, 8)]), "M0 0L0 4Q0 8 4 8L50 8");
		equals(drawn([at(0, 0), at(0, 0), at(0, 50), at(0, 50)]), "M0 0L0 50", "points that are given twice");
	},
	"an empty graph has a start that ends"() {
		const l = arranged(empty, nodeHeight);
		equals([l.nodes, l.lines.map((x) => [x.kind, x.place])], [[], [["end", { from: null, label: null }]]]);
		holds(l.lines[0]?.end !== null, "its line does not end");
	},
	"steps one after the other stand below each other"() {
		const l = arranged(line(step("a"), step("b"), step("c")), nodeHeight);
		equals(new Set(l.nodes.map((n) => n.x)).size, 1, "the number of columns");
		equals(
			l.nodes.map((n) => n.id),
			["a", "b", "c"],
		);
		equals(l.start.x, l.nodes[0]?.x);
		equals(l.goals, null);
	},
	"ways stand side by side in their order, and a join in the middle below"() {
		const l = arranged(diamond(), nodeHeight);
		const [top, yes, no, last] = ["if", "yes", "no", "last"].map((id) => nodeOf(l, id));
		holds((yes?.x ?? 0) < (no?.x ?? 0), "no is not on the right of yes");
		equals(yes?.y, no?.y);
		equals([top?.x, last?.x], [((yes?.x ?? 0) + (no?.x ?? 0)) / 2, top?.x]);
		holds((last?.y ?? 0) > (yes?.y ?? 0) + nodeHeight, "the join is not below its ways");
		equals(l.lines.filter((x) => x.kind === "join").length, 2);
		equals(
			l.lines.filter((x) => x.label !== null).map((x) => x.place.label),
			["true", "false"],
			"only ways of several have labels",
		);
	},
	"every step stands once, and none covers another"() {
		for (const [g, what] of some(40)) {
			const l = arranged(g, nodeHeight);
			equals(l.nodes.map((n) => n.id).sort(), g.steps.map((s) => s.id).sort(), what);
			for (const [i, a] of l.nodes.entries())
				for (const b of l.nodes.slice(i + 1))
					holds(
						Math.abs(a.x - b.x) >= nodeWidth || Math.abs(a.y - b.y) >= nodeHeight,
						`${what}: ${a.id} covers ${b.id}`,
					);
		}
	},
	"the canvas is as large as what stands on it"() {
		for (const [g, what] of some(40)) {
			const l = arranged(g, nodeHeight);
			const inside = (x: number, y: number) => x >= 0 && x <= l.width && y >= 0 && y <= l.height;
			for (const n of l.nodes)
				holds(
					inside(n.x - nodeWidth / 2, n.y) && inside(n.x + nodeWidth / 2, n.y + nodeHeight),
					`${what}: ${n.id} is outside`,
				);
			holds(
				inside(l.start.x - nodeWidth / 2, l.start.y) && inside(l.start.x + nodeWidth / 2, l.start.y),
				`${what}: the start`,
			);
			for (const x of l.lines) {
				const all = numbersIn(x.path);
				for (let i = 0; i < all.length; i += 2)
					holds(
						inside(all[i] ?? 0, all[i + 1] ?? 0),
						`${what}: the line of ${x.place.from} ${x.place.label} leaves the canvas`,
					);
				holds(inside(x.add.x, x.add.y), `${what}: a step cannot be added after ${x.place.from}`);
			}
		}
	},
	"each way out of a step has a line, from the step to what it leads to"() {
		for (const [g, what] of some(40)) {
			const l = arranged(g, nodeHeight);
			const places = [{ from: null, label: null }, ...g.steps.flatMap(placesOf)];
			const written = (p: { from: string | null; label: string | null }) => `${p.from} ${p.label}`;
			equals(l.lines.map((x) => written(x.place)).sort(), places.map(written).sort(), what);
			for (const x of l.lines) {
				const { from, to } = ends(x.path);
				const source =
					x.place.from === null ? { x: l.start.x, y: l.start.y + startHeight - nodeHeight } : nodeOf(l, x.place.from);
				equals(
					[from.x, from.y],
					[source?.x, (source?.y ?? 0) + nodeHeight],
					`${what}: where ${written(x.place)} begins`,
				);
				const target = nodeOf(l, targetOf(g, x.place));
				if (!target) {
					equals(x.kind, "end", `${what}: the kind of ${written(x.place)}`);
					equals(x.end, to, `${what}: the end of ${written(x.place)}`);
				} else if (x.kind === "loop") {
					holds(
						(to.x ?? 0) > target.x && (to.y ?? 0) > target.y,
						`${what}: ${written(x.place)} does not come to the side`,
					);
				} else equals(to, { x: target.x, y: target.y }, `${what}: the target of ${written(x.place)}`);
			}
		}
	},
	"steps can be added at different places, none of which is on a step"() {
		for (const [g, what] of some(40)) {
			const l = arranged(g, nodeHeight);
			const places = l.lines.map((x) => `${x.add.x} ${x.add.y}`);
			equals(new Set(places).size, places.length, `${what}: the number of different places`);
			for (const { add, place } of l.lines)
				for (const n of l.nodes)
					holds(
						Math.abs(add.x - n.x) > nodeWidth / 2 || add.y <= n.y || add.y >= n.y + nodeHeight,
						`${what}: the place after ${place.from} ${place.label} is on ${n.id}`,
					);
		}
	},
	"lines go around steps, straight down or across"() {
		for (const [g, what] of some(40)) {
			const l = arranged(g, nodeHeight);
			const right = Math.max(...l.nodes.map((n) => n.x + nodeWidth / 2));
			for (const { path, place } of l.lines) {
				const points = corners(path);
				if (points.some((p) => p.x > right)) continue; // to another part of the graph, across what is between
				for (const [i, to] of points.entries()) {
					const from = points[i - 1];
					if (!from) continue;
					const said = `${what}: the line of ${place.from} ${place.label}`;
					holds(from.x === to.x || from.y === to.y, `${said} is slanted`);
					for (const n of l.nodes)
						holds(
							Math.max(from.x, to.x) <= n.x - nodeWidth / 2 ||
								Math.min(from.x, to.x) >= n.x + nodeWidth / 2 ||
								Math.max(from.y, to.y) <= n.y ||
								Math.min(from.y, to.y) >= n.y + nodeHeight,
							`${said} goes through ${n.id}`,
						);
				}
			}
		}
	},
	"a label stands between its step and the place where one can be added"() {
		for (const [g, what] of some(20)) {
			const l = arranged(g, nodeHeight);
			for (const { label, add, place } of l.lines) {
				const bottom = (nodeOf(l, place.from)?.y ?? 0) + nodeHeight;
				if (label)
					holds(label.x === add.x && bottom < label.y && label.y < add.y, `${what}: ${place.from} ${place.label}`);
				if (place.from !== null) holds(add.y > bottom, `${what}: the place after ${place.from} is beside it`);
			}
		}
	},
	"lines that lead back go up beside each other"() {
		for (const [g, what] of some(40)) {
			const l = arranged(g, nodeHeight);
			const sides = l.lines.filter((x) => x.kind === "loop").map((x) => Math.max(...corners(x.path).map((p) => p.x)));
			equals(new Set(sides).size, sides.length, `${what}: the number of different sides`);
		}
	},
	"the same graph looks the same"() {
		for (const [g] of some(5)) equals(arranged(structuredCopy(g), nodeHeight), arranged(g, nodeHeight));
	},
	"goals stand on the right, below their heading"() {
		const g = { ...line(step("a"), step("b")), steps: [...line(step("a"), step("b")).steps, step("goal", "goal")] };
		const l = arranged(g, nodeHeight);
		const goal = nodeOf(l, "goal");
		holds((goal?.x ?? 0) - nodeWidth / 2 >= (nodeOf(l, "a")?.x ?? 0) + nodeWidth / 2, "the goal is not on the right");
		equals(l.goals?.x, (goal?.x ?? 0) - nodeWidth / 2);
		holds((l.goals?.y ?? 0) < (goal?.y ?? 0), "the heading is not above");
	},
};

const structuredCopy = (g: Graph) => JSON.parse(JSON.stringify(g)) as Graph;

export default tests;
