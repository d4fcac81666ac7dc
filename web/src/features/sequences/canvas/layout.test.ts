import { equals, holds, Random, type Tests } from "../../../base/testing";
import { empty, type Graph, placesOf, targetOf } from "../graph";
import { diamond, edit, line, step } from "../graph.test";
import { layoutOf, drawn, type Layout, nodeWidth, startHeight } from "./layout";

const nodeHeight = 72;

/** numbersIn returns the coordinates of a path, in order. */
const numbersIn = (path: string) => (path.match(/-?\d+(\.\d+)?/g) ?? []).map(Number);

/** ends returns where a path begins and ends. */
const ends = (path: string) => {
	const all = numbersIn(path);
	return { from: { x: all[0], y: all[1] }, to: { x: all.at(-2), y: all.at(-1) } };
};

/** pointsOf returns the points that a path was drawn through. */
const pointsOf = (path: string) =>
	[...path.matchAll(/(?:M|Q|L(?=[^Q]*$))(-?[\d.]+) (-?[\d.]+)/g)].map((match) => ({
		x: Number(match[1]),
		y: Number(match[2]),
	}));

const nodeOf = (layout: Layout, id: string | null) => layout.nodes.find((node) => node.id === id);

/** some returns graphs as they come from edits by chance. */
function* some(count: number): Generator<[graph: Graph, what: string]> {
	for (let seed = 1; seed <= count; seed++) {
		const random = new Random(seed);
		let graph = empty;
		for (let i = 0; i < 18; i++) graph = edit(graph, random);
		yield [graph, `seed ${seed}`];
	}
}

