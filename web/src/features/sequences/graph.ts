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
export function graphOf(s: Sequence): Graph {
	return {
		entry: s.entry_node_id,
		steps: (s.nodes ?? []).map((n) => ({ id: n.id, type: n.type as StepType, config: n.config })),
		ways: (s.edges ?? []).map((e) => ({ from: e.from_node, label: e.branch_label, to: e.to_node })),
	};
}

/** bodyOf returns the request that stores a graph. */
export const bodyOf = (g: Graph): SetSequenceGraphRequestBody => ({
	entry_node_id: g.entry ?? "",
	nodes: g.steps.map(({ id, type, config }) => ({ id, type, config })),
	edges: g.ways.map((w) => ({ from_node: w.from, to_node: w.to, branch_label: w.label })),
});

export const stepOf = (g: Graph, id: string | null | undefined) => g.steps.find((s) => s.id === id);

/** targetOf returns the step that a place leads to; null if the path ends there. */
export const targetOf = (g: Graph, p: Place): string | null =>
	p.from === null ? g.entry : (g.ways.find((w) => w.from === p.from && w.label === p.label)?.to ?? null);

const listOf = (v: unknown): { label: string }[] =>
	(Array.isArray(v) ? v : []).map((b) => ({ label: String((b as { label?: unknown })?.label ?? "") }));

/** labelsOf returns the labels of the ways out of a step, in their order. */
export function labelsOf(s: Step): (string | null)[] {
	switch (s.type) {
		case "condition":
			return ["true", "false"];
		case "branch":
			return [...listOf(s.config.branches).map((b) => b.label), "else"];
		case "split":
			return listOf(s.config.branches).map((b) => b.label);
		case "wait":
			return ["until_event", "until_segment", "until_engagement"].includes(String(s.config.mode))
				? ["met", "timeout"]
				: [null];
		case "exit":
			return [];
		default:
			return [null];
	}
}

/** placesOf returns the places after a step. */
export const placesOf = (s: Step): Place[] => labelsOf(s).map((label) => ({ from: s.id, label }));

/** lead makes a place lead to a step, or end if it is null. */
export function lead(g: Graph, p: Place, to: string | null): Graph {
	if (p.from === null) return { ...g, entry: to };
	const at = g.ways.findIndex((w) => w.from === p.from && w.label === p.label);
	if (to === null) return { ...g, ways: g.ways.filter((_, i) => i !== at) };
	const way = { from: p.from, label: p.label, to };
	return { ...g, ways: at < 0 ? [...g.ways, way] : g.ways.map((w, i) => (i === at ? way : w)) };
}

/** waysInto returns the places that lead to a step. */
export function waysInto(g: Graph, id: string): Place[] {
	const all: Place[] = g.ways.filter((w) => w.to === id).map(({ from, label }) => ({ from, label }));
	return g.entry === id ? [{ from: null, label: null }, ...all] : all;
}

/** insert puts a step at a place. What followed there follows on its first way out. */
export function insert(g: Graph, p: Place, s: Step): Graph {
	const next = targetOf(g, p);
	const placed = lead({ ...g, steps: [...g.steps, s] }, p, s.id);
	const [first] = labelsOf(s);
	if (next === null) return placed;
	return prune(first === undefined ? placed : lead(placed, { from: s.id, label: first }, next));
}

/** addApart adds a step that no way leads to: a goal, which people reach from anywhere. */
export const addApart = (g: Graph, s: Step): Graph => ({ ...g, steps: [...g.steps, s] });

/** reached returns the steps to which ways lead from the start and from the goals. */
export function reached(g: Graph): Set<string> {
	const found = new Set<string>();
	const todo = [g.entry, ...g.steps.filter((s) => s.type === "goal").map((s) => s.id)];
	while (todo.length > 0) {
		const id = todo.pop();
		if (!id || found.has(id) || !stepOf(g, id)) continue;
		found.add(id);
		for (const w of g.ways) if (w.from === id) todo.push(w.to);
	}
	return found;
}

/** prune drops the steps that nobody can reach, and ways from or to steps that do not exist. */
export function prune(g: Graph): Graph {
	const keep = reached(g);
	return {
		entry: g.entry && keep.has(g.entry) ? g.entry : null,
		steps: g.steps.filter((s) => keep.has(s.id)),
		ways: g.ways.filter((w) => keep.has(w.from) && keep.has(w.to)),
	};
}

