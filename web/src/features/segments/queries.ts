import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, request } from "../../api/client";
import type { ListSegmentRow, SegmentPreviewSession, SegmentSession } from "../../api/schema";
import { answer } from "../../base/queries";
import { withSegmentNames } from "../../base/words/builtInSegments";

/** segmentQuery reads a segment, by its key or id, with its revision and what uses it. */
export const segmentQuery = (key: string) =>
	queryOptions({
		...answer("segment", key),
		queryFn: ({ signal }) => request("GET /segments/{key}", { path: { key }, query: { include_usage: true }, signal }),
	});

/** membersQuery reads the members of a segment that a search finds. */
export const membersQuery = (key: string, search: string) =>
	infiniteQueryOptions({
		...answer("segment.members", key, search),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("GET /segments/{key}/members", {
				path: { key },
				query: { search, limit: 200, cursor: pageParam ?? undefined },
				signal,
			}),
		getNextPageParam: (last) => last.next_cursor,
		placeholderData: keepPreviousData,
	});

/** segmentsWithUseQuery reads all segments, and what uses each. */
export const segmentsWithUseQuery = () =>
	queryOptions({
		...answer("segments.usage"),
		select: withSegmentNames<SegmentSession, ListSegmentRow>,
		queryFn: ({ signal }) => api("GET /segments", { query: { include_usage: true }, signal }),
	});

/** segmentPreviewQuery counts whom a rule describes as it is typed. */
export const segmentPreviewQuery = (definition: string) =>
	queryOptions({
		...answer("segments.preview", definition),
		retry: false,
		placeholderData: keepPreviousData,
		queryFn: ({ signal }) =>
			api("POST /segments/preview", {
				body: { definition: JSON.parse(definition) },
				signal,
			}) as Promise<SegmentPreviewSession>,
	});
