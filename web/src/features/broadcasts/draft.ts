import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError, request, type Versioned } from "../../api/client";
import type { Actor, BroadcastBody, BroadcastSessionView } from "../../api/schema";
import { held as heldHere, hold, release } from "../../sync/device";
import { useSaveOnLeave } from "../../sync/pendingSaves";
import { liveState, subscribeLive } from "../../base/live";
import { useKey } from "../../base/session";
import { explain } from "../../base/words/errors";
import {
	bodyOf,
	type Clash,
	groupOf,
	merge,
	partOf,
	type Parts,
	partsOf,
	refusedGroups,
	same,
	withParts,
} from "./parts";
import { type Found, useWorkingCopy } from "./workingCopy";

// A draft saves itself: what was changed is sent a moment after the last change, on the revision that it
// was made on. What the server refuses stays in the form and in a working copy, and the rest is saved all
// the same. Changes by others are joined; where both sides changed the same part, the page asks. What has not
// reached the server is kept on this device, and is joined in the same way when the draft is opened again.

export type Refusal = { path: string; message: string };
export type Saving =
	| { state: "saved"; at: Date | null }
	| { state: "saving" }
	| { state: "refused"; problems: Refusal[] }
	| { state: "conflict" }
	| { state: "offline"; problem: string };
export type Conflict = { theirs: Versioned<BroadcastSessionView>; clashes: Clash[]; by: Actor | null };
export type Joined = { groups: string[]; by: Actor | null; at: string };

const pause = 800;

/** Held is what is kept on this device: the parts that are not saved, what they were when they were changed, what of them was sent last without an answer, and the working copies of the server that they go on from. */
type Held = { parts: Parts; base: Parts; sent: Parts; revision: string | null; follows: string[] };

/** joinHeld joins what two tabs have kept, one after the other. What was not saved began with the earlier revision. */
const joinHeld = (a: Held, b: Held): Held => ({
	parts: { ...a.parts, ...b.parts },
	base: { ...b.base, ...a.base },
	sent: { ...a.sent, ...b.sent },
	revision: a.revision ?? b.revision,
	follows: [...new Set([...a.follows, ...b.follows])],
});

/** How long after each failure of the server or the network the changes are sent again. They name the revision that they were made on, so that sending them twice does no harm. */
const pauses = [1000, 3000, 9000, 30_000];

type Server = Versioned<BroadcastSessionView>;

const numberOf = (s: Server) => Number((s.revision ?? "").replace(/\D/g, ""));

/** The parts by group. */
function groups(parts: Parts) {
	const by: { [group: string]: Parts } = {};
	for (const [path, v] of Object.entries(parts)) by[groupOf(path)] = { ...by[groupOf(path)], [path]: v };
	return by;
}