/**
 * remove takes a step out. The ways into it lead on to what follows on one of its ways out, or end if `keep`
 * is undefined. What only its other ways led to goes with it.
 */
export function remove(g: Graph, id: string, keep: string | null | undefined): Graph {
	let next = keep === undefined ? null : targetOf(g, { from: id, label: keep });
	if (next === id) next = null;
	let out = g;
	for (const p of waysInto(g, id)) if (p.from !== id) out = lead(out, p, next);
	out = { ...out, steps: out.steps.filter((s) => s.id !== id), ways: out.ways.filter((w) => w.from !== id) };
	return prune(out);
}

/** lost returns the steps of a graph that another one does not have. */
export const lost = (before: Graph, after: Graph): Step[] => before.steps.filter((s) => !stepOf(after, s.id));

/** removeAll takes several steps out; each is rejoined with what follows on its first way out. */
export function removeAll(g: Graph, ids: string[]): Graph {
	let out = g;
	for (const id of ids) {
		const s = stepOf(out, id);
		if (!s) continue;
		const labels = labelsOf(s);
		out = remove(out, id, labels.find((label) => targetOf(out, { from: id, label }) !== null) ?? undefined);
	}
	return out;
}

/**
 * configure changes what a step does. If its ways out have other labels then, they keep what they lead to by
 * their order; ways that are gone lead nowhere, and what only they led to is dropped.
 */
export function configure(g: Graph, id: string, config: Config): Graph {
	const was = stepOf(g, id);
	if (!was) return g;
	const now = { ...was, config };
	const [from, to] = [labelsOf(was), labelsOf(now)];
	const out: Graph = { ...g, steps: g.steps.map((s) => (s.id === id ? now : s)) };
	if (JSON.stringify(from) === JSON.stringify(to)) return out;
	const targets = new Map<string | null, string>();
	const set = (label: string | null, t: string | null) => t !== null && !targets.has(label) && targets.set(label, t);
	const stays = (label: string | null) => from.includes(label) && to.includes(label);
	for (const label of from) if (stays(label)) set(label, targetOf(g, { from: id, label }));
	if (from.length === to.length) {
		// A way was renamed.
		for (const [i, label] of from.entries()) if (!stays(label)) set(to[i] ?? null, targetOf(g, { from: id, label }));
	} else if (from.length === 1 || to.length === 1) {
		const first = from.find((label) => targetOf(g, { from: id, label }) !== null);
		if (first !== undefined && to[0] !== undefined) set(to[0], targetOf(g, { from: id, label: first }));
	}
	const ways = [...targets].map(([label, t]) => ({ from: id, label, to: t }));
	return prune({ ...out, ways: [...out.ways.filter((w) => w.from !== id), ...ways] });
}

/** Clip is what was copied: steps with the ways among them, and the ways that led out of them. */
export type Clip = { entry: string; steps: Step[]; ways: Way[]; out: Place[] };

/**
 * copy returns steps of a graph as they can be pasted; null if there are none. Where steps between them were not
 * chosen, the chosen ones follow on each other.
 */
export function copy(g: Graph, ids: string[]): Clip | null {
	const chosen = order(g).filter((id) => ids.includes(id));
	const [entry] = chosen;
	if (!entry) return null;
	const steps = chosen.map((id) => stepOf(g, id)).filter((s): s is Step => s !== undefined);
	const inside = (id: string) => chosen.includes(id);
	let part: Graph = { entry, steps, ways: g.ways.filter((w) => inside(w.from) && inside(w.to)) };
	for (const s of steps) {
		const found = reached(part);
		if (found.has(s.id)) continue;
		const open = steps.filter((o) => found.has(o.id)).flatMap(placesOf);
		const end = open.filter((p) => targetOf(part, p) === null).at(-1);
		if (end) part = lead(part, end, s.id);
	}
	part = prune(part);
	const out = g.ways
		.filter((w) => stepOf(part, w.from) && targetOf(part, w) === null)
		.map(({ from, label }) => ({ from, label }));
	return { entry, steps: part.steps, ways: part.ways, out };
}

