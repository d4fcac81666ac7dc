import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { useLocation } from "wouter";
import { api, newKey } from "../api/client";
import type { LeanSession } from "../api/schema";
import { collection } from "../app/collections";
import { pollEvery } from "../app/live";
import { useKey, useWhyNot } from "../app/session";
import { toast } from "../ui/Toast";
import { catalogue, plural } from "../words/catalogue";
import { explain } from "../words/errors";
import { type Copy, problemsIn } from "./workingCopy";

const words = catalogue({
	archived: (n: number) => plural(n, { one: "Archived # broadcast", other: "Archived # broadcasts" }),
	skipped: (n: number) => plural(n, { one: "# is under way and stays", other: "# are under way and stay" }),
	counted: "Counted again",
});

/** The list is loaded by this many months, the newest first. */
const months = 6;

function monthsAgo(n: number): string {
	const d = new Date();
	d.setUTCHours(0, 0, 0, 0);
	d.setUTCDate(1);
	d.setUTCMonth(d.getUTCMonth() - n);
	return d.toISOString();
}

/** useBroadcasts reads the list of broadcasts, some months at a time. */
export function useBroadcasts(archived: boolean) {
	const key = useKey();
	const list = useInfiniteQuery({
		queryKey: key("broadcasts", "list", archived),
		initialPageParam: 0,
		queryFn: ({ pageParam, signal }) =>
			api("GET /broadcasts", {
				query: { archived: archived ? "only" : undefined, since: monthsAgo((pageParam + 1) * months - 1), before: pageParam === 0 ? undefined : monthsAgo(pageParam * months - 1) },
				signal,
			}),
		getNextPageParam: (_, all) => (all.length < 20 ? all.length : null),
		refetchInterval: pollEvery(15_000),
	});
	const rows = useMemo(() => (list.data?.pages.flatMap((p) => p.data) ?? []) as LeanSession[], [list.data]);
	return { list, rows, since: monthsAgo((list.data?.pages.length ?? 1) * months - 1) };
}

/** useMetrics reads the figures of broadcasts that have begun, at most a hundred. */
export function useMetrics(rows: LeanSession[]) {
	const key = useKey();
	const client = useQueryClient();
	const ids = rows
		.filter((b) => b.dispatch_started_at)
		.slice(0, 100)
		.map((b) => b.id);
	const name = key("broadcasts", "metrics", ids.join());
	const metrics = useQuery({
		queryKey: name,
		enabled: ids.length > 0,
		queryFn: ({ signal }) => api("GET /broadcasts/metrics-bulk", { query: { ids: ids.join() }, signal }),
		placeholderData: (b) => b,
		refetchInterval: pollEvery(15_000),
	});
	const recount = useMutation({
		mutationFn: () => api("GET /broadcasts/metrics-bulk", { query: { ids: ids.join(), refresh: "true" } }),
		onSuccess: (fresh) => {
			client.setQueryData(name, fresh);
			toast(words.counted);
		},
		onError: (e) => toast(explain(e), { tone: "danger" }),
	});
	return { of: new Map((metrics.data ?? []).map((m) => [m.broadcast_id, m])), recount, some: ids.length > 0 };
}

/** useUnsaved reads the working copies of drafts: how many problems each has, by the id of the draft. */
export function useUnsaved(): Map<string, number> {
	const key = useKey();
	const why = useWhyNot("GET /working-copies/{kind}/{id}");
	const found = useQuery({
		queryKey: key("working-copies", "broadcast"),
		enabled: !why,
		queryFn: async ({ signal }) => {
			const all = await collection("working_copies");
			return Promise.all(all.data.filter((c) => c.kind === "broadcast").slice(0, 20).map(async (c) => [c.id, problemsIn((await api("GET /working-copies/{kind}/{id}", { path: { kind: "broadcast", id: c.id }, signal })).data as Copy)] as const));
		},
	});
	return new Map(found.data ?? []);
}

/** useActions returns what can be done with rows of the list. */
export function useActions() {
	const key = useKey();
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const refresh = () => client.invalidateQueries({ queryKey: key("broadcasts") });
	const fail = (e: unknown) => toast(explain(e), { tone: "danger" });
	const one = useMutation({
		mutationFn: async (v: { id: string; do: "unarchive" | "delete" | "clone" | "pause" | "resume" | "unschedule" }) => {
			const path = { broadcast_id: v.id };
			if (v.do === "unarchive") await api("POST /broadcasts/{broadcast_id}/unarchive", { path });
			else if (v.do === "delete") await api("DELETE /broadcasts/{broadcast_id}", { path });
			else if (v.do === "pause") await api("POST /broadcasts/{broadcast_id}/pause", { path });
			else if (v.do === "resume") await api("POST /broadcasts/{broadcast_id}/resume", { path });
			else if (v.do === "unschedule") await api("POST /broadcasts/{broadcast_id}/unschedule", { path });
			else navigate(`/broadcasts/${(await api("POST /broadcasts/{broadcast_id}/clone", { path, body: {}, idempotencyKey: newKey() })).id}/edit`);
		},
		onSettled: () => void refresh(),
		onError: fail,
	});
	const archive = useMutation({
		mutationFn: (ids: string[]) => api("POST /broadcasts/bulk-archive", { body: { ids } }),
		onSuccess: (done) => {
			void refresh();
			toast([words.archived(done.archived.length), done.skipped.length > 0 && words.skipped(done.skipped.length)].filter(Boolean).join(". "), {
				undo: () =>
					void Promise.all(done.archived.map((id) => api("POST /broadcasts/{broadcast_id}/unarchive", { path: { broadcast_id: id } })))
						.catch(fail)
						.finally(() => void refresh()),
			});
		},
		onError: fail,
	});
	return { act: one.mutate, archive: archive.mutate, busy: one.isPending || archive.isPending };
}
