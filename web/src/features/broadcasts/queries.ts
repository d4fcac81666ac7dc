import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, request } from "../../api/client";
import type { BroadcastContent, PreviewRequestBody, RuleDefinition } from "../../api/schema";
import { pollEvery } from "../../base/liveState";
import { answer } from "../../base/queries";

/** The list is loaded by this many months, the newest first. */
const months = 6;

/** monthsAgo returns the beginning of the month that was some months ago, in UTC. */
export function monthsAgo(months: number): string {
	const date = new Date();
	date.setUTCHours(0, 0, 0, 0);
	date.setUTCDate(1);
	date.setUTCMonth(date.getUTCMonth() - months);
	return date.toISOString();
}

/** sinceOf returns the time from which the first pages of the list have all broadcasts. */
export const sinceOf = (pages: number) => monthsAgo(pages * months - 1);

/** broadcastsQuery reads the list of broadcasts, some months at a time. */
export const broadcastsQuery = (archived: boolean) =>
	infiniteQueryOptions({
		...answer("broadcasts.list", archived),
		initialPageParam: 0,
		queryFn: ({ pageParam, signal }) =>
			api("GET /broadcasts", {
				query: {
					archived: archived ? "only" : undefined,
					since: sinceOf(pageParam + 1),
					before: pageParam === 0 ? undefined : sinceOf(pageParam),
				},
				signal,
			}),
		getNextPageParam: (_, all) => (all.length < 20 ? all.length : null),
	});

/** metricsQuery reads the figures of some broadcasts. */
export const metricsQuery = (ids: string[]) =>
	queryOptions({
		...answer("broadcasts.metrics", ids),
		queryFn: ({ signal }) => api("GET /broadcasts/metrics-bulk", { query: { ids: ids.join() }, signal }),
		placeholderData: keepPreviousData,
	});

/** lastSendQuery reads the broadcast that was sent last, and its figures; null if there is none. */
export const lastSendQuery = () =>
	queryOptions({
		...answer("broadcasts.last_send"),
		queryFn: async ({ signal }) => {
			const sent = await api("GET /broadcasts", { query: { status: "completed" }, signal });
			const [last] = sent.data
				.filter((broadcast) => broadcast.dispatch_started_at)
				.sort((a, b) => ((a.dispatch_started_at ?? "") < (b.dispatch_started_at ?? "") ? 1 : -1));
			if (!last) return null;
			const [metrics] = await api("GET /broadcasts/metrics-bulk", { query: { ids: last.id }, signal });
			return { last, metrics };
		},
	});

/** draftQuery reads a draft with its revision, as the composer edits it. */
export const draftQuery = (id: string) =>
	queryOptions({
		...answer("broadcast.draft", id),
		queryFn: ({ signal }) => request("GET /broadcasts/{broadcast_id}", { path: { broadcast_id: id }, signal }),
		refetchOnWindowFocus: false,
	});

/** broadcastQuery reads a broadcast, of which only a draft comes with its content. */
export const broadcastQuery = (id: string) =>
	queryOptions({
		...answer("broadcast", id),
		queryFn: async ({ client, signal }) => {
			const response = await request("GET /broadcasts/{broadcast_id}", {
				path: { broadcast_id: id },
				query: { embed: "draft" },
				signal,
			});
			// A draft is edited: the composer goes on with this answer.
			if (response.data.status === "draft") client.setQueryData(draftQuery(id).queryKey, response);
			return response.data;
		},
		refetchInterval: (query) => {
			const now = query.state.data;
			if (now?.status === "scheduled" || now?.status === "sending") return 2000;
			// That the cause of a pause is gone changes no broadcast, so nothing announces it.
			return now?.status === "paused" && now.pause_reason !== "user" ? 5000 : pollEvery(15_000)();
		},
	});

/** recipientQuery reads what one person got of a broadcast, and what became of it. */
export const recipientQuery = (id: string, contact: string) =>
	queryOptions({
		...answer("broadcast.recipient", id, contact),
		queryFn: ({ signal }) =>
			api("GET /broadcasts/{broadcast_id}/recipients/{contact_id}", {
				path: { broadcast_id: id, contact_id: contact },
				signal,
			}),
	});

/** asSentQuery reads the mail of a broadcast as it was sent, or of one of its variants. */
export const asSentQuery = (id: string, variant: string) =>
	queryOptions({
		...answer("broadcast.as_sent", id, variant),
		queryFn: ({ signal }) =>
			api("POST /preview", { body: { source: { broadcast_id: id }, variant_id: variant || undefined }, signal }),
	});

/** previewQuery renders the mail of a draft, or of what is typed of it. */
export const previewQuery = (id: string, request: PreviewRequestBody & { changed?: string }) =>
	queryOptions({
		...answer("broadcast.preview", id, request),
		queryFn: ({ signal }) => {
			const { changed: _, ...body } = request;
			return api("POST /preview", { body, signal });
		},
		retry: false,
		placeholderData: keepPreviousData,
	});