/** paste puts a copy at a place, with new ids. What followed there follows where the copy's ways led out. */
export function paste(g: Graph, p: Place, clip: Clip, name: (type: StepType) => string): Graph {
	const ids = new Map(clip.steps.map((s) => [s.id, name(s.type)]));
	const renamed = (id: string) => ids.get(id) ?? id;
	const next = targetOf(g, p);
	const steps = clip.steps.map((s) => {
		const node = s.config.node_id;
		return {
			...s,
			id: renamed(s.id),
			config: typeof node === "string" && ids.has(node) ? { ...s.config, node_id: renamed(node) } : s.config,
		};
	});
	let out: Graph = {
		...g,
		steps: [...g.steps, ...steps],
		ways: [...g.ways, ...clip.ways.map((w) => ({ ...w, from: renamed(w.from), to: renamed(w.to) }))],
	};
	out = lead(out, p, renamed(clip.entry));
	if (next === null) return prune(out);
	let exits = clip.out.map((o) => ({ from: o.from === null ? null : renamed(o.from), label: o.label }));
	if (exits.length === 0) {
		const open = steps.flatMap(placesOf).filter((o) => targetOf(out, o) === null);
		exits = open.slice(0, 1);
	}
	for (const o of exits) out = lead(out, o, next);
	return prune(out);
}

