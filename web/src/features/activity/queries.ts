import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client";
import { answer } from "../../base/queries";

export type FeedOf = { kind: string; event: string; contact: string };

/** The parameters of a request. */
export type FeedQuery = { types?: string; event_name?: string; contact_id?: string; limit: number };

/** feedQuery reads what contacts did, page by page. What is newer is not put before it (newestQuery). */
export const feedQuery = ({ kind, event, contact }: FeedOf, query: FeedQuery) =>
	infiniteQueryOptions({
		...answer("activity", kind, event, contact),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("GET /activity", { query: { ...query, cursor: pageParam ?? undefined }, signal }),
		getNextPageParam: (last) => last.next_cursor,
		refetchOnWindowFocus: false,
	});

/** How often the feed looks for what is newer, in milliseconds. */
const pause = 10_000;

/** newestQuery reads the first page of a feed again and again. */
export const newestQuery = ({ kind, event, contact }: FeedOf, query: FeedQuery) =>
	queryOptions({
		...answer("activity.newest", kind, event, contact),
		queryFn: ({ signal }) => api("GET /activity", { query, signal }),
		refetchInterval: pause,
	});

/** eventNamesQuery suggests names of events that begin as somebody types. */
export const eventNamesQuery = (search: string) =>
	queryOptions({
		...answer("suggestions.event_names", search),
		queryFn: ({ signal }) => api("GET /suggestions", { query: { for: "event_names", q: search || undefined }, signal }),
		placeholderData: keepPreviousData,
		retry: false,
	});

/** eventPropertiesQuery suggests properties of the events with a name. */
export const eventPropertiesQuery = (event: string, search: string) =>
	queryOptions({
		...answer("suggestions.event_properties", event, search),
		queryFn: ({ signal }) =>
			api("GET /suggestions", {
				query: { for: "event_properties", event_name: event, q: search || undefined },
				signal,
			}),
		placeholderData: keepPreviousData,
		retry: false,
	});
