import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client";
import type { SearchContactsRequestBody } from "../../api/schema";
import { answer } from "../../base/queries";

/** How many rows the table of contacts holds at most. */
export const maxContacts = 10_000;
const pageSize = 200;

type Selector = Pick<SearchContactsRequestBody, "search" | "filters">;

/** contactsQuery reads the contacts that a selector finds, page by page. */
export const contactsQuery = (selector: Selector, sort: string, dir: "asc" | "desc") =>
	infiniteQueryOptions({
		...answer("contacts", selector, sort, dir),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("POST /contacts/search", { body: { ...selector, sort, dir, limit: pageSize, cursor: pageParam }, signal }),
		getNextPageParam: (last, all) => (all.length * pageSize >= maxContacts ? null : last.next_cursor),
		placeholderData: keepPreviousData,
	});

/** contactCountQuery counts the contacts that a selector finds. */
export const contactCountQuery = (selector: Selector) =>
	queryOptions({
		...answer("contacts.count", selector),
		queryFn: ({ signal }) =>
			api("GET /contacts/count", {
				query: { search: selector.search ?? undefined, filters: JSON.stringify(selector.filters) },
				signal,
			}),
		placeholderData: keepPreviousData,
	});

/** foundContactsQuery finds a few contacts by name or address, to choose one. */
export const foundContactsQuery = (text: string) =>
	queryOptions({
		...answer("contacts.found", text),
		queryFn: ({ signal }) => api("POST /contacts/search", { body: { search: text || undefined, limit: 20 }, signal }),
		placeholderData: keepPreviousData,
	});

/** holdersQuery reads the contacts that have one of at most 200 addresses. */
export const holdersQuery = (emails: string[]) =>
	queryOptions({
		...answer("contacts.holding", emails),
		enabled: emails.length > 0,
		queryFn: ({ signal }) =>
			api("POST /contacts/search", {
				body: { filters: [{ field: "email", operator: "in", value: emails }], limit: 200 },
				signal,
			}),
	});

/** lackingQuery counts the contacts that lack fields, by field. */
export const lackingQuery = (fields: string[]) =>
	queryOptions({
		...answer("contacts.lacking", fields),
		enabled: fields.length > 0,
		retry: false,
		queryFn: ({ signal }) => api("POST /contacts/count", { body: { lacking: fields }, signal }),
	});

/** contactQuery reads one contact. */
export const contactQuery = (id: string) =>
	queryOptions({
		...answer("contact", id),
		queryFn: ({ signal }) => api("GET /contacts/{id}", { path: { id }, signal }),
	});

/** consentsQuery reads what a contact chose, and where. */
export const consentsQuery = (id: string) =>
	queryOptions({
		...answer("contact.consents", id),
		queryFn: ({ signal }) => api("GET /contacts/{id}/consents", { path: { id }, signal }),
	});

/** listsQuery reads the static segments that have a contact. */
export const listsQuery = (id: string) =>
	queryOptions({
		...answer("contact.lists", id),
		queryFn: ({ signal }) => api("GET /contacts/{id}/lists", { path: { id }, signal }),
	});

/** enrollmentsQuery reads a contact's ways through sequences. */
export const enrollmentsQuery = (id: string) =>
	queryOptions({
		...answer("contact.enrollments", id),
		queryFn: ({ signal }) =>
			api("GET /sequences/contact/{contact_id}/enrollments", { path: { contact_id: id }, signal }),
	});

/** contactMailQuery reads the mails that a contact got. */
export const contactMailQuery = (id: string) =>
	infiniteQueryOptions({
		...answer("contact.mail", id),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("GET /contacts/{id}/activity", {
				path: { id },
				query: { types: "email_sent,email_delivered", cursor: pageParam ?? undefined, limit: 50 },
				signal,
			}),
		getNextPageParam: (last) => last.next_cursor,
	});

/** contactActivityQuery reads what happened to a contact, page by page. */
export const contactActivityQuery = (id: string) =>
	infiniteQueryOptions({
		...answer("contact.activity", id),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("GET /contacts/{id}/activity", {
				path: { id },
				query: { cursor: pageParam ?? undefined, limit: 100 },
				signal,
			}),
		getNextPageParam: (last) => last.next_cursor,
	});

/** latestActivityQuery reads the last five of what happened to a contact. */
export const latestActivityQuery = (id: string) =>
	queryOptions({
		...answer("contact.activity.latest", id),
		queryFn: ({ signal }) => api("GET /contacts/{id}/activity", { path: { id }, query: { limit: 5 }, signal }),
	});

/**
 * eligibilityQuery asks whether a contact gets mail: about is a parameter of the request and its value, with a colon
 * between them.
 */
export const eligibilityQuery = (id: string, target: string) => {
	const [kind = "", value = ""] = target.split(/:(.*)/s);
	return queryOptions({
		...answer("contact.eligibility", id, target),
		enabled: value !== "",
		queryFn: ({ signal }) => api("GET /contacts/{id}/eligibility", { path: { id }, query: { [kind]: value }, signal }),
	});
};

/** tagsQuery suggests tags that begin as somebody types. */
export const tagsQuery = (search: string) =>
	queryOptions({
		...answer("suggestions.tags", search),
		queryFn: ({ signal }) => api("GET /suggestions", { query: { for: "tags", q: search }, signal }),
		retry: false,
		placeholderData: keepPreviousData,
	});
