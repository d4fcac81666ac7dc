import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { api } from "../../api/client";
import { answer } from "../../base/queries";

/** suppressionsQuery reads the addresses that get no mail, page by page. */
export const suppressionsQuery = (search: string, reason: string) =>
	infiniteQueryOptions({
		...answer("suppressions", search, reason),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("GET /suppressions", { query: { search, reason, limit: 200, cursor: pageParam ?? undefined }, signal }),
		getNextPageParam: (last) => last.next_cursor,
		placeholderData: keepPreviousData,
	});
