import type { Bases, Side } from "../../sync/merge";
import {
	type Graph,
	labelsOf,
	connect,
	lostSteps,
	type Place,
	placesOf,
	prune,
	same,
	type Step,
	stepOf,
	targetOf,
} from "./graph";

// Joining the changes that two people made to one graph. A step's configuration, each of its outgoing edges and the
// start are parts of their own: what only one side changed is taken over. If both sides put steps at the same place,
// these follow on each other, mine first. A step of which both sides changed the same part differently otherwise is a
// clash, for which somebody has to choose a side.

/** Clash is a step, or the start (null), of which both sides changed the same part. A side that removed the step has null. */
export type StepConflict = { id: string | null; mine: Step | null; theirs: Step | null };

export type Merged = {
	graph: Graph;
	conflicts: StepConflict[];
	/** The steps that were taken over from the other side, or went because of it. */
	taken: Step[];
};

const start: Place = { from: null, label: null };

/** merge joins two graphs. Where they clash, `choose` says which side stays. */
export function merge(
	base: Bases<Graph>,
	mine: Graph,
	theirs: Graph,
	choose: (id: string | null) => Side = () => "mine",
): Merged {
	const chosenSides = new Map<string | null, Side>();
	const chooseSide = (id: string | null): Side => {
		const side = chosenSides.get(id) ?? choose(id);
		chosenSides.set(id, side);
		return side;
	};
	// The steps that a side leads to anew.
	const referenced = { mine: newTargets(base.mine, mine), theirs: newTargets(base.theirs, theirs) };
	const kept: KeptStep[] = [];
	for (const id of new Set([...mine.steps, ...theirs.steps].map((step) => step.id))) {
		const [m, t] = [stepOf(mine, id), stepOf(theirs, id)];
		const [myBase, theirBase] = [stepOf(base.mine, id), stepOf(base.theirs, id)];
		if (m && t) {
			const [changedByMe, changedByThem] = [!myBase || !sameStep(m, myBase), !theirBase || !sameStep(t, theirBase)];
			const side = !changedByMe ? "theirs" : !changedByThem || sameStep(m, t) ? "mine" : chooseSide(id);
			// Edges belong to the labels of a configuration: where both changed these, the edges are those of the side.
			const branchConflict = changedByMe && changedByThem && !same(labelsOf(m), labelsOf(t));
			kept.push({ step: side === "mine" ? m : t, from: branchConflict ? side : null, restored: null });
			continue;
		}
		const side = m ? "mine" : "theirs";
		const [step, previous, [before, now]] = m
			? [m, myBase, [base.mine, mine]]
			: [t as Step, theirBase, [base.theirs, theirs]];
		if (!previous) kept.push({ step, from: side, restored: null });
		else if (!sameStep(step, previous) || referenced[side].has(id) || isReconnected(before, now, step)) {
			// One side removed what the other went on to use.
			if (chooseSide(id) === side) kept.push({ step, from: side, restored: side });
		}
	}
	const chainStarts = chainStartsOf(base, mine, theirs);
	const restored = (side: Side, id: string | null) =>
		kept.some((entry) => entry.restored === side && entry.step.id === id);
	const ifKept = (id: string | null) => (kept.some((entry) => entry.step.id === id) ? id : null);
	const join = (place: Place): string | null => {
		const [m, t] = [targetOf(mine, place), targetOf(theirs, place)];
		if (restored("mine", m)) return m;
		if (restored("theirs", t)) return t;
		if (m === t || t === targetOf(base.theirs, place)) return m;
		if (m === targetOf(base.mine, place)) return t;
		const nextTarget = chainStarts.first.get(keyOf(place));
		if (nextTarget !== undefined) return nextTarget;
		return chooseSide(place.from) === "mine" ? m : t;
	};
	let graph: Graph = { entry: ifKept(join(start)), steps: kept.map((entry) => entry.step), edges: [] };
	for (const { step, from } of kept)
		for (const place of placesOf(step))
			graph = connect(
				graph,
				place,
				ifKept(
					chainStarts.next.get(keyOf(place)) ?? (from ? targetOf(from === "mine" ? mine : theirs, place) : join(place)),
				),
			);
	graph = prune(graph);
	return {
		graph,
		conflicts: [...chosenSides.keys()].map((id) => ({
			id,
			mine: stepOf(mine, id ?? mine.entry) ?? null,
			theirs: stepOf(theirs, id ?? theirs.entry) ?? null,
		})),
		taken: [
			...graph.steps.filter((step) => {
				const own = stepOf(mine, step.id);
				return !own || !sameStep(step, own) || isReconnected(mine, graph, step);
			}),
			...lostSteps(mine, graph),
		],
	};
}

