import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ApiError, api, request, type Versioned } from "../../api/client";
import type { Actor, GraphCheck, GraphIssue, Sequence } from "../../api/schema";
import { explain } from "../../base/words/errors";
import { useDraft } from "../../sync/useDraft";
import {
	newHistory,
	bodyOf,
	equal,
	type Graph,
	graphOf,
	type History,
	push,
	redo,
	type Step,
	stepOf,
	undo,
} from "./graph";
import { type StepConflict, mergeDrafts } from "./merge";
import { within } from "../../base/queries";
import { sequenceQuery } from "./queries";

// The graph of a sequence while it is edited. A draft saves itself a moment after the last change, if its
// graph is valid; what is not valid, and all changes of a paused sequence, are kept in a working copy.

export type Saving =
	| { state: "saved"; at: Date | null }
	| { state: "saving" }
	| { state: "kept" }
	| { state: "failed"; problem: string }
	| { state: "conflict"; conflict: Conflict };

/** Conflict is what both sides changed differently. */
export type Conflict = { conflicts: StepConflict[]; theirs: Versioned<Sequence>; graph: Graph; author: Actor | null };

/** CheckResult is the result of checking a graph: issues that prevent saving, issues that prevent activating, and how many people would leave. */
type CheckResult = { issues: GraphIssue[]; unready: GraphIssue[]; leaving: number };

const noIssues: CheckResult = { issues: [], unready: [], leaving: 0 };
const pause = 800;

/** isGraph reports whether a value is a graph: what was kept without an answer may be nothing. */
const isGraph = (value: unknown): value is Graph => Array.isArray((value as Graph | undefined)?.steps);

