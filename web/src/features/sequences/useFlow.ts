import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ApiError, api, request, type Versioned } from "../../api/client";
import type { Actor, GraphCheck, GraphIssue, Sequence } from "../../api/schema";
import { within } from "../../base/queries";
import { explain } from "../../base/words/errors";
import type { FieldConflict } from "../../sync/merge";
import { useDraft } from "../../sync/useDraft";
import {
	type Draft,
	draftBody,
	draftOf,
	equalDrafts,
	equalField,
	fieldOfIssue,
	isOfStart,
	isSameDraft,
	mergeDrafts,
	type Start,
	startBody,
	startOf,
	startPart,
} from "./draft";
import { type Graph, graphOf, type Step, stepOf } from "./graph";
import { type History, newHistory, push, redo, undo } from "./history";
import { sequenceQuery } from "./queries";

// A sequence while it is edited: its graph and its start, which are one draft. It saves itself a moment after the last
// change, what is valid of it; what is not valid, and all changes of a paused sequence, are kept in a working copy.

export type Saving =
	| { state: "saved"; at: Date | null }
	| { state: "saving" }
	| { state: "kept" }
	| { state: "failed"; problem: string }
	| { state: "conflict"; conflict: Conflict };

/** Conflict is what both sides changed differently. */
export type Conflict = { conflicts: FieldConflict[]; theirs: Versioned<Sequence>; graph: Graph; author: Actor | null };

/** CheckResult is the result of a check: issues that prevent saving, issues that prevent activating, why nobody may enter, and how many people would leave. */
type CheckResult = { issues: GraphIssue[]; unready: GraphIssue[]; warnings: GraphIssue[]; leaving: number };

const noIssues: CheckResult = { issues: [], unready: [], warnings: [], leaving: 0 };
const pause = 800;

