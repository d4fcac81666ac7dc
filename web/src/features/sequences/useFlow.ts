import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { ApiError, api, request, type Versioned } from "../../api/client";
import type { Actor, GraphCheck, GraphIssue, Sequence } from "../../api/schema";
import { useSaveOnLeave } from "../../sync/pendingSaves";
import { useKey } from "../../base/session";
import { type Place, useWorkingCopy } from "../../sync/workingCopy";
import { explain } from "../../base/words/errors";
import { begin, bodyOf, equal, type Graph, graphOf, type History, push, redo, same, type Step, undo } from "./graph";
import { type Clash, merge, type Side } from "./merge";

// The graph of a sequence while it is edited. A draft saves itself a moment after the last change, if its
// graph is valid; what is not valid, and all changes of a paused sequence, are kept in a working copy.

export type Saving =
	| { state: "saved"; at: Date | null }
	| { state: "saving" }
	| { state: "kept" }
	| { state: "failed"; problem: string }
	| { state: "conflict"; conflict: Conflict };

/** Conflict is what both sides changed differently. */
export type Conflict = { clashes: Clash[]; theirs: Versioned<Sequence>; graph: Graph; by: Actor | null };

/** Joined tells which steps changes by others were taken over for. */
export type Joined = { steps: Step[]; by: Actor | null; at: string };

/** Base is what is saved: as it was sent, and as the server has it, which writes some configurations otherwise. */
type Base = { graph: Graph; stored: Graph; revision: string | null };

const pause = 800;

const numberOf = (revision: string | null) => Number((revision ?? "").replace(/\D/g, "")) || 0;

