import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, request } from "../../api/client";
import { answer } from "../../base/queries";

/** automationsQuery reads the automations with some statuses, page by page. */
export const automationsQuery = (statuses: string, search: string) =>
	infiniteQueryOptions({
		...answer("automations", statuses, search),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("GET /automations", {
				query: { status: statuses || undefined, q: search || undefined, limit: 100, cursor: pageParam ?? undefined },
				signal,
			}),
		getNextPageParam: (last) => last.next_cursor,
		placeholderData: keepPreviousData,
	});

/** automationQuery reads one automation with its revision. */
export const automationQuery = (id: string) =>
	queryOptions({
		...answer("automation", id),
		queryFn: ({ signal }) => request("GET /automations/{id}", { path: { id }, signal }),
	});

/** runsQuery reads the runs of an automation, the newest first. */
export const runsQuery = (id: string, status: string) =>
	infiniteQueryOptions({
		...answer("automation.runs", id, status),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("GET /automations/{id}/runs", {
				path: { id },
				query: { status: status || undefined, limit: 50, cursor: pageParam ?? undefined },
				signal,
			}),
		getNextPageParam: (last) => last.next_cursor,
	});
