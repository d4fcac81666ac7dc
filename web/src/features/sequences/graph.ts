import type { Sequence, SetSequenceGraphRequestBody } from "../../api/schema";

// The model of a sequence's graph, which the outline and the canvas share: steps, and ways from one to the
// next. Its functions change nothing; they return new graphs. The server checks graphs; here they are only
// edited.

export type StepType =
	| "send"
	| "wait"
	| "condition"
	| "branch"
	| "split"
	| "list"
	| "tag"
	| "update_contact"
	| "stage"
	| "subscription"
	| "event"
	| "webhook"
	| "notify"
	| "enroll"
	| "goal"
	| "exit";

export type Config = { [name: string]: unknown };
export type Step = { id: string; type: StepType; config: Config };

/** Way leads from a step to the next; steps with one way out have the label null. */
export type Way = { from: string; label: string | null; to: string };

export type Graph = { entry: string | null; steps: Step[]; ways: Way[] };

/** Place is where a step can be put: at the start (from is null), or on a way out of a step. */
export type Place = { from: string | null; label: string | null };

export const empty: Graph = { entry: null, steps: [], ways: [] };

/** graphOf returns the graph of a sequence. */
export function graphOf(sequence: Sequence): Graph {
	return {
		entry: sequence.entry_node_id,
		steps: (sequence.nodes ?? []).map((node) => ({ id: node.id, type: node.type as StepType, config: node.config })),
		ways: (sequence.edges ?? []).map((edge) => ({ from: edge.from_node, label: edge.branch_label, to: edge.to_node })),
	};
}

/** bodyOf returns the request that stores a graph. */
export const bodyOf = (graph: Graph): SetSequenceGraphRequestBody => ({
	entry_node_id: graph.entry ?? "",
	nodes: graph.steps.map(({ id, type, config }) => ({ id, type, config })),
	edges: graph.ways.map((way) => ({ from_node: way.from, to_node: way.to, branch_label: way.label })),
});

export const stepOf = (graph: Graph, id: string | null | undefined) => graph.steps.find((step) => step.id === id);

/** targetOf returns the step that a place leads to; null if the path ends there. */
export const targetOf = (graph: Graph, place: Place): string | null =>
	place.from === null
		? graph.entry
		: (graph.ways.find((way) => way.from === place.from && way.label === place.label)?.to ?? null);

const listOf = (value: unknown): { label: string }[] =>
	(Array.isArray(value) ? value : []).map((branch) => ({
		label: String((branch as { label?: unknown })?.label ?? ""),
	}));

/** labelsOf returns the labels of the ways out of a step, in their order. */
export function labelsOf(step: Step): (string | null)[] {
	switch (step.type) {
		case "condition":
			return ["true", "false"];
		case "branch":
			return [...listOf(step.config.branches).map((list) => list.label), "else"];
		case "split":
			return listOf(step.config.branches).map((list) => list.label);
		case "wait":
			return ["until_event", "until_segment", "until_engagement"].includes(String(step.config.mode))
				? ["met", "timeout"]
				: [null];
		case "exit":
			return [];
		default:
			return [null];
	}
}

/** placesOf returns the places after a step. */
export const placesOf = (step: Step): Place[] => labelsOf(step).map((label) => ({ from: step.id, label }));

/** lead makes a place lead to a step, or end if it is null. */
export function lead(graph: Graph, place: Place, to: string | null): Graph {
	if (place.from === null) return { ...graph, entry: to };
	const at = graph.ways.findIndex((way) => way.from === place.from && way.label === place.label);
	if (to === null) return { ...graph, ways: graph.ways.filter((_, i) => i !== at) };
	const way = { from: place.from, label: place.label, to };
	return { ...graph, ways: at < 0 ? [...graph.ways, way] : graph.ways.map((w, i) => (i === at ? way : w)) };
}

