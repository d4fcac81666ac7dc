import type { Bases, Side } from "../../sync/merge";
import {
	equal,
	type Graph,
	labelsOf,
	lead,
	lost,
	type Place,
	placesOf,
	prune,
	same,
	type Step,
	stepOf,
	targetOf,
} from "./graph";

// Joining the changes that two people made to one graph. A step's configuration, each of its ways out and the
// start are parts of their own: what only one side changed is taken over. If both sides put steps at the same place,
// these follow on each other, mine first. A step of which both sides changed the same part differently otherwise is a
// clash, for which somebody has to choose a side.

/** Clash is a step, or the start (null), of which both sides changed the same part. A side that removed the step has null. */
export type Clash = { id: string | null; mine: Step | null; theirs: Step | null };

export type Merged = {
	graph: Graph;
	clashes: Clash[];
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
	const clashes = new Map<string | null, Side>();
	const clash = (id: string | null): Side => {
		const side = clashes.get(id) ?? choose(id);
		clashes.set(id, side);
		return side;
	};
	// The steps that a side leads to anew.
	const wanted = { mine: newTargets(base.mine, mine), theirs: newTargets(base.theirs, theirs) };
	const kept: Kept[] = [];
	for (const id of new Set([...mine.steps, ...theirs.steps].map((step) => step.id))) {
		const [m, t] = [stepOf(mine, id), stepOf(theirs, id)];
		const [wasM, wasT] = [stepOf(base.mine, id), stepOf(base.theirs, id)];
		if (m && t) {
			const [byMe, byThem] = [!wasM || !alike(m, wasM), !wasT || !alike(t, wasT)];
			const side = !byMe ? "theirs" : !byThem || alike(m, t) ? "mine" : clash(id);
			// Ways belong to the labels of a configuration: where both changed these, the ways are those of the side.
			const branchConflict = byMe && byThem && !same(labelsOf(m), labelsOf(t));
			kept.push({ step: side === "mine" ? m : t, from: branchConflict ? side : null, restored: null });
			continue;
		}
		const side = m ? "mine" : "theirs";
		const [step, was, [before, now]] = m ? [m, wasM, [base.mine, mine]] : [t as Step, wasT, [base.theirs, theirs]];
		if (!was) kept.push({ step, from: side, restored: null });
		else if (!alike(step, was) || wanted[side].has(id) || leadsElsewhere(before, now, step)) {
			// One side removed what the other went on to use.
			if (clash(id) === side) kept.push({ step, from: side, restored: side });
		}
	}
	const both = chains(base, mine, theirs);
	const restored = (side: Side, id: string | null) =>
		kept.some((entry) => entry.restored === side && entry.step.id === id);
	const there = (id: string | null) => (kept.some((entry) => entry.step.id === id) ? id : null);
	const join = (place: Place): string | null => {
		const [m, t] = [targetOf(mine, place), targetOf(theirs, place)];
		if (restored("mine", m)) return m;
		if (restored("theirs", t)) return t;
		if (m === t || t === targetOf(base.theirs, place)) return m;
		if (m === targetOf(base.mine, place)) return t;
		const chain = both.first.get(keyOf(place));
		if (chain !== undefined) return chain;
		return clash(place.from) === "mine" ? m : t;
	};
	let graph: Graph = { entry: there(join(start)), steps: kept.map((entry) => entry.step), ways: [] };
	for (const { step, from } of kept)
		for (const place of placesOf(step))
			graph = lead(
				graph,
				place,
				there(both.next.get(keyOf(place)) ?? (from ? targetOf(from === "mine" ? mine : theirs, place) : join(place))),
			);
	graph = prune(graph);
	return {
		graph,
		clashes: [...clashes.keys()].map((id) => ({
			id,
			mine: stepOf(mine, id ?? mine.entry) ?? null,
			theirs: stepOf(theirs, id ?? theirs.entry) ?? null,
		})),
		taken: [
			...graph.steps.filter((step) => {
				const own = stepOf(mine, step.id);
				return !own || !alike(step, own) || leadsElsewhere(mine, graph, step);
			}),
			...lost(mine, graph),
		],
	};
}