const tests: Tests = {
	"a path turns with round corners, which are smaller where it is short"() {
		const point = (x: number, y: number) => ({ x, y });
		equals(drawn([]), "");
		equals(drawn([point(0, 0), point(0, 50)]), "M0 0L0 50");
		equals(drawn([point(0, 0), point(0, 50), point(50, 50)]), "M0 0L0 40Q0 50 10 50L50 50");
		equals(drawn([point(0, 0), point(0, 8), point(50, 8)]), "M0 0L0 4Q0 8 4 8L50 8");
		equals(drawn([point(0, 0), point(0, 0), point(0, 50), point(0, 50)]), "M0 0L0 50", "points that are given twice");
	},
	"an empty graph has a start that ends"() {
		const layout = layoutOf(empty, nodeHeight);
		equals(
			[layout.nodes, layout.lines.map((line) => [line.kind, line.place])],
			[[], [["end", { from: null, label: null }]]],
		);
		holds(layout.lines[0]?.end !== null, "its line does not end");
	},
	"steps one after the other stand below each other"() {
		const layout = layoutOf(line(step("a"), step("b"), step("c")), nodeHeight);
		equals(new Set(layout.nodes.map((node) => node.x)).size, 1, "the number of columns");
		equals(
			layout.nodes.map((node) => node.id),
			["a", "b", "c"],
		);
		equals(layout.start.x, layout.nodes[0]?.x);
		equals(layout.goals, null);
	},
	"edges stand side by side in their order, and a join in the middle below"() {
		const layout = layoutOf(diamond(), nodeHeight);
		const [top, yes, no, last] = ["if", "yes", "no", "last"].map((id) => nodeOf(layout, id));
		holds((yes?.x ?? 0) < (no?.x ?? 0), "no is not on the right of yes");
		equals(yes?.y, no?.y);
		equals([top?.x, last?.x], [((yes?.x ?? 0) + (no?.x ?? 0)) / 2, top?.x]);
		holds((last?.y ?? 0) > (yes?.y ?? 0) + nodeHeight, "the join is not below its ways");
		equals(layout.lines.filter((line) => line.kind === "join").length, 2);
		equals(
			layout.lines.filter((line) => line.label !== null).map((line) => line.place.label),
			["true", "false"],
			"only ways of several have labels",
		);
	},
	"every step stands once, and none covers another"() {
		for (const [graph, description] of some(40)) {
			const layout = layoutOf(graph, nodeHeight);
			equals(layout.nodes.map((node) => node.id).sort(), graph.steps.map((step) => step.id).sort(), description);
			for (const [i, node] of layout.nodes.entries())
				for (const b of layout.nodes.slice(i + 1))
					holds(
						Math.abs(node.x - b.x) >= nodeWidth || Math.abs(node.y - b.y) >= nodeHeight,
						`${description}: ${node.id} covers ${b.id}`,
					);
		}
	},
	"the canvas is as large as what stands on it"() {
		for (const [graph, description] of some(40)) {
			const layout = layoutOf(graph, nodeHeight);
			const inside = (x: number, y: number) => x >= 0 && x <= layout.width && y >= 0 && y <= layout.height;
			for (const node of layout.nodes)
				holds(
					inside(node.x - nodeWidth / 2, node.y) && inside(node.x + nodeWidth / 2, node.y + nodeHeight),
					`${description}: ${node.id} is outside`,
				);
			holds(
				inside(layout.start.x - nodeWidth / 2, layout.start.y) &&
					inside(layout.start.x + nodeWidth / 2, layout.start.y),
				`${description}: the start`,
			);
			for (const line of layout.lines) {
				const all = numbersIn(line.path);
				for (let i = 0; i < all.length; i += 2)
					holds(
						inside(all[i] ?? 0, all[i + 1] ?? 0),
						`${description}: the line of ${line.place.from} ${line.place.label} leaves the canvas`,
					);
				holds(inside(line.add.x, line.add.y), `${description}: a step cannot be added after ${line.place.from}`);
			}
		}
	},
	"each outgoing edge of a step has a line, from the step to what it leads to"() {
		for (const [graph, description] of some(40)) {
			const layout = layoutOf(graph, nodeHeight);
			const places = [{ from: null, label: null }, ...graph.steps.flatMap(placesOf)];
			const written = (place: { from: string | null; label: string | null }) => `${place.from} ${place.label}`;
			equals(layout.lines.map((line) => written(line.place)).sort(), places.map(written).sort(), description);
			for (const line of layout.lines) {
				const { from, to } = ends(line.path);
				const source =
					line.place.from === null
						? { x: layout.start.x, y: layout.start.y + startHeight - nodeHeight }
						: nodeOf(layout, line.place.from);
				equals(
					[from.x, from.y],
					[source?.x, (source?.y ?? 0) + nodeHeight],
					`${description}: where ${written(line.place)} begins`,
				);
				const target = nodeOf(layout, targetOf(graph, line.place));
				if (!target) {
					equals(line.kind, "end", `${description}: the kind of ${written(line.place)}`);
					equals(line.end, to, `${description}: the end of ${written(line.place)}`);
				} else if (line.kind === "loop") {
					holds(
						(to.x ?? 0) > target.x && (to.y ?? 0) > target.y,
						`${description}: ${written(line.place)} does not come to the side`,
					);
				} else equals(to, { x: target.x, y: target.y }, `${description}: the target of ${written(line.place)}`);
			}
		}
	},
	"steps can be added at different places, none of which is on a step"() {
		for (const [graph, description] of some(40)) {
			const layout = layoutOf(graph, nodeHeight);
			const places = layout.lines.map((line) => `${line.add.x} ${line.add.y}`);
			equals(new Set(places).size, places.length, `${description}: the number of different places`);
			for (const { add, place } of layout.lines)
				for (const node of layout.nodes)
					holds(
						Math.abs(add.x - node.x) > nodeWidth / 2 || add.y <= node.y || add.y >= node.y + nodeHeight,
						`${description}: the place after ${place.from} ${place.label} is on ${node.id}`,
					);
		}
	},
	"lines go around steps, straight down or across"() {
		for (const [graph, description] of some(40)) {
			const layout = layoutOf(graph, nodeHeight);
			const right = Math.max(...layout.nodes.map((node) => node.x + nodeWidth / 2));
			for (const { path, place } of layout.lines) {
				const points = pointsOf(path);
				if (points.some((point) => point.x > right)) continue; // to another part of the graph, across what is between
				for (const [i, to] of points.entries()) {
					const from = points[i - 1];
					if (!from) continue;
					const text = `${description}: the line of ${place.from} ${place.label}`;
					holds(from.x === to.x || from.y === to.y, `${text} is slanted`);
					for (const node of layout.nodes)
						holds(
							Math.max(from.x, to.x) <= node.x - nodeWidth / 2 ||
								Math.min(from.x, to.x) >= node.x + nodeWidth / 2 ||
								Math.max(from.y, to.y) <= node.y ||
								Math.min(from.y, to.y) >= node.y + nodeHeight,
							`${text} goes through ${node.id}`,
						);
				}
			}
		}
	},
	"a label stands between its step and the place where one can be added"() {
		for (const [graph, description] of some(20)) {
			const layout = layoutOf(graph, nodeHeight);
			for (const { label, add, place } of layout.lines) {
				const bottom = (nodeOf(layout, place.from)?.y ?? 0) + nodeHeight;
				if (label)
					holds(
						label.x === add.x && bottom < label.y && label.y < add.y,
						`${description}: ${place.from} ${place.label}`,
					);
				if (place.from !== null) holds(add.y > bottom, `${description}: the place after ${place.from} is beside it`);
			}
		}
	},
	"lines that lead back go up beside each other"() {
		for (const [graph, description] of some(40)) {
			const layout = layoutOf(graph, nodeHeight);
			const bendXs = layout.lines
				.filter((line) => line.kind === "loop")
				.map((line) => Math.max(...pointsOf(line.path).map((corner) => corner.x)));
			equals(new Set(bendXs).size, bendXs.length, `${description}: the number of different sides`);
		}
	},
	"the same graph looks the same"() {
		for (const [graph] of some(5)) equals(layoutOf(structuredCopy(graph), nodeHeight), layoutOf(graph, nodeHeight));
	},
	"goals stand on the right, below their heading"() {
		const g = { ...line(step("a"), step("b")), steps: [...line(step("a"), step("b")).steps, step("goal", "goal")] };
		const layout = layoutOf(g, nodeHeight);
		const goal = nodeOf(layout, "goal");
		holds(
			(goal?.x ?? 0) - nodeWidth / 2 >= (nodeOf(layout, "a")?.x ?? 0) + nodeWidth / 2,
			"the goal is not on the right",
		);
		equals(layout.goals?.x, (goal?.x ?? 0) - nodeWidth / 2);
		holds((layout.goals?.y ?? 0) < (goal?.y ?? 0), "the heading is not above");
	},
};

const structuredCopy = (graph: Graph) => JSON.parse(JSON.stringify(graph)) as Graph;

export default tests;
