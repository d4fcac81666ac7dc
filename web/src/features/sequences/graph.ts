import type { Sequence, SetSequenceGraphRequestBody } from "../../api/schema";

// The model of a sequence's graph, which the outline and the canvas share: steps, and edges from one to the
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

/** Edge leads from a step to the next; steps with one outgoing edge have the label null. */
export type Edge = { from: string; label: string | null; to: string };

export type Graph = { entry: string | null; steps: Step[]; edges: Edge[] };

/** Place is where a step can be put: at the start (from is null), or on an outgoing edge of a step. */
export type Place = { from: string | null; label: string | null };

export const empty: Graph = { entry: null, steps: [], edges: [] };

/** graphOf returns the graph of a sequence. */
export function graphOf(sequence: Sequence): Graph {
	return {
		entry: sequence.entry_node_id,
		steps: (sequence.nodes ?? []).map((node) => ({ id: node.id, type: node.type as StepType, config: node.config })),
		edges: (sequence.edges ?? []).map((edge) => ({ from: edge.from_node, label: edge.branch_label, to: edge.to_node })),
	};
}

/** bodyOf returns the request that stores a graph. */
export const bodyOf = (graph: Graph): SetSequenceGraphRequestBody => ({
	entry_node_id: graph.entry ?? "",
	nodes: graph.steps.map(({ id, type, config }) => ({ id, type, config })),
	edges: graph.edges.map((edge) => ({ from_node: edge.from, to_node: edge.to, branch_label: edge.label })),
});

export const stepOf = (graph: Graph, id: string | null | undefined) => graph.steps.find((step) => step.id === id);

/** targetOf returns the step that a place leads to; null if the path ends there. */
export const targetOf = (graph: Graph, place: Place): string | null =>
	place.from === null
		? graph.entry
		: (graph.edges.find((edge) => edge.from === place.from && edge.label === place.label)?.to ?? null);

const listOf = (value: unknown): { label: string }[] =>
	(Array.isArray(value) ? value : []).map((branch) => ({
		label: String((branch as { label?: unknown })?.label ?? ""),
	}));

/** labelsOf returns the labels of the outgoing edges of a step, in their order. */
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

/** connect makes a place lead to a step, or end if it is null. */
export function connect(graph: Graph, place: Place, to: string | null): Graph {
	if (place.from === null) return { ...graph, entry: to };
	const index = graph.edges.findIndex((edge) => edge.from === place.from && edge.label === place.label);
	if (to === null) return { ...graph, edges: graph.edges.filter((_, i) => i !== index) };
	const edge = { from: place.from, label: place.label, to };
	return { ...graph, edges: index < 0 ? [...graph.edges, edge] : graph.edges.map((w, i) => (i === index ? edge : w)) };
}

/** edgesInto returns the places that lead to a step. */
export function edgesInto(graph: Graph, id: string): Place[] {
	const all: Place[] = graph.edges.filter((edge) => edge.to === id).map(({ from, label }) => ({ from, label }));
	return graph.entry === id ? [{ from: null, label: null }, ...all] : all;
}

/** insert puts a step at a place. What followed there follows on its first outgoing edge. */
export function insert(graph: Graph, place: Place, step: Step): Graph {
	const next = targetOf(graph, place);
	const placed = connect({ ...graph, steps: [...graph.steps, step] }, place, step.id);
	const [first] = labelsOf(step);
	if (next === null) return placed;
	return prune(first === undefined ? placed : connect(placed, { from: step.id, label: first }, next));
}

/** addDetached adds a step that no edge leads to: a goal, which people reach from anywhere. */
export const addDetached = (graph: Graph, step: Step): Graph => ({ ...graph, steps: [...graph.steps, step] });

/** reachableSteps returns the steps to which edges lead from the start and from the goals. */
export function reachableSteps(graph: Graph): Set<string> {
	const found = new Set<string>();
	const todo = [graph.entry, ...graph.steps.filter((step) => step.type === "goal").map((step) => step.id)];
	while (todo.length > 0) {
		const id = todo.pop();
		if (!id || found.has(id) || !stepOf(graph, id)) continue;
		found.add(id);
		for (const edge of graph.edges) if (edge.from === id) todo.push(edge.to);
	}
	return found;
}