/** compareQuery renders the content that a broadcast has, or that its template makes of it now. */
export const compareQuery = (
	id: string,
	changed: string,
	version: "kept" | "anew",
	source: { broadcast_id?: string; content?: BroadcastContent },
) =>
	queryOptions({
		...answer("broadcast.compare", id, version, changed),
		queryFn: ({ signal }) => api("POST /preview", { body: { source }, signal }),
	});

/** forecastQuery asks who would get a draft as it was stored at a time, from whom and when. */
export const forecastQuery = (id: string, changed: string) =>
	queryOptions({
		...answer("broadcast.forecast", id, changed),
		placeholderData: keepPreviousData,
		queryFn: ({ signal }) => api("POST /broadcasts/preview-send", { body: { broadcast_id: id }, signal }),
	});

/** rescheduleQuery asks when the mails of a send would leave that skips some days. */
export const rescheduleQuery = (id: string, skipped: string[]) =>
	queryOptions({
		...answer("broadcast.reschedule", id, skipped),
		queryFn: ({ signal }) =>
			api("POST /broadcasts/preview-send", { body: { broadcast_id: id, skipped_dates: skipped }, signal }),
		retry: false,
		placeholderData: keepPreviousData,
	});

/** How often figures are read again, in milliseconds: while mails leave, and later. */
const pace = (live: boolean) => (live ? 10_000 : 300_000);

/** reportQuery reads the figures of a broadcast. */
export const reportQuery = (id: string, live: boolean) =>
	queryOptions({
		...answer("report", id),
		queryFn: ({ signal }) => api("GET /broadcasts/{broadcast_id}/report", { path: { broadcast_id: id }, signal }),
		staleTime: pace(live),
		refetchInterval: pace(live),
	});

/** linksQuery reads the clicks of each link. */
export const linksQuery = (id: string, live: boolean) =>
	queryOptions({
		...answer("report.links", id),
		queryFn: ({ signal }) => api("GET /broadcasts/{broadcast_id}/links", { path: { broadcast_id: id }, signal }),
		refetchInterval: pace(live),
	});

/** engagementQuery reads who opened and clicked, by program, device and the like. */
export const engagementQuery = (id: string, live: boolean) =>
	queryOptions({
		...answer("report.engagement", id),
		queryFn: ({ signal }) => api("GET /broadcasts/{broadcast_id}/engagement", { path: { broadcast_id: id }, signal }),
		refetchInterval: pace(live),
	});

/** timingQuery reads what happened in each hour or day. */
export const timingQuery = (id: string, interval: string, live: boolean) =>
	queryOptions({
		...answer("report.timing", id, interval),
		queryFn: ({ signal }) =>
			api("GET /broadcasts/{broadcast_id}/timing", {
				path: { broadcast_id: id },
				query: { interval: interval === "hour" || interval === "day" ? interval : undefined },
				signal,
			}),
		refetchInterval: pace(live),
		placeholderData: keepPreviousData,
	});

/** bouncesQuery reads the bounces of a broadcast. */
export const bouncesQuery = (id: string) =>
	infiniteQueryOptions({
		...answer("report.bounces", id),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("GET /broadcasts/{broadcast_id}/bounces", {
				path: { broadcast_id: id },
				query: { cursor: pageParam ?? undefined, limit: 100 },
				signal,
			}),
		getNextPageParam: (last) => last.next_cursor,
	});

export type RecipientsOf = { status: string; search: string; variant_id?: string };

/** recipientsQuery reads the recipients of a broadcast by the state of their mail. */
export const recipientsQuery = (id: string, query: RecipientsOf) =>
	infiniteQueryOptions({
		...answer("report.recipients", id, query),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("GET /broadcasts/{broadcast_id}/recipients", {
				path: { broadcast_id: id },
				query: { ...query, limit: 200, cursor: pageParam ?? undefined },
				signal,
			}),
		getNextPageParam: (last) => last.next_cursor,
		placeholderData: keepPreviousData,
	});

/** didQuery reads the contacts to whom something happened by a broadcast: those that a rule describes. */
export const didQuery = (id: string, rule: RuleDefinition) =>
	infiniteQueryOptions({
		...answer("report.did", id, rule),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("POST /contacts/search", { body: { definition: rule, limit: 200, cursor: pageParam }, signal }),
		getNextPageParam: (last) => last.next_cursor,
		placeholderData: keepPreviousData,
	});

/** didCountQuery counts the contacts of didQuery. */
export const didCountQuery = (id: string, rule: RuleDefinition) =>
	queryOptions({
		...answer("report.did.count", id, rule),
		queryFn: ({ signal }) => api("POST /contacts/count", { body: { definition: rule }, signal }),
	});