/** waysInto returns the places that lead to a step. */
export function waysInto(graph: Graph, id: string): Place[] {
	const all: Place[] = graph.ways.filter((way) => way.to === id).map(({ from, label }) => ({ from, label }));
	return graph.entry === id ? [{ from: null, label: null }, ...all] : all;
}

/** insert puts a step at a place. What followed there follows on its first way out. */
export function insert(graph: Graph, place: Place, step: Step): Graph {
	const next = targetOf(graph, place);
	const placed = lead({ ...graph, steps: [...graph.steps, step] }, place, step.id);
	const [first] = labelsOf(step);
	if (next === null) return placed;
	return prune(first === undefined ? placed : lead(placed, { from: step.id, label: first }, next));
}

/** addApart adds a step that no way leads to: a goal, which people reach from anywhere. */
export const addApart = (graph: Graph, step: Step): Graph => ({ ...graph, steps: [...graph.steps, step] });

/** reached returns the steps to which ways lead from the start and from the goals. */
export function reached(graph: Graph): Set<string> {
	const found = new Set<string>();
	const todo = [graph.entry, ...graph.steps.filter((step) => step.type === "goal").map((step) => step.id)];
	while (todo.length > 0) {
		const id = todo.pop();
		if (!id || found.has(id) || !stepOf(graph, id)) continue;
		found.add(id);
		for (const way of graph.ways) if (way.from === id) todo.push(way.to);
	}
	return found;
}

/** prune drops the steps that nobody can reach, and ways from or to steps that do not exist. */
export function prune(graph: Graph): Graph {
	const keep = reached(graph);
	return {
		entry: graph.entry && keep.has(graph.entry) ? graph.entry : null,
		steps: graph.steps.filter((step) => keep.has(step.id)),
		ways: graph.ways.filter((way) => keep.has(way.from) && keep.has(way.to)),
	};
}

/**
 * remove takes a step out. The ways into it lead on to what follows on one of its ways out, or end if `keep`
 * is undefined. What only its other ways led to goes with it.
 */
export function remove(graph: Graph, id: string, keep: string | null | undefined): Graph {
	let next = keep === undefined ? null : targetOf(graph, { from: id, label: keep });
	if (next === id) next = null;
	let out = graph;
	for (const place of waysInto(graph, id)) if (place.from !== id) out = lead(out, place, next);
	out = { ...out, steps: out.steps.filter((step) => step.id !== id), ways: out.ways.filter((way) => way.from !== id) };
	return prune(out);
}

/** lost returns the steps of a graph that another one does not have. */
export const lost = (before: Graph, after: Graph): Step[] => before.steps.filter((step) => !stepOf(after, step.id));

/** removeAll takes several steps out; each is rejoined with what follows on its first way out. */
export function removeAll(graph: Graph, ids: string[]): Graph {
	let out = graph;
	for (const id of ids) {
		const step = stepOf(out, id);
		if (!step) continue;
		const labels = labelsOf(step);
		out = remove(out, id, labels.find((label) => targetOf(out, { from: id, label }) !== null) ?? undefined);
	}
	return out;
}

/**
 * configure changes what a step does. If its ways out have other labels then, they keep what they lead to by
 * their order; ways that are gone lead nowhere, and what only they led to is dropped.
 */
export function configure(graph: Graph, id: string, config: Config): Graph {
	const was = stepOf(graph, id);
	if (!was) return graph;
	const now = { ...was, config };
	const [from, to] = [labelsOf(was), labelsOf(now)];
	const out: Graph = { ...graph, steps: graph.steps.map((step) => (step.id === id ? now : step)) };
	if (JSON.stringify(from) === JSON.stringify(to)) return out;
	const targets = new Map<string | null, string>();
	const set = (label: string | null, t: string | null) => t !== null && !targets.has(label) && targets.set(label, t);
	const stays = (label: string | null) => from.includes(label) && to.includes(label);
	for (const label of from) if (stays(label)) set(label, targetOf(graph, { from: id, label }));
	if (from.length === to.length) {
		// A way was renamed.
		for (const [i, label] of from.entries())
			if (!stays(label)) set(to[i] ?? null, targetOf(graph, { from: id, label }));
	} else if (from.length === 1 || to.length === 1) {
		const first = from.find((label) => targetOf(graph, { from: id, label }) !== null);
		if (first !== undefined && to[0] !== undefined) set(to[0], targetOf(graph, { from: id, label: first }));
	}
	const ways = [...targets].map(([label, target]) => ({ from: id, label, to: target }));
	return prune({ ...out, ways: [...out.ways.filter((way) => way.from !== id), ...ways] });
}

