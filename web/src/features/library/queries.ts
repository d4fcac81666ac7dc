import { queryOptions } from "@tanstack/react-query";
import { api, request } from "../../api/client";
import { answer } from "../../base/queries";

/** How many entries a page of the library has. */
export const size = 50;

/** entriesQuery reads a page of the entries that a search finds, and what uses each. */
export const entriesQuery = (search: string, status: string, offset: string) =>
	queryOptions({
		...answer("messages.list", search, status, offset),
		queryFn: ({ signal }) =>
			api("GET /messages", {
				query: {
					search: search || undefined,
					status: status || undefined,
					limit: size,
					offset: Number(offset) || undefined,
					embed: "use",
				},
				signal,
			}),
	});

/** entryQuery reads an entry with its revision. */
export const entryQuery = (id: string) =>
	queryOptions({
		...answer("message", id),
		queryFn: ({ signal }) => request("GET /messages/{id}", { path: { id }, signal }),
		refetchOnWindowFocus: false,
	});

/** versionsQuery reads the versions of an entry. */
export const versionsQuery = (id: string) =>
	queryOptions({
		...answer("message.versions", id),
		queryFn: ({ signal }) => api("GET /messages/{id}/versions", { path: { id }, signal }),
	});

/** entryPreviewQuery renders a version of an entry, the newest if none is named. */
export const entryPreviewQuery = (id: string, version: number | undefined) =>
	queryOptions({
		...answer("message.rendered", id, version),
		retry: false,
		queryFn: ({ signal }) => api("POST /preview", { body: { source: { message_id: id, version } }, signal }),
	});

/** rebaseQuery asks what a version of an entry becomes with its template as it is now. */
export const rebaseQuery = (id: string, version: number) =>
	queryOptions({
		...answer("message.rebase", id, version),
		retry: false,
		queryFn: ({ signal }) => api("POST /messages/{id}/rebase-preview", { path: { id }, body: { version }, signal }),
	});