/** useFlow holds a sequence that is edited. */
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
	/** Asks what is wrong with a draft, and how many people would leave. Of steps that are yet to be added nothing is said. */
	const check = async (values: Draft): Promise<CheckResult> => {
		const body = { ...draftBody(values.graph, values), dry_run: true };
		const answer = (await api("PUT /sequences/{id}/graph", { path, body })) as GraphCheck;
		const { saved, values: now, conflict } = draft.state;
		const isBlank = values.graph.steps.length === 0 && saved.graph.steps.length === 0;
		const result = isBlank ? { ...answer, issues: answer.issues.filter(isOfStart), unready: [] } : answer;
		if (isSameDraft(values, now) && !conflict) setChecks(result);
		return result;
	};
	const draft = useDraft<Sequence, Draft>(
		{
			kind: "sequence",
			id,
			title: (_, row) => row.name,
			load: () => request("GET /sequences/{id}", { path }).then(updateCache),
			save: async (changed, values, revision) => {
				const isSent = (issue: GraphIssue) => fieldOfIssue(issue) in changed;
				try {
					// What is not valid is not sent to be saved: the check reports everything that is wrong with it.
					const issues = (await check(values)).issues.filter(isSent);
					if (issues.length > 0) throw new ApiError(400, "INVALID_GRAPH", "", { issues });
					const sent = changed.graph
						? request("PUT /sequences/{id}/graph", { path, body: draftBody(changed.graph, changed), revision })
						: request("PUT /sequences/{id}", { path, body: startBody(changed), revision });
					const response = updateCache((await sent) as Versioned<Sequence>);
					setChecks((checks) => ({ ...checks, issues: checks.issues.filter((issue) => !isSent(issue)), leaving: 0 }));
					void client.invalidateQueries(within("sequences"));
					void client.invalidateQueries(within("sequence.report", id));
					return response;
				} catch (error) {
					if (error instanceof ApiError && error.code === "INVALID_GRAPH") {
						const issues = (error.details.issues as GraphIssue[] | undefined) ?? [];
						setChecks((checks) => ({
							...checks,
							issues: [...checks.issues.filter((issue) => !isSent(issue)), ...issues],
						}));
					}
					if (error instanceof ApiError && error.code === "NOT_EDITABLE")
						void client.invalidateQueries(within("sequence", id));
					throw error;
				}
			},
			fieldsOf: draftOf,
			refusals: (error) =>
				error.code === "INVALID_GRAPH"
					? ((error.details.issues as GraphIssue[] | undefined) ?? []).map((issue) => ({
							path: fieldOfIssue(issue),
							message: "",
						}))
					: [{ path: "", message: explain(error) }],
			equal: equalField,
			merge: mergeDrafts,
		},
		server,
		{ autosaveAfter: mode === "draft" ? pause : null, readOnly: !canEdit },
	);
	const { values, saved, changed, conflict, mergedChanges, restored, status: saving } = draft.state;
	const dirty = mode !== "read" && changed.length > 0;
	const now = mode === "read" ? saved : values; // changes are kept while somebody else has made it active
	const { graph } = now;
	const [history, setHistory] = useState<History<Draft>>(() => newHistory(values));
	useEffect(() => {
		setHistory((history) => {
			if (isSameDraft(history.now, values)) return history;
			if (equalDrafts(history.now, values)) return { ...history, now: values };
			// What was merged or restored can be undone; without changes of one's own there is nothing to go back to.
			return changed.length > 0 || conflict || restored ? push(history, values) : newHistory(values);
		});
	}, [values, changed.length, conflict, restored]);

	// What is saved is checked too, when the page opens: a record that it refers to may be gone.
	const first = useRef(true);
	// biome-ignore lint/correctness/useExhaustiveDependencies: the parts of the draft are what is checked
	useEffect(() => {
		const { state } = draft;
		if (mode === "read" || state.conflict) return;
		if (graph.steps.length === 0 && state.saved.graph.steps.length === 0 && state.changed.length === 0) return;
		const timer = setTimeout(
			() => {
				const { kind } = draft.state.status;
				if (mode === "draft" && kind === "refused") void draft.save();
				else if (mode === "paused" || kind === "saved") check(draft.state.values).catch(() => undefined);
			},
			first.current ? 0 : pause,
		);
		first.current = false;
		return () => clearTimeout(timer);
	}, [now.graph, now.trigger, now.exits, now.allow_reentry, mode]);

	const write = (part: Partial<Draft>, coalesceKey: string) => {
		if (mode === "read") return;
		const next = { ...draft.state.values, ...part };
		setHistory((history) => push(history, next, coalesceKey));
		draft.change(part);
	};
	const applyHistory = (next: History<Draft>) => {
		setHistory(next);
		if (mode !== "read") draft.change(next.now);
	};
	return {
		id,
		name: server.data.name,
		mode,
		graph,
		start: startOf(now),
		/** What is saved. */
		base: saved,
		dirty,
		issues: [...checks.issues, ...checks.unready],
		warnings: checks.warnings,
		/** How many problems keep something from being saved; the others only keep it from being activated. */
		refused: checks.issues.length,
		leaving: checks.leaving,
		saving: ((): Saving => {
			if (conflict) {
				return { state: "conflict", conflict: { ...conflict, graph: graphOf(conflict.theirs.data) } };
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
			const before = draft.state.values.graph;
			const graph = typeof next === "function" ? next(before) : next;
			if (graph !== before) write({ graph }, coalesceKey);
		},
		/** Changes the start. */
		changeStart: (part: Partial<Start>) => write(part, `edit ${Object.keys(part).join()}`),
		undo: () => applyHistory(undo(history)),
		redo: () => applyHistory(redo(history)),
		/** Drops what is not saved. */
		discard: () => {
			setHistory((history) => push(history, saved));
			draft.discard();
		},
		/** Saves a paused sequence. */
		save: () => draft.save(),
		mergedChanges: mergedChanges && {
			// A step that went is only in what the join was made of.
			steps: mergedChanges.fields
				.map((step) => [now, ...history.past.toReversed()].map(({ graph }) => stepOf(graph, step)).find(Boolean))
				.filter((step): step is Step => step !== undefined),
			start: mergedChanges.fields.map(startPart).filter((part) => part !== undefined),
			by: mergedChanges.author,
			at: mergedChanges.row.updated_at,
		},
		dismissJoined: () => draft.dismissMergedChanges(),
		/** Ends a conflict: for the steps and parts of the start that are named their version stays, for the others the own one. */
		settle: (theirs: Set<string>) => draft.resolveConflict(theirs),
		/** Asks again what is wrong, since records that the sequence refers to may have changed. */
		recheck: () => void check(draft.state.values).catch(() => undefined),
		/** Asks again as well, and saves what was refused because of such a record. */
		retry: () => {
			if (mode === "draft" && draft.state.status.kind === "refused") void draft.save();
			else void check(draft.state.values).catch(() => undefined);
		},
		show: (unready: GraphIssue[]) => setChecks((checks) => ({ ...checks, unready })),
		/** The newest revision of the sequence. */
		revision: () => draft.state.revision ?? undefined,
	};
}

export type Flow = ReturnType<typeof useFlow>;
