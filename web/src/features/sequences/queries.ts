import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, request } from "../../api/client";
import { pollEvery } from "../../base/liveState";
import { answer } from "../../base/queries";

/** sequencesWithCountsQuery reads all sequences, and how many are on their way through each. */
export const sequencesWithCountsQuery = () =>
	queryOptions({
		...answer("sequences.counts"),
		queryFn: ({ signal }) => api("GET /sequences", { query: { include_counts: true }, signal }),
	});

/** sequenceQuery reads a sequence with its revision. */
export const sequenceQuery = (id: string) =>
	queryOptions({
		...answer("sequence", id),
		queryFn: ({ signal }) => request("GET /sequences/{id}", { path: { id }, signal }),
	});

/** sequenceReportQuery reads how many are at each step, more often while the sequence runs. */
export const sequenceReportQuery = (id: string, running: boolean) =>
	queryOptions({
		...answer("sequence.report", id),
		queryFn: ({ signal }) => api("GET /sequences/{id}/report", { path: { id }, signal }),
		refetchInterval: pollEvery(running ? 10_000 : 60_000),
	});

/** sequenceDaysQuery reads what a sequence sent on each day. */
export const sequenceDaysQuery = (id: string, from: string, to: string) =>
	queryOptions({
		...answer("sequence.days", id, from, to),
		queryFn: ({ signal }) => api("GET /sequences/{id}/timing", { path: { id }, query: { from, to }, signal }),
		placeholderData: keepPreviousData,
	});

/** peopleQuery reads the contacts at a step of a sequence, or with a status. */
export const peopleQuery = (id: string, step: string, status: string) =>
	infiniteQueryOptions({
		...answer("sequence.people", id, step, status),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("GET /sequences/{id}/enrollments", {
				path: { id },
				query: { node_id: step, status, limit: 100, cursor: pageParam ?? undefined },
				signal,
			}),
		getNextPageParam: (last) => last.next_cursor,
	});

/** stepsQuery reads the steps that somebody took in a sequence. */
export const stepsQuery = (id: string, enrollment: string) =>
	queryOptions({
		...answer("sequence.steps", id, enrollment),
		queryFn: ({ signal }) =>
			api("GET /sequences/{id}/enrollments/{enrollment_id}/steps", {
				path: { id, enrollment_id: enrollment },
				query: { limit: 200 },
				signal,
			}),
	});
