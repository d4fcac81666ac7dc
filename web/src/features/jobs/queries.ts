import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client";
import { pollEvery } from "../../base/liveState";
import { answer } from "../../base/queries";
import { isRunning } from "../../base/shell";

/** jobsQuery reads the jobs of a type, the newest first; of everybody or the person's own. */
export const jobsQuery = (type: string, mine: boolean) =>
	infiniteQueryOptions({
		...answer("jobs", type, mine),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("GET /jobs", {
				query: { type, mine: mine || undefined, cursor: pageParam ?? undefined, limit: 50 },
				signal,
			}),
		getNextPageParam: (last) => last.next_cursor,
		refetchInterval: (query) =>
			query.state.data?.pages.some((page) => page.data.some(isRunning)) ? 2000 : pollEvery(15_000)(),
	});

/** jobQuery reads a job, again and again until it has ended: at a pace in milliseconds. */
export const jobQuery = (id: string, pace = 1000) =>
	queryOptions({
		...answer("job", id),
		queryFn: ({ signal }) => api("GET /jobs/{id}", { path: { id }, signal }),
		refetchInterval: (query) => (query.state.data && !isRunning(query.state.data) ? false : pace),
	});
