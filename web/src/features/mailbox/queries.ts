import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client";
import { answer } from "../../base/queries";

/** mailsQuery reads the mails in the built-in mailbox of an MTA config, the newest first. */
export const mailsQuery = (lane: string, search: string) =>
	infiniteQueryOptions({
		...answer("mailbox", lane, search),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("GET /mta-configs/{id}/messages", {
				path: { id: lane },
				query: { search, cursor: pageParam ?? undefined, limit: 50 },
				signal,
			}),
		getNextPageParam: (last) => last.next_cursor,
	});

/** mailQuery reads one mail of a mailbox. */
export const mailQuery = (lane: string, id: string) =>
	queryOptions({
		...answer("mailbox.message", lane, id),
		queryFn: ({ signal }) =>
			api("GET /mta-configs/{id}/messages/{message_id}", { path: { id: lane, message_id: id }, signal }),
	});
