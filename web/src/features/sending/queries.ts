import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, request, type Versioned } from "../../api/client";
import { answer } from "../../base/queries";

/** withRevision puts the revision of a record beside its fields. */
const withRevision = <T>({ data, revision }: Versioned<T>) => ({ ...data, revision });

/** domainsQuery reads the sending domains. */
export const domainsQuery = () =>
	queryOptions({ ...answer("domains"), queryFn: ({ signal }) => api("GET /sending-domains", { signal }) });

/** domainQuery reads a sending domain; more often until its records are found. */
export const domainQuery = (id: string) =>
	queryOptions({
		...answer("domain", id),
		queryFn: ({ signal }) => api("GET /sending-domains/{id}", { path: { id }, signal }),
		refetchInterval: (query) =>
			query.state.data?.status === "verified" && query.state.data.tracking_status === "live" ? 60_000 : 10_000,
	});

/** mtaQuery reads an MTA config. */
export const mtaQuery = (id: string) =>
	queryOptions({
		...answer("mta_config", id),
		queryFn: ({ signal }) => request("GET /mta-configs/{id}", { path: { id }, query: {}, signal }).then(withRevision),
	});

/** mtaUseQuery reads what uses an MTA config. */
export const mtaUseQuery = (id: string) =>
	queryOptions({
		...answer("mta_config.usage", id),
		queryFn: ({ signal }) => api("GET /mta-configs/{id}", { path: { id }, query: { include_usage: true }, signal }),
	});

/** senderQuery reads a sending identity. */
export const senderQuery = (id: string) =>
	queryOptions({
		...answer("sending_identity", id),
		queryFn: ({ signal }) => request("GET /sending-identities/{id}", { path: { id }, signal }).then(withRevision),
	});

/** seedListQuery reads a seed list. */
export const seedListQuery = (id: string) =>
	queryOptions({
		...answer("seed_list", id),
		queryFn: ({ signal }) => request("GET /seed-lists/{id}", { path: { id }, signal }).then(withRevision),
	});

/** seedsQuery reads the addresses of a seed list that a search finds. */
export const seedsQuery = (id: string, search: string, status: string) =>
	infiniteQueryOptions({
		...answer("seed_list.seeds", id, search, status),
		initialPageParam: 0,
		queryFn: ({ pageParam, signal }) =>
			api("GET /seed-lists/{id}/seeds", {
				path: { id },
				query: { search, status, limit: 200, offset: pageParam },
				signal,
			}),
		getNextPageParam: (last, all) => (last.has_more ? all.length * 200 : null),
		placeholderData: keepPreviousData,
	});

/** seedUpdatesQuery reads the last updates of a seed list. */
export const seedUpdatesQuery = (id: string) =>
	queryOptions({
		...answer("seed_list.syncs", id),
		queryFn: ({ signal }) => api("GET /seed-lists/{id}/syncs", { path: { id }, signal }),
	});