/** useDraft reads a broadcast and saves changes to it. */
export function useDraft(id: string) {
	const key = useKey();
	const client = useQueryClient();
	const [unsaved, setUnsaved] = useState<Parts>({});
	const [saving, setSaving] = useState<Saving>({ state: "saved", at: null });
	const [conflict, setConflict] = useState<Conflict | null>(null);
	const [joined, setJoined] = useState<Joined | null>(null);
	const [saved, setSaved] = useState<BroadcastSessionView>();
	const base = useRef<Server | null>(null);
	const parts = useRef<Parts>({});
	const held = useRef(new Map<string, Refusal>());
	const asked = useRef(false);
	const timer = useRef(0);
	const running = useRef<Promise<void>>(Promise.resolve());
	const failures = useRef(0);
	const again = useRef<(() => void) | null>(null);
	const revision = useRef<string | null>(null);

	const began = useRef<Parts>({}); // what the parts were when they were changed
	const underWay = useRef<Parts>({}); // what was sent last, until it is answered
	const follows = useRef<string[]>([]);
	const older = useRef<Held | null | undefined>(undefined); // what this device has, until it is brought back; undefined before it is read
	const [brought, setBrought] = useState(false);
	const setParts = useCallback(
		(next: Parts) => {
			const server = base.current?.data;
			began.current = Object.fromEntries(
				Object.keys(next).map((p) => [p, p in began.current ? began.current[p] : server ? partOf(server, p) : null]),
			);
			parts.current = next;
			setUnsaved(next);
			const was = older.current;
			if (was === undefined) return;
			const all = { ...was?.parts, ...next };
			if (Object.keys(all).length === 0) release("broadcast", id);
			else
				hold("broadcast", id, {
					parts: all,
					base: { ...was?.base, ...began.current },
					sent: { ...was?.sent, ...underWay.current },
					revision: was ? was.revision : revision.current,
					follows: [...(was?.follows ?? []), ...follows.current],
				} satisfies Held);
		},
		[id],
	);
	const adopt = useCallback((server: Server) => {
		base.current = server;
		revision.current = server.revision;
		setSaved(server.data);
	}, []);

	/** Takes what the server has. It reports whether both sides changed a part, so that nothing can be saved before a choice. */
	const receive = useCallback(
		(server: Server, by: Actor | null) => {
			const was = base.current;
			if (was && numberOf(server) < numberOf(was)) return false; // an answer that was overtaken
			if (!was || Object.keys(parts.current).length === 0 || was.revision === server.revision) {
				adopt(server);
				return false;
			}
			const found = merge(was.data, parts.current, server.data);
			if (found.clashes.length > 0) {
				asked.current = true;
				setConflict({ theirs: server, clashes: found.clashes, by });
				setSaving({ state: "conflict" });
				return true;
			}
			if (found.joined.length > 0) setJoined({ groups: found.joined, by, at: server.data.updated_at });
			adopt(server);
			return false;
		},
		[adopt],
	);

	const query = useQuery({
		queryKey: key("broadcast", id, "draft"),
		queryFn: ({ signal }) => request("GET /broadcasts/{broadcast_id}", { path: { broadcast_id: id }, signal }),
		staleTime: 5000,
		refetchOnWindowFocus: false,
	});
	const sending = useRef(false);
	useEffect(() => {
		if (query.data && !sending.current && !asked.current) receive(query.data, null);
	}, [query.data, receive]);

	const send = useCallback(async () => {
		if (asked.current) return;
		let tries = 0;
		sending.current = true;
		try {
			for (;;) {
				const now = parts.current;
				const todo = Object.fromEntries(Object.entries(now).filter(([path]) => !held.current.has(groupOf(path))));
				if (Object.keys(todo).length === 0) break;
				setSaving({ state: "saving" });
				underWay.current = { ...underWay.current, ...todo };
				setParts(now);
				try {
					const got = await request("PUT /broadcasts/{broadcast_id}", {
						path: { broadcast_id: id },
						body: bodyOf(todo),
						revision: revision.current ?? undefined,
					});
					failures.current = 0;
					adopt(got);
					underWay.current = {};
					for (const path of Object.keys(todo)) delete began.current[path];
					setParts(
						Object.fromEntries(
							Object.entries(parts.current).filter(([path, v]) => !(path in todo && same(v, todo[path]))),
						),
					);
					client.setQueryData(key("broadcast", id, "draft"), got);
					void client.invalidateQueries({ queryKey: key("broadcasts") });
				} catch (e) {
					if (!(e instanceof ApiError)) throw e;
					if (e.code === "REVISION_CONFLICT" && tries++ < 5) {
						const theirs = await request("GET /broadcasts/{broadcast_id}", { path: { broadcast_id: id } });
						client.setQueryData(key("broadcast", id, "draft"), theirs);
						if (receive(theirs, (e.details.updated_by as Actor | undefined) ?? null)) return;
						continue;
					}
					if (e.status === 0 || e.status >= 500) {
						setSaving({ state: "offline", problem: explain(e) });
						timer.current = window.setTimeout(
							() => again.current?.(),
							pauses[Math.min(failures.current++, pauses.length - 1)],
						);
						return;
					}
					const refused = refusedGroups(e);
					const here = [...refused].filter(([group]) => Object.keys(todo).some((path) => groupOf(path) === group));
					const refusals: [string, Refusal][] =
						here.length > 0 ? here : Object.keys(todo).map((path) => [groupOf(path), { path, message: explain(e) }]);
					// What was changed while the request was under way is sent again: the refusal is about former values.
					const sent = groups(todo);
					const current = groups(parts.current);
					for (const [group, r] of refusals) if (same(sent[group], current[group])) held.current.set(group, r);
				}
			}
			const problems = [...held.current.values()];
			setSaving(problems.length > 0 ? { state: "refused", problems } : { state: "saved", at: new Date() });
		} finally {
			sending.current = false;
		}
	}, [adopt, client, id, key, receive, setParts]);

	/** Saves now what waits; resolves when it is saved or refused. */
	const flush = useCallback(() => {
		clearTimeout(timer.current);
		running.current = running.current.then(() =>
			Object.keys(parts.current).some((path) => !held.current.has(groupOf(path))) ? send() : undefined,
		);
		return running.current;
	}, [send]);

	const change = useCallback(
		(body: BroadcastBody) => {
			const changed = partsOf(body);
			for (const [path, v] of Object.entries(changed))
				if (!(path in parts.current) || !same(parts.current[path], v)) held.current.delete(groupOf(path));
			setParts({ ...parts.current, ...changed });
			clearTimeout(timer.current);
			timer.current = window.setTimeout(() => void flush(), pause);
		},
		[flush, setParts],
	);
	useSaveOnLeave(flush);
	useEffect(() => {
		again.current = () => void flush();
		return () => {
			again.current = null;
			void flush();
		};
	}, [flush]);
	useEffect(() => subscribeLive(() => liveState() !== "offline" && void flush()), [flush]);

	/** Ends a conflict: of the groups where theirs was chosen, what was changed here is dropped. */
	const settle = useCallback(
		(theirs: Set<string>) => {
			if (!conflict) return;
			asked.current = false;
			setParts(Object.fromEntries(Object.entries(parts.current).filter(([path]) => !theirs.has(groupOf(path)))));
			for (const group of theirs) held.current.delete(group);
			adopt(conflict.theirs);
			setConflict(null);
			setSaving({ state: "saved", at: null });
			void flush();
		},
		[conflict, adopt, flush, setParts],
	);

	/** Brings back what was kept on this device, and what of the working copy is not in the draft. */
	const bringBack = useCallback(
		async (found: Found, own: string) => {
			await found.here;
			const here = older.current;
			older.current = null;
			follows.current = [own, "", found.mark];
			const server = base.current;
			if (!server) return;
			const value = (path: string) => partOf(server.data, path);
			const known = here?.follows.includes(found.mark); // else another browser has stored it since
			const kept = known ? {} : found.parts;
			const mine: Parts = Object.fromEntries(
				Object.entries({ ...here?.parts, ...kept, ...parts.current }).filter(([path, v]) => !same(v, value(path))),
			);
			if (Object.keys(mine).length === 0) {
				setParts({});
				return;
			}
			const was = Object.fromEntries(
				Object.keys(mine).map((path) => [
					path,
					path in parts.current
						? began.current[path]
						: path in kept || !here || same(here.sent[path], value(path))
							? value(path)
							: here.base[path],
				]),
			);
			base.current = { data: withParts(server.data, was), revision: here?.revision ?? server.revision };
			began.current = was;
			setParts(mine);
			setBrought(!!here && Object.keys(here.parts).some((path) => path in mine));
			if (receive(server, null)) return;
			clearTimeout(timer.current);
			timer.current = window.setTimeout(() => void flush(), pause);
		},
		[flush, receive, setParts],
	);
	const [opened, setOpened] = useState(false);
	const open = useCallback(
		(found: Found, own: string) => bringBack(found, own).finally(() => setOpened(true)),
		[bringBack],
	);
	const read = useCallback(async () => {
		older.current = await heldHere<Held>("broadcast", id, joinHeld);
		if (Object.keys(parts.current).length > 0) setParts(parts.current); // what was typed meanwhile
	}, [id, setParts]);
	const stored = useCallback(() => release("broadcast", id), [id]);
	const kept = saving.state === "refused" || saving.state === "offline" || saving.state === "conflict";
	const { keeps } = useWorkingCopy(
		id,
		saved,
		kept ? unsaved : null,
		saving.state === "refused" ? saving.problems.length : 0,
		{ read, opened: open, stored },
	);

	const changes = bodyOf(unsaved);
	const value = saved
		? ({ ...saved, ...changes, content: { ...saved.content, ...changes.content } } as BroadcastSessionView &
				BroadcastBody)
		: undefined;
	/** The problem of a field, by the path of the field. */
	const problem = (path: string) =>
		saving.state === "refused"
			? saving.problems.find((p) => p.path === path || p.path.startsWith(`${path}[`) || p.path.startsWith(`${path}.`))
					?.message
			: undefined;
	return {
		query,
		saved,
		value,
		changes,
		change,
		flush,
		saving,
		conflict,
		settle,
		joined,
		dismissJoined: () => setJoined(null),
		problem,
		revision,
		brought,
		/** Whether unsaved work has come back, if there is any. */ opened:
			opened || !keeps || (saved !== undefined && saved.status !== "draft"),
	};
}

export type Draft = ReturnType<typeof useDraft>;