/** order returns the steps as one reads them: along each way to its end, then the next way, joins after all ways into them. */
export function order(g: Graph): string[] {
	const out: string[] = [];
	const walk = (b: Block) => {
		out.push(b.step.id);
		for (const s of b.slots) if (s.kind === "block") walk(s.block);
		for (const j of b.joins) walk(j);
	};
	for (const root of outline(g).roots) walk(root);
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
export function outline(g: Graph): Outline {
	const seen = new Set<string>();
	const roots: Block[] = [];
	const starts = [g.entry, ...g.steps.filter((s) => s.type === "goal").map((s) => s.id), ...g.steps.map((s) => s.id)];
	for (const id of starts) {
		if (!id || seen.has(id) || !stepOf(g, id)) continue;
		roots.push(arrange(g, id, seen));
	}
	return { roots };
}

/** arrange returns the block of a step with all that it leads to and that is not in another block yet. */
function arrange(g: Graph, root: string, seen: Set<string>): Block {
	// Steps in topological order of the ways that do not lead back.
	const back = new Set<string>();
	const sorted: string[] = [];
	const state = new Map<string, 1 | 2>();
	const key = (p: Place) => `${p.from} ${p.label ?? ""}`;
	const visit = (id: string) => {
		state.set(id, 1);
		const s = stepOf(g, id);
		for (const p of s ? placesOf(s).reverse() : []) {
			const to = targetOf(g, p);
			if (!to || !stepOf(g, to) || seen.has(to)) continue;
			if (state.get(to) === 1) back.add(key(p));
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
		const s = stepOf(g, id);
		for (const p of s ? placesOf(s) : []) {
			const to = targetOf(g, p);
			if (!to || !rank.has(to) || back.has(key(p))) continue;
			into.set(to, (into.get(to) ?? 0) + 1);
			above.set(to, above.has(to) ? meet(above.get(to) as string, id) : id);
		}
	}
	const block = (id: string): Block => {
		seen.add(id);
		const step = stepOf(g, id) as Step;
		const own = sorted.filter((x) => x !== root && above.get(x) === id);
		const slots = placesOf(step).map((p): Slot => {
			const to = targetOf(g, p);
			const { label } = p;
			if (!to || !stepOf(g, to)) return { label, kind: "end" };
			if (back.has(key(p))) return { label, kind: "loop", to };
			if (own.includes(to) && into.get(to) === 1) return { label, kind: "block", block: block(to) };
			return { label, kind: rank.has(to) ? "join" : "loop", to };
		});
		const joins = own.filter((x) => (into.get(x) ?? 0) > 1).map(block);
		return { step, slots, joins };
	};
	return block(root);
}

// Moving between steps.

export type Direction = "up" | "down" | "left" | "right";

/** neighbour returns the step that an arrow key leads to: along the ways, or between ways that are side by side. */
export function neighbour(g: Graph, id: string, to: Direction): string | null {
	const { roots } = outline(g);
	const parents = new Map<string, { block: Block; slot: number | null }>();
	const blocks = new Map<string, Block>();
	const note = (b: Block) => {
		blocks.set(b.step.id, b);
		for (const [i, s] of b.slots.entries())
			if (s.kind === "block") {
				parents.set(s.block.step.id, { block: b, slot: i });
				note(s.block);
			}
		for (const j of b.joins) {
			parents.set(j.step.id, { block: b, slot: null });
			note(j);
		}
	};
	for (const r of roots) note(r);
	const b = blocks.get(id);
	if (!b) return roots[0]?.step.id ?? null;
	if (to === "down") {
		for (const s of b.slots) if (s.kind === "block") return s.block.step.id;
		for (const s of b.slots) if (s.kind === "join") return s.to;
		return b.joins[0]?.step.id ?? null;
	}
	if (to === "up") {
		const p = parents.get(id);
		if (p?.slot !== null) return p?.block.step.id ?? null;
		return waysInto(g, id).find((w) => w.from !== null && w.from !== id && blocks.has(w.from))?.from ?? p.block.step.id;
	}
	// Up to the nearest step with several ways, then to the way beside this one.
	const by = to === "left" ? -1 : 1;
	for (let at = parents.get(id); at; at = parents.get(at.block.step.id)) {
		if (at.slot === null || at.block.slots.length < 2) continue;
		for (let i = at.slot + by; i >= 0 && i < at.block.slots.length; i += by) {
			const s = at.block.slots[i];
			if (s?.kind === "block") return s.block.step.id;
		}
	}
	const root = roots.findIndex((r) => has(r, id));
	return roots[root + by]?.step.id ?? null;
}

const has = (b: Block, id: string): boolean =>
	b.step.id === id || b.joins.some((j) => has(j, id)) || b.slots.some((s) => s.kind === "block" && has(s.block, id));

// What differs between two graphs.

export type Difference = { added: Step[]; changed: Step[]; removed: Step[]; moved: boolean };

const plain = (v: unknown, nulls = false): unknown => {
	if (Array.isArray(v)) return v.map((x) => plain(x));
	if (v === null || typeof v !== "object") return v;
	return Object.fromEntries(
		Object.entries(v)
			.filter(([, x]) => x !== undefined && (nulls || x !== null))
			.sort(([a], [b]) => (a < b ? -1 : 1))
			.map(([k, x]) => [k, plain(x, k === "headers")]),
	);
};

/** same reports whether two values are the same in JSON, absent and null members alike but for headers, where null is a value that is stored. */
export const same = (a: unknown, b: unknown) => JSON.stringify(plain(a)) === JSON.stringify(plain(b));

const waysText = (g: Graph) =>
	[`:${g.entry}`, ...g.ways.map((w) => `${w.from}:${w.label ?? ""}:${w.to}`)].sort().join("\n");

/** equal reports whether two graphs lead people in the same way. */
export const equal = (a: Graph, b: Graph) => {
	const d = difference(a, b);
	return !d.moved && d.added.length + d.changed.length + d.removed.length === 0;
};

/** difference tells what was changed from a graph to another. */
export function difference(was: Graph, now: Graph): Difference {
	return {
		added: now.steps.filter((s) => !stepOf(was, s.id)),
		changed: now.steps.filter((s) => {
			const old = stepOf(was, s.id);
			return old && (old.type !== s.type || !same(old.config, s.config));
		}),
		removed: lost(was, now),
		moved: waysText(was) !== waysText(now),
	};
}

// Undo and redo.

export type History = { past: Graph[]; now: Graph; future: Graph[]; of: string };

const most = 100;

export const begin = (g: Graph): History => ({ past: [], now: g, future: [], of: "" });

/** push adds a change. Changes of the same kind one after the other, such as typing into one step, are undone together. */
export function push(h: History, g: Graph, of = ""): History {
	if (g === h.now) return h;
	if (of && of === h.of) return { ...h, now: g, future: [] };
	return { past: [...h.past, h.now].slice(-most), now: g, future: [], of };
}

export function undo(h: History): History {
	const now = h.past.at(-1);
	return now ? { past: h.past.slice(0, -1), now, future: [h.now, ...h.future], of: "" } : h;
}

export function redo(h: History): History {
	const [now, ...future] = h.future;
	return now ? { past: [...h.past, h.now], now, future, of: "" } : h;
}
