import { type QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { api, workspaceSlug } from "../api/client";
import type { BindingOptions, CollectionsView, WorkingCopy } from "../api/schema";
import { answer } from "./queries";
import { withSegmentNames } from "./words/builtInSegments";

// Collections that pages name or offer: fields, types, segments and the like. Those that are asked for at the same
// time, by whichever parts of a page, come with one request. Each is cached by itself.

export type Kind = Exclude<keyof CollectionsView, "copies" | "binding_options">;

/** Collection has the rows of a kind, as the answer of its own operation has them. */
export type Collection<K extends Kind> = { data: Required<CollectionsView>[K] };

type RequestedParts = { kinds: Set<string>; copies: Set<string>; binding_options: Set<string> };
type Request = { workspace: string; asks: RequestedParts; answer: Promise<CollectionsView> };

let next: Request | null = null;

/** How many working copies and templates one request may name. */
const limits = { kinds: Number.POSITIVE_INFINITY, copies: 20, binding_options: 5 };

/** requestPart asks for a part of the answer. Nothing waits: what one turn of the event loop asks for is one request. */
function requestPart(part: keyof RequestedParts, value: string): Promise<CollectionsView> {
	const workspace = workspaceSlug();
	if (next?.workspace !== workspace || next.asks[part].size >= limits[part]) {
		const asks: RequestedParts = { kinds: new Set(), copies: new Set(), binding_options: new Set() };
		const list = (items: Set<string>) => [...items].sort().join() || undefined;
		const mine: Request = {
			workspace,
			asks,
			answer: Promise.resolve().then(() => {
				if (next === mine) next = null;
				return api("GET /collections", {
					query: { kinds: list(asks.kinds), copies: list(asks.copies), binding_options: list(asks.binding_options) },
					workspace,
				});
			}),
		};
		next = mine;
	}
	next.asks[part].add(value);
	return next.answer;
}

/** collection reads the rows of a kind. */
export async function collection<K extends Kind>(kind: K): Promise<Collection<K>> {
	return { data: (await requestPart("kinds", kind))[kind] as Collection<K>["data"] };
}

/** deleteCopy deletes a working copy that is known by its mark: another tab or browser may have stored its own since. */
export async function deleteCopy(kind: string, id: string, known: string[]) {
	const copy = await workingCopy(kind, id);
	if (copy && known.includes(String(copy.data.mark ?? "")))
		await api("DELETE /working-copies/{kind}/{id}", { path: { kind, id } });
}

/** workingCopy reads a working copy with its data; null if there is none. */
export async function workingCopy(kind: string, id: string): Promise<WorkingCopy | null> {
	const { copies } = await requestPart("copies", `${kind}/${id}`);
	return copies?.find((copy) => copy.kind === kind && copy.id === id) ?? null;
}

/** bindingOptions reads what a template, by its id or slug, can be filled with; null if it does not exist. */
export async function bindingOptions(template: string): Promise<BindingOptions | null> {
	const { binding_options } = await requestPart("binding_options", template);
	return binding_options?.find((option) => option.slug === template || option.template_id === template) ?? null;
}

/** collectionQuery reads the rows of a kind. */
export const collectionQuery = <K extends Kind>(kind: K) =>
	queryOptions({ ...answer(kind as Kind), queryFn: () => collection(kind) });

/** copyQuery reads a working copy with its data. */
export const copyQuery = (kind: string, id: string) =>
	queryOptions({ ...answer("working_copies.one", kind, id), queryFn: () => workingCopy(kind, id) });

/** cachedCopy reads a working copy, unless it was read a moment ago. */
export const cachedCopy = (client: QueryClient, kind: string, id: string) => client.fetchQuery(copyQuery(kind, id));

/** usePrefetchedCopy reads a working copy with what else a page asks for as it opens, for a form that is shown later. */
export function usePrefetchedCopy(kind: string, id: string, enabled: boolean) {
	useQuery({ ...copyQuery(kind, id), enabled, refetchOnMount: false, refetchOnWindowFocus: false });
}

/** useCollection reads the rows of a kind. */
export const useCollection = <K extends Kind>(kind: K, options: { enabled?: boolean } = {}) =>
	useQuery({
		...collectionQuery(kind),
		...options,
		select: kind === "segments" ? (withSegmentNames as (rows: Collection<K>) => Collection<K>) : undefined,
	});