type KeptStep = {
	step: Step;
	/** The side whose outgoing edges it has; null: those of both, joined. */
	from: Side | null;
	/** The side that keeps it although the other removed it: edges of that side into it stay. */
	restored: Side | null;
};

const sameStep = (step: Step, b: Step) => step.type === b.type && same(step.config, b.config);

/** isReconnected reports whether an outgoing edge of a step was changed. */
const isReconnected = (before: Graph, now: Graph, step: Step) =>
	placesOf(step).some((place) => targetOf(before, place) !== targetOf(now, place));

const newTargets = (before: Graph, now: Graph) =>
	new Set([
		...now.edges.filter((edge) => targetOf(before, edge) !== edge.to).map((edge) => edge.to),
		...(now.entry && now.entry !== before.entry ? [now.entry] : []),
	]);

const keyOf = (place: Place) => JSON.stringify([place.from, place.label]);

/**
 * chainStartsOf finds the places at which both sides put new steps before what followed there, and has those of one side
 * follow on those of the other: `first` has the step that such a place leads to, `next` what the ends of the first
 * steps lead to.
 */
function chainStartsOf(
	base: Bases<Graph>,
	mine: Graph,
	theirs: Graph,
): { first: Map<string, string>; next: Map<string, string> } {
	const first = new Map<string, string>();
	const next = new Map<string, string>();
	for (const place of [start, ...base.mine.steps.flatMap(placesOf)]) {
		const before = targetOf(base.mine, place);
		const [m, t] = [targetOf(mine, place), targetOf(theirs, place)];
		if (before !== targetOf(base.theirs, place) || m === t) continue;
		const [myEnds, theirEnds] = [chainEnds(base.mine, mine, m, before), chainEnds(base.theirs, theirs, t, before)];
		if (!m || !t || !myEnds || !theirEnds) continue;
		// What follows must still follow: on both, or, where nothing does, on the one that comes last.
		const order =
			before === null
				? myEnds.length > 0
					? "mine"
					: theirEnds.length > 0
						? "theirs"
						: null
				: myEnds.length > 0 && theirEnds.length > 0
					? "mine"
					: null;
		if (order === null) continue;
		const ends = order === "mine" ? myEnds : theirEnds;
		first.set(keyOf(place), order === "mine" ? m : t);
		for (const place of before === null ? ends.slice(0, 1) : ends) next.set(keyOf(place), order === "mine" ? t : m);
	}
	return { first, next };
}

/** chainEnds returns the places after new steps, from a first one on, that lead to a step; null unless the first one is new. */
function chainEnds(before: Graph, now: Graph, first: string | null, to: string | null): Place[] | null {
	if (!first || stepOf(before, first)) return null;
	const ends: Place[] = [];
	const visited = new Set<string>();
	const visit = (id: string) => {
		const step = stepOf(now, id);
		if (!step || stepOf(before, id) || visited.has(id)) return;
		visited.add(id);
		for (const place of placesOf(step)) {
			const target = targetOf(now, place);
			if (target === to) ends.push(place);
			else if (target) visit(target);
		}
	};
	visit(first);
	return ends;
}