/** prune drops the steps that nobody can reach, and edges from or to steps that do not exist. */
export function prune(graph: Graph): Graph {
	const reachable = reachableSteps(graph);
	return {
		entry: graph.entry && reachable.has(graph.entry) ? graph.entry : null,
		steps: graph.steps.filter((step) => reachable.has(step.id)),
		edges: graph.edges.filter((edge) => reachable.has(edge.from) && reachable.has(edge.to)),
	};
}

/**
 * remove takes a step out. The edges into it lead on to what follows on one of its outgoing edges, or end if `keep`
 * is undefined. Steps that only its other edges led to are removed too.
 */
export function remove(graph: Graph, id: string, keptBranch: string | null | undefined): Graph {
	let next = keptBranch === undefined ? null : targetOf(graph, { from: id, label: keptBranch });
	if (next === id) next = null;
	let result = graph;
	for (const place of edgesInto(graph, id)) if (place.from !== id) result = connect(result, place, next);
	result = {
		...result,
		steps: result.steps.filter((step) => step.id !== id),
		edges: result.edges.filter((edge) => edge.from !== id),
	};
	return prune(result);
}

/** lostSteps returns the steps of a graph that another one does not have. */
export const lostSteps = (before: Graph, after: Graph): Step[] =>
	before.steps.filter((step) => !stepOf(after, step.id));

/** removeAll takes several steps out; each is rejoined with what follows on its first outgoing edge. */
export function removeAll(graph: Graph, ids: string[]): Graph {
	let result = graph;
	for (const id of ids) {
		const step = stepOf(result, id);
		if (!step) continue;
		const labels = labelsOf(step);
		result = remove(result, id, labels.find((label) => targetOf(result, { from: id, label }) !== null) ?? undefined);
	}
	return result;
}

/**
 * configure changes what a step does. If its outgoing edges have other labels then, they keep what they lead to by
 * their order; edges that are gone lead nowhere, and what only they led to is dropped.
 */
export function configure(graph: Graph, id: string, config: Config): Graph {
	const before = stepOf(graph, id);
	if (!before) return graph;
	const now = { ...before, config };
	const [from, to] = [labelsOf(before), labelsOf(now)];
	const result: Graph = { ...graph, steps: graph.steps.map((step) => (step.id === id ? now : step)) };
	if (JSON.stringify(from) === JSON.stringify(to)) return result;
	const targets = new Map<string | null, string>();
	const set = (label: string | null, t: string | null) => t !== null && !targets.has(label) && targets.set(label, t);
	const isKept = (label: string | null) => from.includes(label) && to.includes(label);
	for (const label of from) if (isKept(label)) set(label, targetOf(graph, { from: id, label }));
	if (from.length === to.length) {
		// An edge was renamed.
		for (const [i, label] of from.entries())
			if (!isKept(label)) set(to[i] ?? null, targetOf(graph, { from: id, label }));
	} else if (from.length === 1 || to.length === 1) {
		const first = from.find((label) => targetOf(graph, { from: id, label }) !== null);
		if (first !== undefined && to[0] !== undefined) set(to[0], targetOf(graph, { from: id, label: first }));
	}
	const edges = [...targets].map(([label, target]) => ({ from: id, label, to: target }));
	return prune({ ...result, edges: [...result.edges.filter((edge) => edge.from !== id), ...edges] });
}

/** Clip is what was copied: steps with the edges among them, and the edges that led out of them. */
export type Clip = { entry: string; steps: Step[]; edges: Edge[]; exits: Place[] };

/**
 * copy returns steps of a graph as they can be pasted; null if there are none. Where steps between them were not
 * chosen, the chosen ones follow on each other.
 */
export function copy(graph: Graph, ids: string[]): Clip | null {
	const selected = order(graph).filter((id) => ids.includes(id));
	const [entry] = selected;
	if (!entry) return null;
	const steps = selected.map((id) => stepOf(graph, id)).filter((step): step is Step => step !== undefined);
	const isSelected = (id: string) => selected.includes(id);
	let part: Graph = { entry, steps, edges: graph.edges.filter((edge) => isSelected(edge.from) && isSelected(edge.to)) };
	for (const step of steps) {
		const found = reachableSteps(part);
		if (found.has(step.id)) continue;
		const open = steps.filter((step) => found.has(step.id)).flatMap(placesOf);
		const end = open.filter((place) => targetOf(part, place) === null).at(-1);
		if (end) part = connect(part, end, step.id);
	}
	part = prune(part);
	const exits = graph.edges
		.filter((edge) => stepOf(part, edge.from) && targetOf(part, edge) === null)
		.map(({ from, label }) => ({ from, label }));
	return { entry, steps: part.steps, edges: part.edges, exits };
}

