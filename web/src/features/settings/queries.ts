import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, request } from "../../api/client";
import type { AccountSessionView, DeliveryRow } from "../../api/schema";
import { pollEvery } from "../../base/liveState";
import { answer } from "../../base/queries";

/** accountQuery reads the settings of the account. */
export const accountQuery = () =>
	queryOptions({
		...answer("account"),
		queryFn: ({ signal }) => api("GET /settings/account", { signal }) as Promise<AccountSessionView>,
	});

/** scoringQuery reads the rules that give points to contacts. */
export const scoringQuery = () =>
	queryOptions({
		...answer("scoring"),
		queryFn: ({ signal }) => api("GET /settings/scoring", { signal }),
		refetchOnWindowFocus: false,
	});

/** fieldUseQuery reads what uses a custom field. */
export const fieldUseQuery = (id: string) =>
	queryOptions({
		...answer("custom_fields.usage", id),
		queryFn: ({ signal }) => api("GET /settings/custom-fields/{id}/usage", { path: { id }, signal }),
	});

/** membersQuery reads the members of the workspace. */
export const membersQuery = () =>
	queryOptions({ ...answer("users"), queryFn: ({ signal }) => api("GET /users", { signal }) });

/** apiKeysQuery reads the API keys. */
export const apiKeysQuery = () =>
	queryOptions({ ...answer("api_keys"), queryFn: ({ signal }) => api("GET /auth/api-keys", { signal }) });

/** scopesQuery reads what API keys may be allowed. */
export const scopesQuery = () =>
	queryOptions({ ...answer("scopes"), queryFn: ({ signal }) => api("GET /auth/api-keys/scopes", { signal }) });

/** auditQuery reads the audit log, the newest first. */
export const auditQuery = (query: object) =>
	infiniteQueryOptions({
		...answer("audit", query),
		placeholderData: keepPreviousData,
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("GET /audit-log", { query: { ...query, cursor: pageParam ?? undefined, limit: 100 }, signal }),
		getNextPageParam: (last) => last.next_cursor,
	});

/** sessionsQuery reads where the person is signed in. */
export const sessionsQuery = () =>
	queryOptions({ ...answer("sessions"), queryFn: ({ signal }) => api("GET /api/auth/sessions", { signal }) });

/** webhooksQuery reads the webhook endpoints. */
export const webhooksQuery = () =>
	queryOptions({ ...answer("webhooks"), queryFn: ({ signal }) => api("GET /settings/webhooks", { signal }) });

/** webhookQuery reads a webhook endpoint. */
export const webhookQuery = (id: string) =>
	queryOptions({
		...answer("webhook", id),
		queryFn: ({ signal }) =>
			request("GET /settings/webhooks/{id}", { path: { id }, signal }).then((answer) => ({
				...answer.data,
				revision: answer.revision,
			})),
	});

/** isPending reports whether a delivery has not ended. */
export const isPending = (delivery: Pick<DeliveryRow, "status">) => delivery.status === "pending";

/** deliveriesQuery reads the deliveries to an endpoint, the newest first. Those that wait are followed until they end. */
export const deliveriesQuery = (id: string) =>
	infiniteQueryOptions({
		...answer("webhook.deliveries", id),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) =>
			api("GET /settings/webhooks/{id}/deliveries", {
				path: { id },
				query: { limit: 50, cursor: pageParam ?? undefined },
				signal,
			}),
		getNextPageParam: (last) => last.next_cursor,
		refetchInterval: (query) =>
			query.state.data?.pages.some((page) => page.data.some(isPending)) ? 1000 : pollEvery(15_000)(),
	});

/** deliveryQuery reads one delivery, again and again until it has ended. */
export const deliveryQuery = (webhook: string, id: string) =>
	queryOptions({
		...answer("webhook.delivery", webhook, id),
		queryFn: ({ signal }) =>
			api("GET /settings/webhooks/{id}/deliveries/{delivery_id}", { path: { id: webhook, delivery_id: id }, signal }),
		refetchInterval: (query) => (query.state.data && isPending(query.state.data) ? 1000 : false),
	});