/** useFlow holds the graph of a sequence that is edited. */
export function useFlow(server: Versioned<Sequence>, may: boolean) {
	const key = useKey();
	const client = useQueryClient();
	const { id, status } = server.data;
	const mode = may && (status === "draft" || status === "paused") ? status : "read";
	const [history, setHistory] = useState<History>(() => begin(graphOf(server.data)));
	const [base, setBase] = useState<Base>(() => ({
		graph: history.now,
		stored: history.now,
		revision: server.revision,
	}));
	const [issues, setIssues] = useState<GraphIssue[]>([]);
	const [unready, setUnready] = useState<GraphIssue[]>([]);
	const [leaving, setLeaving] = useState(0);
	const [saving, setSaving] = useState<Saving>({ state: "saved", at: null });
	const [restored, setRestored] = useState<Place | null>(null);
	const [joined, setJoined] = useState<Joined | null>(null);
	const changed = !equal(history.now, base.graph);
	const graph = mode === "read" ? base.graph : history.now; // changes are kept while somebody else has made it active
	const dirty = mode !== "read" && changed;
	const latest = useRef({ graph, base, changed, dirty, mode });
	latest.current = { graph, base, changed, dirty, mode };
	const timer = useRef(0);
	const running = useRef<Promise<boolean>>(Promise.resolve(true));
	const stuck = useRef(false); // a conflict waits for a choice
	const underWay = useRef<Graph | null>(null); // what is sent, until it is answered

	const adopt = useCallback((got: Versioned<Sequence>, undoable = false) => {
		const g = graphOf(got.data);
		setBase({ graph: g, stored: g, revision: got.revision });
		setHistory((h) => (undoable ? push(h, g) : begin(g)));
		setIssues([]);
		setUnready([]);
		setLeaving(0);
		setSaving({ state: "saved", at: null });
	}, []);

	/** Goes on with the own graph joined with what others have saved. */
	const join = useCallback((got: Versioned<Sequence>, by: Actor | null, choose?: (id: string | null) => Side) => {
		const now = latest.current;
		const theirs = graphOf(got.data);
		const found = merge({ mine: now.base.graph, theirs: now.base.stored }, now.graph, theirs, choose);
		if (!choose && found.clashes.length > 0) return found;
		const next = { graph: theirs, stored: theirs, revision: got.revision };
		latest.current = { ...now, base: next, graph: found.graph, changed: true, dirty: now.mode !== "read" };
		setBase(next);
		setHistory((h) => push(h, found.graph));
		setJoined({ steps: found.taken, by, at: got.data.updated_at });
		setSaving(equal(found.graph, theirs) ? { state: "saved", at: null } : { state: "kept" });
		return null;
	}, []);

	/** Takes what the server has. It reports whether both sides changed the same part of the graph. */
	const receive = useCallback(
		(got: Versioned<Sequence>, by: Actor | null): boolean => {
			const now = latest.current;
			if (numberOf(got.revision) <= numberOf(now.base.revision)) return false;
			const theirs = graphOf(got.data);
			if (equal(theirs, now.base.stored)) {
				const next = { ...now.base, revision: got.revision };
				latest.current = { ...now, base: next };
				setBase(next);
				return false;
			}
			if (!now.changed || equal(theirs, now.graph)) {
				adopt(got);
				return false;
			}
			const found = join(got, by);
			if (!found) return false;
			stuck.current = true;
			setSaving({ state: "conflict", conflict: { clashes: found.clashes, theirs: got, graph: theirs, by } });
			return true;
		},
		[adopt, join],
	);
	useEffect(() => {
		if (!stuck.current) receive(server, null);
	}, [server, receive]);

	/** Asks what is wrong with a graph, and how many people would leave. */
	const check = useCallback(
		async (asked: Graph): Promise<boolean> => {
			const found = (await api("PUT /sequences/{id}/graph", {
				path: { id },
				body: { ...bodyOf(asked), dry_run: true },
			})) as GraphCheck;
			const now = latest.current;
			if (now.graph === asked && !stuck.current) {
				setIssues(found.issues);
				setUnready(found.unready);
				setLeaving(found.leaving);
				if (equal(asked, now.base.graph)) setSaving((s) => (s.state === "saved" ? s : { state: "saved", at: null }));
				else if (!found.valid || now.mode === "paused") setSaving({ state: "kept" });
			}
			return found.valid;
		},
		[id],
	);

	/**
	 * Saves a draft that has changed, or a paused sequence on demand; else it only checks the graph. It reports whether
	 * the graph is valid, and saved if it was to be.
	 */
	const send = useCallback(
		async (demanded: boolean): Promise<boolean> => {
			for (let tries = 0; tries < 5; tries++) {
				const now = latest.current;
				if (now.mode === "read" || stuck.current) return false;
				const save = demanded || (now.mode === "draft" && !equal(now.graph, now.base.graph));
				if (save) {
					underWay.current = now.graph;
					setSaving({ state: "saving" });
				}
				try {
					// What is not valid is not sent to be saved: the check tells all that is wrong with it.
					if (save && !(await check(now.graph))) return false;
					if (!save) return await check(now.graph);
					const got = await request("PUT /sequences/{id}/graph", {
						path: { id },
						body: bodyOf(now.graph),
						revision: now.base.revision ?? undefined,
					});
					underWay.current = null;
					const stored = got as Versioned<Sequence>;
					const next = { graph: now.graph, stored: graphOf(stored.data), revision: stored.revision };
					latest.current = { ...latest.current, base: next, dirty: !equal(latest.current.graph, now.graph) };
					setBase(next);
					setIssues([]);
					setLeaving(0);
					setSaving({ state: "saved", at: new Date() });
					client.setQueryData(key("sequence", id), stored);
					void client.invalidateQueries({ queryKey: key("sequences") });
					void client.invalidateQueries({ queryKey: key("sequence", id, "report") });
					if (!latest.current.dirty) return true; // else it was changed meanwhile
				} catch (e) {
					if (e instanceof ApiError && e.code === "REVISION_CONFLICT") {
						const theirs = await request("GET /sequences/{id}", { path: { id } });
						client.setQueryData(key("sequence", id), theirs);
						if (receive(theirs, (e.details.updated_by as Actor | undefined) ?? null)) return false;
						continue;
					}
					if (e instanceof ApiError && e.code === "INVALID_GRAPH") {
						setIssues((e.details.issues as GraphIssue[] | undefined) ?? []);
						setSaving({ state: "kept" });
						return false;
					}
					if (e instanceof ApiError && e.code === "NOT_EDITABLE")
						void client.invalidateQueries({ queryKey: key("sequence", id) });
					setSaving({ state: "failed", problem: explain(e) });
					return false;
				}
			}
			return false;
		},
		[check, client, id, key, receive],
	);

	const run = useCallback(
		(demanded = false) => {
			clearTimeout(timer.current);
			running.current = running.current.then(() => send(demanded));
			return running.current;
		},
		[send],
	);
	/** Saves a draft now, if something waits; resolves to whether all is saved. */
	const flush = useCallback(async (): Promise<boolean> => {
		clearTimeout(timer.current);
		await running.current;
		if (!latest.current.dirty) return true;
		return latest.current.mode === "draft" ? run() : false;
	}, [run]);

	// What is saved is checked too, when the page opens and when the trigger changes: a record that it refers to
	// may be gone.
	const trigger = JSON.stringify(server.data.entry_trigger);
	const first = useRef(true);
	// biome-ignore lint/correctness/useExhaustiveDependencies: the check looks at the trigger, too
	useEffect(() => {
		if (mode === "read" || stuck.current) return;
		if (graph.steps.length === 0 && latest.current.base.graph.steps.length === 0) return;
		if (mode === "draft" && !equal(graph, latest.current.base.graph)) setSaving({ state: "saving" });
		const wait = first.current ? 0 : pause;
		first.current = false;
		timer.current = window.setTimeout(() => void run(), wait);
		return () => clearTimeout(timer.current);
	}, [graph, mode, run, trigger]);
	useSaveOnLeave(() => (latest.current.dirty && latest.current.mode === "draft" ? flush() : undefined));
	useEffect(() => () => void flush(), [flush]);

	const newest = useRef(server);
	newest.current = server;
	const { drop } = useWorkingCopy<{ graph: Graph; from: Graph; sent: Graph | object }>({
		kind: "sequence",
		id,
		title: server.data.name,
		base: numberOf(base.revision),
		value: { graph: history.now, from: base.stored, sent: underWay.current ?? {} },
		dirty: changed,
		may,
		restore: ({ graph: kept, from, sent }, _, place) => {
			const now = latest.current;
			if (now.mode === "read") return;
			if (!kept || !Array.isArray(kept.steps) || equal(kept, now.graph)) {
				if (!now.changed) void drop();
				return;
			}
			setHistory((h) => push(h, kept));
			setRestored(place);
			if (!from || !Array.isArray(from.steps) || equal(from, now.base.stored) || same(sent, now.base.stored)) return;
			// Somebody has saved it since: it is joined with what the work began with.
			const began = { graph: from, stored: from, revision: null };
			latest.current = { ...now, base: began, graph: kept, changed: true, dirty: true };
			setBase(began);
			receive(newest.current, null);
		},
	});

	return useMemo(
		() => ({
			mode,
			graph,
			base: base.graph,
			dirty,
			issues: [...issues, ...unready],
			/** How many problems keep the graph from being saved; the others only keep it from being activated. */
			refused: issues.length,
			leaving,
			saving,
			restored,
			flush,
			canUndo: history.past.length > 0,
			canRedo: history.future.length > 0,
			/** Changes the graph; changes with the same name one after the other are undone together. */
			change: (next: Graph | ((g: Graph) => Graph), of = "") => {
				if (latest.current.mode !== "read")
					setHistory((h) => push(h, typeof next === "function" ? next(h.now) : next, of));
			},
			undo: () => setHistory(undo),
			redo: () => setHistory(redo),
			/** Drops what is not saved. */
			discard: () => {
				setHistory((h) => push(h, latest.current.base.graph));
				setRestored(null);
				void drop();
			},
			/** Saves the graph of a paused sequence. */
			save: () => run(true),
			joined,
			dismissJoined: () => setJoined(null),
			/** Ends a conflict: for the steps that are named their version stays, for the others the own one. */
			settle: (theirs: Set<string>) => {
				if (saving.state !== "conflict") return;
				stuck.current = false;
				join(saving.conflict.theirs, saving.conflict.by, (id) => (theirs.has(id ?? "") ? "theirs" : "mine"));
				void run();
			},
			show: (found: GraphIssue[]) => setUnready(found),
			/** The newest revision of the sequence. */
			revision: () => latest.current.base.revision ?? undefined,
		}),
		[
			mode,
			graph,
			base.graph,
			dirty,
			issues,
			unready,
			leaving,
			saving,
			restored,
			joined,
			flush,
			history,
			drop,
			run,
			join,
		],
	);
}

export type Flow = ReturnType<typeof useFlow>;