/** Clip is what was copied: steps with the ways among them, and the ways that led out of them. */
export type Clip = { entry: string; steps: Step[]; ways: Way[]; out: Place[] };

/**
 * copy returns steps of a graph as they can be pasted; null if there are none. Where steps between them were not
 * chosen, the chosen ones follow on each other.
 */
export function copy(graph: Graph, ids: string[]): Clip | null {
	const selected = order(graph).filter((id) => ids.includes(id));
	const [entry] = selected;
	if (!entry) return null;
	const steps = selected.map((id) => stepOf(graph, id)).filter((step): step is Step => step !== undefined);
	const inside = (id: string) => selected.includes(id);
	let part: Graph = { entry, steps, ways: graph.ways.filter((way) => inside(way.from) && inside(way.to)) };
	for (const step of steps) {
		const found = reached(part);
		if (found.has(step.id)) continue;
		const open = steps.filter((step) => found.has(step.id)).flatMap(placesOf);
		const end = open.filter((place) => targetOf(part, place) === null).at(-1);
		if (end) part = lead(part, end, step.id);
	}
	part = prune(part);
	const out = graph.ways
		.filter((way) => stepOf(part, way.from) && targetOf(part, way) === null)
		.map(({ from, label }) => ({ from, label }));
	return { entry, steps: part.steps, ways: part.ways, out };
}

/** paste puts a copy at a place, with new ids. What followed there follows where the copy's ways led out. */
export function paste(graph: Graph, place: Place, clip: Clip, name: (type: StepType) => string): Graph {
	const ids = new Map(clip.steps.map((step) => [step.id, name(step.type)]));
	const renamed = (id: string) => ids.get(id) ?? id;
	const next = targetOf(graph, place);
	const steps = clip.steps.map((step) => {
		const node = step.config.node_id;
		return {
			...step,
			id: renamed(step.id),
			config: typeof node === "string" && ids.has(node) ? { ...step.config, node_id: renamed(node) } : step.config,
		};
	});
	let out: Graph = {
		...graph,
		steps: [...graph.steps, ...steps],
		ways: [...graph.ways, ...clip.ways.map((way) => ({ ...way, from: renamed(way.from), to: renamed(way.to) }))],
	};
	out = lead(out, place, renamed(clip.entry));
	if (next === null) return prune(out);
	let exits = clip.out.map((place) => ({ from: place.from === null ? null : renamed(place.from), label: place.label }));
	if (exits.length === 0) {
		const open = steps.flatMap(placesOf).filter((place) => targetOf(out, place) === null);
		exits = open.slice(0, 1);
	}
	for (const exit of exits) out = lead(out, exit, next);
	return prune(out);
}

/** order returns the steps as one reads them: along each way to its end, then the next way, joins after all ways into them. */
export function order(graph: Graph): string[] {
	const out: string[] = [];
	const walk = (block: Block) => {
		out.push(block.step.id);
		for (const slot of block.slots) if (slot.kind === "block") walk(slot.block);
		for (const join of block.joins) walk(join);
	};
	for (const root of outline(graph).roots) walk(root);
	return out;
}

// The structure that both views draw: each step with its ways out side by side below it, and below all of
// them the steps where they join again.

export type Slot = { label: string | null } & (
	| { kind: "block"; block: Block }
	| { kind: "end" }
	| { kind: "join" | "loop"; to: string }
);
export type Block = { step: Step; slots: Slot[]; joins: Block[] };
export type Outline = { roots: Block[] };