/** useFlow holds the graph of a sequence that is edited. */
export function useFlow(server: Versioned<Sequence>, canEdit: boolean) {
	const client = useQueryClient();
	const { id, status } = server.data;
	const path = { id };
	const mode = canEdit && (status === "draft" || status === "paused") ? status : "read";
	const [checks, setChecks] = useState(noIssues);
	const updateCache = (response: Versioned<Sequence>) => {
		client.setQueryData(sequenceQuery(id).queryKey, response);
		return response;
	};
	/** Asks what is wrong with a graph, and how many people would leave. */
	const check = async (graph: Graph): Promise<GraphCheck> => {
		const body = { ...bodyOf(graph), dry_run: true };
		const answer = (await api("PUT /sequences/{id}/graph", { path, body })) as GraphCheck;
		if (draft.state.values.graph === graph && !draft.state.conflict) setChecks(answer);
		return answer;
	};
	const draft = useDraft<Sequence, { graph: Graph }>(
		{
			kind: "sequence",
			id,
			title: (_, row) => row.name,
			load: () => request("GET /sequences/{id}", { path }).then(updateCache),
			save: async (_, { graph }, revision) => {
				try {
					// What is not valid is not sent to be saved: the check reports everything that is wrong with it.
					const { valid, issues } = await check(graph);
					if (!valid) throw new ApiError(400, "INVALID_GRAPH", "", { issues });
					const sent = request("PUT /sequences/{id}/graph", { path, body: bodyOf(graph), revision });
					const response = updateCache((await sent) as Versioned<Sequence>);
					setChecks((checks) => ({ ...noIssues, unready: checks.unready }));
					void client.invalidateQueries(within("sequences"));
					void client.invalidateQueries(within("sequence.report", id));
					return response;
				} catch (error) {
					if (error instanceof ApiError && error.code === "INVALID_GRAPH")
						setChecks((checks) => ({ ...checks, issues: (error.details.issues as GraphIssue[] | undefined) ?? [] }));
					if (error instanceof ApiError && error.code === "NOT_EDITABLE")
						void client.invalidateQueries(within("sequence", id));
					throw error;
				}
			},
			fieldsOf: (sequence) => ({ graph: graphOf(sequence) }),
			refusals: (error) => [{ path: "graph", message: error.code === "INVALID_GRAPH" ? "" : explain(error) }],
			equal: (a, b) => isGraph(a) && isGraph(b) && equal(a, b),
			merge: mergeDrafts,
		},
		server,
		{ autosaveAfter: mode === "draft" ? pause : null, readOnly: !canEdit },
	);
	const { values, saved, changed, conflict, mergedChanges, restored, status: saving } = draft.state;
	const dirty = mode !== "read" && changed.length > 0;
	const graph = mode === "read" ? saved.graph : values.graph; // changes are kept while somebody else has made it active
	const [history, setHistory] = useState<History>(() => newHistory(values.graph));
	useEffect(() => {
		setHistory((history) => {
			if (history.now === values.graph) return history;
			if (equal(history.now, values.graph)) return { ...history, now: values.graph };
			// What was merged or restored can be undone; without changes of one's own there is nothing to go back to.
			return changed.length > 0 || conflict || restored ? push(history, values.graph) : newHistory(values.graph);
		});
	}, [values.graph, changed.length, conflict, restored]);

	// What is saved is checked too, when the page opens and when the trigger changes: a record that it refers to
	// may be gone.
	const trigger = JSON.stringify(server.data.entry_trigger);
	const first = useRef(true);
	// biome-ignore lint/correctness/useExhaustiveDependencies: the check looks at the trigger, too
	useEffect(() => {
		const { state } = draft;
		if (mode === "read" || state.conflict) return;
		if (graph.steps.length === 0 && state.saved.graph.steps.length === 0) return;
		const timer = setTimeout(
			() => {
				const { kind } = draft.state.status;
				if (mode === "draft" && kind === "refused") void draft.save();
				else if (mode === "paused" || kind === "saved") check(graph).catch(() => undefined);
			},
			first.current ? 0 : pause,
		);
		first.current = false;
		return () => clearTimeout(timer);
	}, [graph, mode, trigger]);

	const write = (next: Graph) => mode !== "read" && draft.change({ graph: next });
	const applyHistory = (next: History) => {
		setHistory(next);
		write(next.now);
	};
	return {
		mode,
		graph,
		base: saved.graph,
		dirty,
		issues: [...checks.issues, ...checks.unready],
		/** How many problems keep the graph from being saved; the others only keep it from being activated. */
		refused: checks.issues.length,
		leaving: checks.leaving,
		saving: ((): Saving => {
			if (conflict) {
				const conflicts = conflict.conflicts.map(
					(conflict) => ({ id: conflict.group || null, mine: conflict.mine, theirs: conflict.theirs }) as StepConflict,
				);
				return { state: "conflict", conflict: { ...conflict, conflicts, graph: graphOf(conflict.theirs.data) } };
			}
			if (saving.kind === "offline") return { state: "failed", problem: explain(saving.error) };
			if (saving.kind === "refused") {
				const problem = saving.problems[0]?.message;
				return problem ? { state: "failed", problem } : { state: "kept" };
			}
			if (saving.kind === "saved") return { state: "saved", at: saving.at };
			return { state: saving.kind === "saving" || mode === "draft" ? "saving" : "kept" };
		})(),
		restored,
		/** Saves a draft now, if something waits; resolves to whether all is saved. */
		flush: async () => {
			await draft.flush();
			return draft.state.changed.length === 0;
		},
		canUndo: history.past.length > 0,
		canRedo: history.future.length > 0,
		/** Changes the graph; changes with the same name one after the other are undone together. */
		change: (next: Graph | ((graph: Graph) => Graph), coalesceKey = "") => {
			if (mode === "read") return;
			const now = draft.state.values.graph;
			const changed = typeof next === "function" ? next(now) : next;
			setHistory((history) => push(history, changed, coalesceKey));
			write(changed);
		},
		undo: () => applyHistory(undo(history)),
		redo: () => applyHistory(redo(history)),
		/** Drops what is not saved. */
		discard: () => {
			setHistory((history) => push(history, saved.graph));
			draft.discard();
		},
		/** Saves the graph of a paused sequence. */
		save: () => draft.save(),
		mergedChanges: mergedChanges && {
			// A step that went is only in what the join was made of.
			steps: mergedChanges.fields
				.map((step) => [graph, ...history.past.toReversed()].map((graph) => stepOf(graph, step)).find(Boolean))
				.filter((step): step is Step => step !== undefined),
			by: mergedChanges.author,
			at: mergedChanges.row.updated_at,
		},
		dismissJoined: () => draft.dismissMergedChanges(),
		/** Ends a conflict: for the steps that are named their version stays, for the others the own one. */
		settle: (theirs: Set<string>) => draft.resolveConflict(theirs),
		show: (unready: GraphIssue[]) => setChecks((checks) => ({ ...checks, unready })),
		/** The newest revision of the sequence. */
		revision: () => draft.state.revision ?? undefined,
	};
}

export type Flow = ReturnType<typeof useFlow>;
