import type { GraphIssue, Sequence, SequenceBody, SetSequenceGraphRequestBody } from "../../api/schema";
import { type Bases, merge3, type Side } from "../../sync/merge";
import type { Group } from "../rules/groups";
import { bodyOf, type Config, difference, equal, type Graph, graphOf, same } from "./graph";
import { merge } from "./merge";

// What is edited of a sequence: its graph, and the start, which is what lets contacts in and what lets them leave early.

export type Exits = {
	definition?: Group;
	events?: { event_name: string; filters?: unknown }[];
	on_segment_left?: string;
};

/** Start is what starts a sequence (a trigger without a type: nothing), and what else decides who is in it. */
export type Start = { trigger: { type: string; config: Config }; exits: Exits; allow_reentry: boolean };

export type Draft = Start & { graph: Graph };

/** The step that stands for the start in the address and for keys; no id of a step has such a character. */
export const startNode = "~start";

const startFields = ["trigger", "exits", "allow_reentry"] as const;

/** draftOf returns what is edited of a sequence. */
export const draftOf = (sequence: Sequence): Draft => ({
	graph: graphOf(sequence),
	trigger: {
		type: String(sequence.entry_trigger?.trigger_type ?? ""),
		config: (sequence.entry_trigger?.trigger_config as Config | undefined) ?? {},
	},
	exits: (sequence.exit_conditions as Exits | null) ?? {},
	allow_reentry: sequence.allow_reentry,
});

/** startBody returns those parts of a start that a request stores. */
export const startBody = ({ trigger, exits, allow_reentry }: Partial<Start>): SequenceBody => ({
	...(trigger && {
		entry_trigger: trigger.type ? { trigger_type: trigger.type, trigger_config: trigger.config } : null,
	}),
	...(exits && { exit_conditions: Object.keys(exits).length > 0 ? { ...exits } : null }),
	...(allow_reentry !== undefined && { allow_reentry }),
});

/** draftBody returns the request that stores a graph and some parts of the start. */
export const draftBody = (graph: Graph, start: Partial<Start>): SetSequenceGraphRequestBody => ({
	...bodyOf(graph),
	...startBody(start),
});

/** isGraph reports whether a value is a graph: what was kept without an answer may be nothing. */
const isGraph = (value: unknown): value is Graph => Array.isArray((value as Graph | undefined)?.steps);

/** equalField compares two values of a field of a draft. */
export const equalField = (a: unknown, b: unknown) => (isGraph(a) && isGraph(b) ? equal(a, b) : same(a, b));

/** equalDrafts reports whether two drafts are the same. */
export const equalDrafts = (a: Draft, b: Draft) => startChanges(a, b).length === 0 && equal(a.graph, b.graph);

/** isSameDraft reports whether two drafts have the very same parts. */
export const isSameDraft = (a: Draft, b: Draft) =>
	a.graph === b.graph && startFields.every((field) => a[field] === b[field]);

/** startChanges returns the parts of the start that differ. */
export const startChanges = (a: Start, b: Start) => startFields.filter((field) => !same(a[field], b[field]));

/** fieldOfIssue returns the field of a draft that an issue is about. */
export const fieldOfIssue = ({ node_id, message }: GraphIssue): keyof Draft =>
	node_id !== null
		? "graph"
		: message.startsWith("entry_trigger")
			? "trigger"
			: message.startsWith("exit_conditions")
				? "exits"
				: "graph";

/** isOfStart reports whether an issue is about the start. */
export const isOfStart = (issue: GraphIssue) => fieldOfIssue(issue) !== "graph";

/** startPart returns the part of the start that a group of a conflict, or a name of what was joined, stands for. */
export const startPart = (group: string) => startFields.find((field) => group === `${startNode}.${field}`);

/**
 * mergeDrafts joins two drafts. A group is the id of a step, empty for the edge to the first step, or a part of the
 * start; what was taken from the other side has the same names.
 */
export function mergeDrafts(
	bases: Bases<Draft>,
	mine: Draft,
	theirs: Draft,
	choose: (group: string) => Side = () => "mine",
) {
	const groupOf = (field: string) => `${startNode}.${field}`;
	const starts = merge3(
		{ mine: startOf(bases.mine), theirs: startOf(bases.theirs) },
		startOf(mine),
		startOf(theirs),
		groupOf,
		choose,
	);
	const graphs = mergeGraphs({ mine: bases.mine.graph, theirs: bases.theirs.graph }, mine.graph, theirs.graph, choose);
	return {
		merged: { ...starts.merged, graph: graphs.graph },
		conflicts: [...starts.conflicts, ...graphs.conflicts],
		theirFields: [...starts.theirFields.map(groupOf), ...graphs.taken],
	};
}

/** startOf returns a draft without its graph. */
export const startOf = ({ trigger, exits, allow_reentry }: Draft): Start => ({ trigger, exits, allow_reentry });

function mergeGraphs(bases: Bases<Graph>, mine: Graph, theirs: Graph, choose: (group: string) => Side) {
	if (equal(theirs, bases.theirs)) return { graph: mine, conflicts: [], taken: [] };
	if (equal(mine, bases.mine) || equal(mine, theirs)) {
		const { added, changed, removed } = difference(mine, theirs);
		return { graph: theirs, conflicts: [], taken: [...added, ...changed, ...removed].map((step) => step.id) };
	}
	const { graph, conflicts, taken } = merge(bases, mine, theirs, (id) => choose(id ?? ""));
	return {
		graph,
		conflicts: conflicts.map(({ id, mine, theirs }) => ({ group: id ?? "", mine, theirs })),
		taken: taken.map((step) => step.id),
	};
}