/** outline arranges a graph: the block of the start, then those of steps that no way from the start leads to. */
export function outline(graph: Graph): Outline {
	const seen = new Set<string>();
	const roots: Block[] = [];
	const starts = [
		graph.entry,
		...graph.steps.filter((step) => step.type === "goal").map((step) => step.id),
		...graph.steps.map((step) => step.id),
	];
	for (const id of starts) {
		if (!id || seen.has(id) || !stepOf(graph, id)) continue;
		roots.push(arrange(graph, id, seen));
	}
	return { roots };
}

/** arrange returns the block of a step with all that it leads to and that is not in another block yet. */
function arrange(graph: Graph, root: string, seen: Set<string>): Block {
	// Steps in topological order of the ways that do not lead back.
	const back = new Set<string>();
	const sorted: string[] = [];
	const state = new Map<string, 1 | 2>();
	const key = (place: Place) => `${place.from} ${place.label ?? ""}`;
	const visit = (id: string) => {
		state.set(id, 1);
		const step = stepOf(graph, id);
		for (const place of step ? placesOf(step).reverse() : []) {
			const to = targetOf(graph, place);
			if (!to || !stepOf(graph, to) || seen.has(to)) continue;
			if (state.get(to) === 1) back.add(key(place));
			else if (!state.has(to)) visit(to);
		}
		state.set(id, 2);
		sorted.unshift(id);
	};
	visit(root);
	const rank = new Map(sorted.map((id, i) => [id, i]));
	// The step through which all ways to a step lead (its dominator): it belongs into the block of that one.
	const above = new Map<string, string>();
	const meet = (a: string, b: string): string => {
		let [x, y] = [a, b];
		while (x !== y) {
			if ((rank.get(x) ?? 0) > (rank.get(y) ?? 0)) x = above.get(x) ?? root;
			else y = above.get(y) ?? root;
		}
		return x;
	};
	const into = new Map<string, number>();
	for (const id of sorted) {
		const step = stepOf(graph, id);
		for (const place of step ? placesOf(step) : []) {
			const to = targetOf(graph, place);
			if (!to || !rank.has(to) || back.has(key(place))) continue;
			into.set(to, (into.get(to) ?? 0) + 1);
			above.set(to, above.has(to) ? meet(above.get(to) as string, id) : id);
		}
	}
	const block = (id: string): Block => {
		seen.add(id);
		const step = stepOf(graph, id) as Step;
		const own = sorted.filter((other) => other !== root && above.get(other) === id);
		const slots = placesOf(step).map((place): Slot => {
			const to = targetOf(graph, place);
			const { label } = place;
			if (!to || !stepOf(graph, to)) return { label, kind: "end" };
			if (back.has(key(place))) return { label, kind: "loop", to };
			if (own.includes(to) && into.get(to) === 1) return { label, kind: "block", block: block(to) };
			return { label, kind: rank.has(to) ? "join" : "loop", to };
		});
		const joins = own.filter((id) => (into.get(id) ?? 0) > 1).map(block);
		return { step, slots, joins };
	};
	return block(root);
}

// Moving between steps.

export type Direction = "up" | "down" | "left" | "right";

