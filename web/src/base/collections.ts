import { type QueryClient, useQuery } from "@tanstack/react-query";
import { api, workspaceSlug } from "../api/client";
import type { BindingOptions, CollectionsView, WorkingCopy } from "../api/schema";
import { useKey } from "./session";

// Collections that pages name or offer: fields, types, segments and the like. Those that are asked for at the same
// time, by whichever parts of a page, come with one request. Each is cached by itself.

export type Kind = Exclude<keyof CollectionsView, "copies" | "binding_options">;

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

type Asked = { kinds: Set<string>; copies: Set<string>; binding_options: Set<string> };
type Request = { workspace: string; asked: Asked; answer: Promise<CollectionsView> };

let next: Request | null = null;

/** How many working copies and templates one request may name. */
const most = { kinds: Number.POSITIVE_INFINITY, copies: 20, binding_options: 5 };

/** ask asks for a part of the answer. Nothing waits: what one turn of the event loop asks for is one request. */
function ask(part: keyof Asked, value: string): Promise<CollectionsView> {
	const workspace = workspaceSlug();
	if (next?.workspace !== workspace || next.asked[part].size >= most[part]) {
		const asked: Asked = { kinds: new Set(), copies: new Set(), binding_options: new Set() };
		const list = (of: Set<string>) => [...of].sort().join() || undefined;
		const mine: Request = {
			workspace,
			asked,
			answer: Promise.resolve().then(() => {
				if (next === mine) next = null;
				return api("GET /collections", {
					query: { kinds: list(asked.kinds), copies: list(asked.copies), binding_options: list(asked.binding_options) },
					workspace,
				});
			}),
		};
		next = mine;
	}
	next.asked[part].add(value);
	return next.answer;
}

/** collection reads the rows of a kind. */
export async function collection<K extends Kind>(kind: K): Promise<Collection<K>> {
	return { data: (await ask("kinds", kind))[kind] as Collection<K>["data"] };
}

/** deleteCopy deletes a working copy that is known by its mark: another tab or browser may have stored its own since. */
export async function deleteCopy(kind: string, id: string, known: string[]) {
	const copy = await workingCopy(kind, id);
	if (copy && known.includes(String(copy.data.mark ?? "")))
		await api("DELETE /working-copies/{kind}/{id}", { path: { kind, id } });
}

/** workingCopy reads a working copy with its data; null if there is none. */
export async function workingCopy(kind: string, id: string): Promise<WorkingCopy | null> {
	const { copies } = await ask("copies", `${kind}/${id}`);
	return copies?.find((c) => c.kind === kind && c.id === id) ?? null;
}

/** bindingOptions reads what a template, by its id or slug, can be filled with; null if it does not exist. */
export async function bindingOptions(template: string): Promise<BindingOptions | null> {
	const { binding_options } = await ask("binding_options", template);
	return binding_options?.find((o) => o.slug === template || o.template_id === template) ?? null;
}

const copyQuery = (key: ReturnType<typeof useKey>, kind: string, id: string) => ({
	queryKey: key("working-copies", kind, id),
	queryFn: () => workingCopy(kind, id),
	staleTime: 5000,
	gcTime: 5000,
});

/** cachedCopy reads a working copy, unless it was read a moment ago. */
export const cachedCopy = (client: QueryClient, key: ReturnType<typeof useKey>, kind: string, id: string) =>
	client.fetchQuery(copyQuery(key, kind, id));

/** useCopyAhead reads a working copy with what else a page asks for as it opens, for a form that is shown later. */
export function useCopyAhead(kind: string, id: string, enabled: boolean) {
	const key = useKey();
	useQuery({ ...copyQuery(key, kind, id), enabled, refetchOnMount: false, refetchOnWindowFocus: false });
}

/** useCollection reads the rows of a kind. */
export function useCollection<K extends Kind>(
	kind: K,
	options: { enabled?: boolean; refetchInterval?: () => number | false } = {},
) {
	const key = useKey();
	return useQuery({
		queryKey: key(...cached[kind].key),
		queryFn: () => collection(kind),
		staleTime: cached[kind].fresh,
		...options,
	});
}
