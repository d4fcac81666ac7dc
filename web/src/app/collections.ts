import { type QueryClient, useQuery } from "@tanstack/react-query";
import { api, workspaceSlug } from "../api/client";
import type { CollectionsView } from "../api/schema";
import { useKey } from "./session";

// Collections that pages name or offer: fields, types, segments and the like. Those that are asked for at the same
// time, by whichever parts of a page, come with one request. Each is cached by itself.

export type Kind = keyof CollectionsView;

/** Collection has the rows of a kind, as the answer of its own operation has them. */
export type Collection<K extends Kind> = { data: Required<CollectionsView>[K] };

const minute = 60_000;
const quarter = 15_000;

/** The key of the cached answer of each kind, and how long it is fresh. */
const cached: { [K in Kind]: { key: unknown[]; fresh: number } } = {
	blocks: { key: ["blocks", "full", ""], fresh: minute },
	broadcasts: { key: ["broadcasts", false], fresh: minute },
	custom_fields: { key: ["custom-fields"], fresh: minute },
	email_categories: { key: ["email-categories"], fresh: minute },
	email_types: { key: ["email-types"], fresh: minute },
	forms: { key: ["forms"], fresh: quarter },
	messages: { key: ["messages", "names"], fresh: quarter },
	mta_configs: { key: ["mta-configs"], fresh: minute },
	saved_filters: { key: ["saved-filters"], fresh: minute },
	seed_lists: { key: ["seed-lists"], fresh: minute },
	segments: { key: ["segments"], fresh: quarter },
	sending_identities: { key: ["identities"], fresh: minute },
	sequences: { key: ["sequences"], fresh: quarter },
	stages: { key: ["stages"], fresh: minute },
	templates: { key: ["templates", "full"], fresh: minute },
	working_copies: { key: ["working-copies"], fresh: quarter },
};

type Request = { workspace: string; kinds: Set<Kind>; answer: Promise<CollectionsView> };

let next: Request | null = null;

/** collection reads the rows of a kind. Nothing waits: what one turn of the event loop asks for is one request. */
export async function collection<K extends Kind>(kind: K): Promise<Collection<K>> {
	const workspace = workspaceSlug();
	if (next?.workspace !== workspace) {
		const kinds = new Set<Kind>();
		const mine: Request = {
			workspace,
			kinds,
			answer: Promise.resolve().then(() => {
				if (next === mine) next = null;
				return api("GET /collections", { query: { kinds: [...kinds].sort().join() }, workspace });
			}),
		};
		next = mine;
	}
	next.kinds.add(kind);
	return { data: (await next.answer)[kind] as Collection<K>["data"] };
}

/** cachedCollection reads the rows of a kind, unless they were read a moment ago and nothing has made them stale. */
export const cachedCollection = <K extends Kind>(client: QueryClient, key: ReturnType<typeof useKey>, kind: K) =>
	client.fetchQuery({ queryKey: key(...cached[kind].key), queryFn: () => collection(kind), staleTime: 5000 });

/** useCollection reads the rows of a kind. */
export function useCollection<K extends Kind>(kind: K, options: { enabled?: boolean; refetchInterval?: () => number | false } = {}) {
	const key = useKey();
	return useQuery({ queryKey: key(...cached[kind].key), queryFn: () => collection(kind), staleTime: cached[kind].fresh, ...options });
}
