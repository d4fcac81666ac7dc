import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useLocation } from "wouter";
import { api, newKey } from "../../api/client";
import type { BroadcastRow, BroadcastSessionView } from "../../api/schema";
import { collection, workingCopy } from "../../base/collections";
import { useDisabledReason } from "../../base/session";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { unschedule } from "./useStartPhase";
import { problemsIn } from "./parts";
import { answer, within } from "../../base/queries";
import { broadcastsQuery, metricsQuery, sinceOf } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("broadcasts.useBroadcasts", {
	archived: "{count, plural, one {Archived # broadcast} other {Archived # broadcasts}}",
	skipped: "{count, plural, one {# has not finished and stays} other {# have not finished and stay}}",
	restored: "Restored from archive",
	deleted: "Draft deleted",
	counted: "Recounted",
});

/** useBroadcasts reads the list of broadcasts, some months at a time. */
export function useBroadcasts(archived: boolean) {
	const list = useInfiniteQuery(broadcastsQuery(archived));
	const rows = useMemo(() => list.data?.pages.flatMap((page) => page.data) ?? [], [list.data]);
	return { list, rows, since: sinceOf(list.data?.pages.length ?? 1) };
}

/** useMetrics reads the figures of broadcasts that have begun, at most a hundred. */
export function useMetrics(rows: BroadcastRow[]) {
	const client = useQueryClient();
	const ids = rows
		.filter((broadcast) => broadcast.dispatch_started_at)
		.slice(0, 100)
		.map((broadcast) => broadcast.id);
	const query = metricsQuery(ids);
	const metrics = useQuery({ ...query, enabled: ids.length > 0 });
	const recount = useMutation({
		mutationFn: () => api("GET /broadcasts/metrics-bulk", { query: { ids: ids.join(), refresh: true } }),
		onSuccess: (metrics) => {
			client.setQueryData(query.queryKey, metrics);
			toast(words.counted);
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	return {
		metricsById: new Map((metrics.data ?? []).map((metrics) => [metrics.broadcast_id, metrics])),
		recount,
		some: ids.length > 0,
	};
}

/** useUnsaved reads the working copies of drafts: how many problems each has, by the id of the draft. */
export function useUnsaved(): Map<string, number> {
	const disabledReason = useDisabledReason("GET /working-copies/{kind}/{id}");
	const query = useQuery({
		...answer("working_copies.problems"),
		enabled: !disabledReason,
		queryFn: async () => {
			const all = await collection("working_copies");
			const copies = await Promise.all(
				all.data
					.filter((copy) => copy.kind === "broadcast")
					.slice(0, 20)
					.map((copy) => workingCopy("broadcast", copy.id)),
			);
			return copies.filter((copy) => copy !== null).map((copy) => [copy.id, problemsIn(copy.data)] as const);
		},
	});
	return new Map(query.data ?? []);
}

/** How many broadcasts one request archives. */
const batchSize = 100;

/** useCancelling reads a send before somebody is asked whether to cancel it: how many would not get it. */
export function useCancelling() {
	const [broadcast, setBroadcast] = useState<BroadcastSessionView | null>(null);
	const confirmDelete = (id: string) =>
		void api("GET /broadcasts/{broadcast_id}", { path: { broadcast_id: id }, query: { embed: "none" } }).then(
			setBroadcast,
			(error) => toast(explain(error), { tone: "danger" }),
		);
	return { broadcast, ask: confirmDelete, done: () => setBroadcast(null) };
}

/** useActions returns what can be done with rows of the list. */
export function useActions() {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const refresh = () => client.invalidateQueries(within("broadcasts"));
	const fail = (error: unknown) => toast(explain(error), { tone: "danger" });
	const unarchive = async (ids: string[]) => {
		try {
			for (const id of ids) await api("POST /broadcasts/{broadcast_id}/unarchive", { path: { broadcast_id: id } });
		} catch (error) {
			fail(error);
		} finally {
			void refresh();
		}
	};
	const single = useMutation({
		mutationFn: async (variables: {
			id: string;
			action: "unarchive" | "delete" | "clone" | "pause" | "resume" | "unschedule" | "cancel";
		}) => {
			const path = { broadcast_id: variables.id };
			if (variables.action === "unarchive") await api("POST /broadcasts/{broadcast_id}/unarchive", { path });
			else if (variables.action === "delete") await api("DELETE /broadcasts/{broadcast_id}", { path });
			else if (variables.action === "pause") await api("POST /broadcasts/{broadcast_id}/pause", { path });
			else if (variables.action === "resume") await api("POST /broadcasts/{broadcast_id}/resume", { path });
			else if (variables.action === "cancel") await api("POST /broadcasts/{broadcast_id}/cancel", { path });
			else if (variables.action === "unschedule") await unschedule(variables.id);
			else
				navigate(
					to.broadcastDraft(
						(await api("POST /broadcasts/{broadcast_id}/clone", { path, body: {}, idempotencyKey: newKey() })).id,
					),
				);
		},
		onSettled: () => void refresh(),
		onSuccess: (_, variables) => {
			if (variables.action === "unarchive") toast(words.restored);
			if (variables.action === "delete") toast(words.deleted);
		},
		onError: fail,
	});
	const archive = useMutation({
		mutationFn: async (ids: string[]) => {
			const all: { archived: string[]; skipped: string[] } = { archived: [], skipped: [] };
			for (let start = 0; start < ids.length; start += batchSize) {
				const done = await api("POST /broadcasts/bulk-archive", { body: { ids: ids.slice(start, start + batchSize) } });
				all.archived.push(...done.archived);
				all.skipped.push(...done.skipped);
			}
			return all;
		},
		onSettled: () => void refresh(),
		onSuccess: ({ archived, skipped }) => {
			const text = [
				archived.length > 0 && words.archived({ count: archived.length }),
				skipped.length > 0 && words.skipped({ count: skipped.length }),
			]
				.filter(Boolean)
				.join(". ");
			toast(text, archived.length === 0 ? {} : { undo: () => void unarchive(archived) });
		},
		onError: fail,
	});
	return { act: single.mutate, archive: archive.mutate, busy: single.isPending || archive.isPending };
}
