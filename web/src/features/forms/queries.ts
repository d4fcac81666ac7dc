import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, request } from "../../api/client";
import type { FormBody } from "../../api/schema";
import { answer } from "../../base/queries";

/** formsQuery reads the forms with some statuses. */
export const formsQuery = (status: string) =>
	queryOptions({
		...answer("forms.list", status),
		queryFn: ({ signal }) => api("GET /forms", { query: { status }, signal }),
		placeholderData: keepPreviousData,
	});

/** formQuery reads a form with its revision. */
export const formQuery = (id: string) =>
	queryOptions({
		...answer("form", id),
		queryFn: ({ signal }) => request("GET /forms/{id}", { path: { id }, signal }),
		refetchOnWindowFocus: false,
	});

/** embedQuery reads how a form is put on a page. */
export const embedQuery = (id: string) =>
	queryOptions({
		...answer("form.embed", id),
		queryFn: ({ signal }) => api("GET /forms/{id}/embed", { path: { id }, signal }),
	});

/** formPreviewQuery renders a form as it is typed. */
export const formPreviewQuery = (id: string, body: string) =>
	queryOptions({
		...answer("form.preview", id, body),
		queryFn: ({ signal }) =>
			api("POST /forms/{id}/preview", { path: { id }, body: JSON.parse(body) as FormBody, signal }),
		placeholderData: keepPreviousData,
	});

/** submissionsQuery reads what people sent with a form, the newest first. */
export const submissionsQuery = (id: string) =>
	infiniteQueryOptions({
		...answer("form.submissions", id),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("GET /forms/{id}/submissions", {
				path: { id },
				query: { limit: 100, cursor: pageParam ?? undefined },
				signal,
			}),
		getNextPageParam: (last) => last.next_cursor,
	});