type Drawn = { graph: Graph };

/** mergeDrafts joins the graphs of two drafts. A group is the id of a step, or empty for the start. */
export function mergeDrafts(
	bases: Bases<Drawn>,
	mine: Drawn,
	theirs: Drawn,
	choose: (group: string) => Side = () => "mine",
) {
	const unmerged = (of: Drawn) => ({ merged: of, clashes: [], joined: [] });
	if (equal(theirs.graph, bases.theirs.graph)) return unmerged(mine);
	if (equal(mine.graph, bases.mine.graph) || equal(mine.graph, theirs.graph)) return unmerged(theirs);
	const was = { mine: bases.mine.graph, theirs: bases.theirs.graph };
	const { graph, clashes, taken } = merge(was, mine.graph, theirs.graph, (id) => choose(id ?? ""));
	return {
		merged: { graph },
		clashes: clashes.map((clash) => ({ group: clash.id ?? "", mine: clash.mine, theirs: clash.theirs })),
		joined: taken.map((step) => step.id),
	};
}

type Kept = {
	step: Step;
	/** The side whose ways out it has; null: those of both, joined. */
	from: Side | null;
	/** The side that keeps it although the other removed it: ways of that side into it stay. */
	restored: Side | null;
};

const alike = (step: Step, b: Step) => step.type === b.type && same(step.config, b.config);

/** leadsElsewhere reports whether a way out of a step was changed. */
const leadsElsewhere = (was: Graph, now: Graph, step: Step) =>
	placesOf(step).some((place) => targetOf(was, place) !== targetOf(now, place));

const newTargets = (was: Graph, now: Graph) =>
	new Set([
		...now.ways.filter((way) => targetOf(was, way) !== way.to).map((way) => way.to),
		...(now.entry && now.entry !== was.entry ? [now.entry] : []),
	]);

const keyOf = (place: Place) => JSON.stringify([place.from, place.label]);

/**
 * chains finds the places at which both sides put new steps before what followed there, and has those of one side
 * follow on those of the other: `first` has the step that such a place leads to, `next` what the ends of the first
 * steps lead to.
 */
function chains(
	base: Bases<Graph>,
	mine: Graph,
	theirs: Graph,
): { first: Map<string, string>; next: Map<string, string> } {
	const first = new Map<string, string>();
	const next = new Map<string, string>();
	for (const place of [start, ...base.mine.steps.flatMap(placesOf)]) {
		const was = targetOf(base.mine, place);
		const [m, t] = [targetOf(mine, place), targetOf(theirs, place)];
		if (was !== targetOf(base.theirs, place) || m === t) continue;
		const [endsM, endsT] = [endsOf(base.mine, mine, m, was), endsOf(base.theirs, theirs, t, was)];
		if (!m || !t || !endsM || !endsT) continue;
		// What follows must still follow: on both, or, where nothing does, on the one that comes last.
		const order =
			was === null
				? endsM.length > 0
					? "mine"
					: endsT.length > 0
						? "theirs"
						: null
				: endsM.length > 0 && endsT.length > 0
					? "mine"
					: null;
		if (order === null) continue;
		const ends = order === "mine" ? endsM : endsT;
		first.set(keyOf(place), order === "mine" ? m : t);
		for (const place of was === null ? ends.slice(0, 1) : ends) next.set(keyOf(place), order === "mine" ? t : m);
	}
	return { first, next };
}

/** endsOf returns the places after new steps, from a first one on, that lead to a step; null unless the first one is new. */
function endsOf(was: Graph, now: Graph, first: string | null, to: string | null): Place[] | null {
	if (!first || stepOf(was, first)) return null;
	const ends: Place[] = [];
	const seen = new Set<string>();
	const walk = (id: string) => {
		const step = stepOf(now, id);
		if (!step || stepOf(was, id) || seen.has(id)) return;
		seen.add(id);
		for (const place of placesOf(step)) {
			const target = targetOf(now, place);
			if (target === to) ends.push(place);
			else if (target) walk(target);
		}
	};
	walk(first);
	return ends;
}