/** neighbour returns the step that an arrow key leads to: along the ways, or between ways that are side by side. */
export function neighbour(graph: Graph, id: string, to: Direction): string | null {
	const { roots } = outline(graph);
	const parents = new Map<string, { block: Block; slot: number | null }>();
	const blocks = new Map<string, Block>();
	const note = (block: Block) => {
		blocks.set(block.step.id, block);
		for (const [i, slot] of block.slots.entries())
			if (slot.kind === "block") {
				parents.set(slot.block.step.id, { block, slot: i });
				note(slot.block);
			}
		for (const join of block.joins) {
			parents.set(join.step.id, { block, slot: null });
			note(join);
		}
	};
	for (const root of roots) note(root);
	const block = blocks.get(id);
	if (!block) return roots[0]?.step.id ?? null;
	if (to === "down") {
		for (const slot of block.slots) if (slot.kind === "block") return slot.block.step.id;
		for (const slot of block.slots) if (slot.kind === "join") return slot.to;
		return block.joins[0]?.step.id ?? null;
	}
	if (to === "up") {
		const parent = parents.get(id);
		if (parent?.slot !== null) return parent?.block.step.id ?? null;
		return (
			waysInto(graph, id).find((place) => place.from !== null && place.from !== id && blocks.has(place.from))?.from ??
			parent.block.step.id
		);
	}
	// Up to the nearest step with several ways, then to the way beside this one.
	const offset = to === "left" ? -1 : 1;
	for (let at = parents.get(id); at; at = parents.get(at.block.step.id)) {
		if (at.slot === null || at.block.slots.length < 2) continue;
		for (let i = at.slot + offset; i >= 0 && i < at.block.slots.length; i += offset) {
			const slot = at.block.slots[i];
			if (slot?.kind === "block") return slot.block.step.id;
		}
	}
	const root = roots.findIndex((root) => has(root, id));
	return roots[root + offset]?.step.id ?? null;
}

const has = (block: Block, id: string): boolean =>
	block.step.id === id ||
	block.joins.some((join) => has(join, id)) ||
	block.slots.some((slot) => slot.kind === "block" && has(slot.block, id));

// What differs between two graphs.

export type Difference = { added: Step[]; changed: Step[]; removed: Step[]; moved: boolean };

const plain = (value: unknown, nulls = false): unknown => {
	if (Array.isArray(value)) return value.map((item) => plain(item));
	if (value === null || typeof value !== "object") return value;
	return Object.fromEntries(
		Object.entries(value)
			.filter(([, value]) => value !== undefined && (nulls || value !== null))
			.sort(([a], [b]) => (a < b ? -1 : 1))
			.map(([key, value]) => [key, plain(value, key === "headers")]),
	);
};

/** same reports whether two values are the same in JSON, absent and null members alike but for headers, where null is a value that is stored. */
export const same = (a: unknown, b: unknown) => JSON.stringify(plain(a)) === JSON.stringify(plain(b));

const waysText = (graph: Graph) =>
	[`:${graph.entry}`, ...graph.ways.map((way) => `${way.from}:${way.label ?? ""}:${way.to}`)].sort().join("\n");

/** equal reports whether two graphs lead people in the same way. */
export const equal = (graph: Graph, b: Graph) => {
	const d = difference(graph, b);
	return !d.moved && d.added.length + d.changed.length + d.removed.length === 0;
};

/** difference tells what was changed from a graph to another. */
export function difference(was: Graph, now: Graph): Difference {
	return {
		added: now.steps.filter((step) => !stepOf(was, step.id)),
		changed: now.steps.filter((step) => {
			const old = stepOf(was, step.id);
			return old && (old.type !== step.type || !same(old.config, step.config));
		}),
		removed: lost(was, now),
		moved: waysText(was) !== waysText(now),
	};
}

// Undo and redo.

export type History = { past: Graph[]; now: Graph; future: Graph[]; of: string };

const maxSteps = 100;

export const begin = (graph: Graph): History => ({ past: [], now: graph, future: [], of: "" });

/** push adds a change. Changes of the same kind one after the other, such as typing into one step, are undone together. */
export function push(history: History, graph: Graph, of = ""): History {
	if (graph === history.now) return history;
	if (of && of === history.of) return { ...history, now: graph, future: [] };
	return { past: [...history.past, history.now].slice(-maxSteps), now: graph, future: [], of };
}

export function undo(history: History): History {
	const now = history.past.at(-1);
	return now ? { past: history.past.slice(0, -1), now, future: [history.now, ...history.future], of: "" } : history;
}

export function redo(history: History): History {
	const [now, ...future] = history.future;
	return now ? { past: [...history.past, history.now], now, future, of: "" } : history;
}