/** paste puts a copy at a place, with new ids. What followed there follows where the copy's edges led out. */
export function paste(graph: Graph, place: Place, clipboardContent: Clip, name: (type: StepType) => string): Graph {
	const ids = new Map(clipboardContent.steps.map((step) => [step.id, name(step.type)]));
	const renamed = (id: string) => ids.get(id) ?? id;
	const next = targetOf(graph, place);
	const steps = clipboardContent.steps.map((step) => {
		const node = step.config.node_id;
		return {
			...step,
			id: renamed(step.id),
			config: typeof node === "string" && ids.has(node) ? { ...step.config, node_id: renamed(node) } : step.config,
		};
	});
	let result: Graph = {
		...graph,
		steps: [...graph.steps, ...steps],
		edges: [
			...graph.edges,
			...clipboardContent.edges.map((edge) => ({ ...edge, from: renamed(edge.from), to: renamed(edge.to) })),
		],
	};
	result = connect(result, place, renamed(clipboardContent.entry));
	if (next === null) return prune(result);
	let exits = clipboardContent.exits.map((place) => ({
		from: place.from === null ? null : renamed(place.from),
		label: place.label,
	}));
	if (exits.length === 0) {
		const open = steps.flatMap(placesOf).filter((place) => targetOf(result, place) === null);
		exits = open.slice(0, 1);
	}
	for (const exit of exits) result = connect(result, exit, next);
	return prune(result);
}

/** order returns the steps as one reads them: along each edge to its end, then the next edge, joins after all edges into them. */
export function order(graph: Graph): string[] {
	const result: string[] = [];
	const visit = (block: Block) => {
		result.push(block.step.id);
		for (const slot of block.slots) if (slot.kind === "block") visit(slot.block);
		for (const join of block.joins) visit(join);
	};
	for (const root of outline(graph).roots) visit(root);
	return result;
}

// The structure that both views draw: each step with its outgoing edges side by side below it, and below all of
// them the steps where they join again.

export type Slot = { label: string | null } & (
	| { kind: "block"; block: Block }
	| { kind: "end" }
	| { kind: "join" | "loop"; to: string }
);
export type Block = { step: Step; slots: Slot[]; joins: Block[] };
export type Outline = { roots: Block[] };

/** outline arranges a graph: the block of the start, then those of steps that no edge from the start leads to. */
export function outline(graph: Graph): Outline {
	const visited = new Set<string>();
	const roots: Block[] = [];
	const starts = [
		graph.entry,
		...graph.steps.filter((step) => step.type === "goal").map((step) => step.id),
		...graph.steps.map((step) => step.id),
	];
	for (const id of starts) {
		if (!id || visited.has(id) || !stepOf(graph, id)) continue;
		roots.push(arrange(graph, id, visited));
	}
	return { roots };
}

/** arrange returns the block of a step with all that it leads to and that is not in another block yet. */
function arrange(graph: Graph, root: string, visited: Set<string>): Block {
	// Steps in topological order of the edges that do not lead back.
	const backEdges = new Set<string>();
	const sorted: string[] = [];
	const state = new Map<string, 1 | 2>();
	const key = (place: Place) => `${place.from} ${place.label ?? ""}`;
	const visit = (id: string) => {
		state.set(id, 1);
		const step = stepOf(graph, id);
		for (const place of step ? placesOf(step).reverse() : []) {
			const to = targetOf(graph, place);
			if (!to || !stepOf(graph, to) || visited.has(to)) continue;
			if (state.get(to) === 1) backEdges.add(key(place));
			else if (!state.has(to)) visit(to);
		}
		state.set(id, 2);
		sorted.unshift(id);
	};
	visit(root);
	const rank = new Map(sorted.map((id, i) => [id, i]));
	// The step through which all edges to a step lead (its dominator): it belongs into the block of that one.
	const dominators = new Map<string, string>();
	const commonDominator = (a: string, b: string): string => {
		let [x, y] = [a, b];
		while (x !== y) {
			if ((rank.get(x) ?? 0) > (rank.get(y) ?? 0)) x = dominators.get(x) ?? root;
			else y = dominators.get(y) ?? root;
		}
		return x;
	};
	const inDegree = new Map<string, number>();
	for (const id of sorted) {
		const step = stepOf(graph, id);
		for (const place of step ? placesOf(step) : []) {
			const to = targetOf(graph, place);
			if (!to || !rank.has(to) || backEdges.has(key(place))) continue;
			inDegree.set(to, (inDegree.get(to) ?? 0) + 1);
			dominators.set(to, dominators.has(to) ? commonDominator(dominators.get(to) as string, id) : id);
		}
	}
	const block = (id: string): Block => {
		visited.add(id);
		const step = stepOf(graph, id) as Step;
		const own = sorted.filter((other) => other !== root && dominators.get(other) === id);
		const slots = placesOf(step).map((place): Slot => {
			const to = targetOf(graph, place);
			const { label } = place;
			if (!to || !stepOf(graph, to)) return { label, kind: "end" };
			if (backEdges.has(key(place))) return { label, kind: "loop", to };
			if (own.includes(to) && inDegree.get(to) === 1) return { label, kind: "block", block: block(to) };
			return { label, kind: rank.has(to) ? "join" : "loop", to };
		});
		const joins = own.filter((id) => (inDegree.get(id) ?? 0) > 1).map(block);
		return { step, slots, joins };
	};
	return block(root);
}

// Moving between steps.

export type Direction = "up" | "down" | "left" | "right";

/** neighbour returns the step that an arrow key leads to: along the edges, or between edges that are side by side. */
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
			edgesInto(graph, id).find((place) => place.from !== null && place.from !== id && blocks.has(place.from))?.from ??
			parent.block.step.id
		);
	}
	// Up to the nearest step with several edges, then to the edge beside this one.
	const offset = to === "left" ? -1 : 1;
	for (let index = parents.get(id); index; index = parents.get(index.block.step.id)) {
		if (index.slot === null || index.block.slots.length < 2) continue;
		for (let i = index.slot + offset; i >= 0 && i < index.block.slots.length; i += offset) {
			const slot = index.block.slots[i];
			if (slot?.kind === "block") return slot.block.step.id;
		}
	}
	const root = roots.findIndex((root) => includes(root, id));
	return roots[root + offset]?.step.id ?? null;
}

const includes = (block: Block, id: string): boolean =>
	block.step.id === id ||
	block.joins.some((join) => includes(join, id)) ||
	block.slots.some((slot) => slot.kind === "block" && includes(slot.block, id));

// What differs between two graphs.

export type Difference = { added: Step[]; changed: Step[]; removed: Step[]; reconnected: boolean };

const canonical = (value: unknown, keepsNulls = false): unknown => {
	if (Array.isArray(value)) return value.map((item) => canonical(item));
	if (value === null || typeof value !== "object") return value;
	return Object.fromEntries(
		Object.entries(value)
			.filter(([, value]) => value !== undefined && (keepsNulls || value !== null))
			.sort(([a], [b]) => (a < b ? -1 : 1))
			.map(([key, value]) => [key, canonical(value, key === "headers")]),
	);
};

/** same reports whether two values are the same in JSON, absent and null members alike but for headers, where null is a value that is stored. */
export const same = (a: unknown, b: unknown) => JSON.stringify(canonical(a)) === JSON.stringify(canonical(b));

const edgesText = (graph: Graph) =>
	[`:${graph.entry}`, ...graph.edges.map((edge) => `${edge.from}:${edge.label ?? ""}:${edge.to}`)].sort().join("\n");

/** equal reports whether two graphs lead people in the same way. */
export const equal = (graph: Graph, b: Graph) => {
	const d = difference(graph, b);
	return !d.reconnected && d.added.length + d.changed.length + d.removed.length === 0;
};

/** difference returns the changes from one graph to another. */
export function difference(before: Graph, now: Graph): Difference {
	return {
		added: now.steps.filter((step) => !stepOf(before, step.id)),
		changed: now.steps.filter((step) => {
			const old = stepOf(before, step.id);
			return old && (old.type !== step.type || !same(old.config, step.config));
		}),
		removed: lostSteps(before, now),
		reconnected: edgesText(before) !== edgesText(now),
	};
}
