import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";
import { request, type Versioned } from "../../api/client";
import type { BroadcastBody, BroadcastSessionView } from "../../api/schema";
import { useDisabledReason } from "../../base/session";
import { explain } from "../../base/words/errors";
import { pick } from "../../sync/merge";
import { useDraft } from "../../sync/useDraft";
import { bodyOf, groupOf, type Parts, partsOf, refusalsOf, requestOf, savedParts } from "./parts";
import { within } from "../../base/queries";
import { draftQuery } from "./queries";

// A draft of a broadcast saves itself a moment after the last change. What the server refuses stays in the form and in a
// working copy, and the rest is saved all the same.

type Server = Versioned<BroadcastSessionView>;

const pause = 800;

/** useBroadcast reads a broadcast to be written. */
export function useBroadcast(id: string) {
	return useQuery(draftQuery(id));
}

/** useBroadcastDraft holds the draft of a broadcast that was read, and saves changes to it. */
export function useBroadcastDraft(server: Server, query: UseQueryResult<Server>) {
	const client = useQueryClient();
	const { id, status } = server.data;
	const path = { broadcast_id: id };
	const disabledReason = useDisabledReason("PUT /working-copies/{kind}/{id}");
	const updateCache = (response: Server) => {
		client.setQueryData(draftQuery(id).queryKey, response);
		return response;
	};
	const store = useDraft<BroadcastSessionView, Parts>(
		{
			kind: "broadcast",
			id,
			title: (parts) => String(parts.name),
			load: () => request("GET /broadcasts/{broadcast_id}", { path }).then(updateCache),
			save: async (changed, values, revision) => {
				const body = requestOf(changed, values);
				const response = updateCache(await request("PUT /broadcasts/{broadcast_id}", { path, body, revision }));
				void client.invalidateQueries(within("broadcasts"));
				return response;
			},
			fieldsOf: savedParts,
			groupOf,
			refusals: (error) => [...refusalsOf(error), { path: "", message: explain(error) }],
			takesAnswer: true,
		},
		server,
		{ autosaveAfter: pause, readOnly: disabledReason !== undefined || status !== "draft" },
	);
	const { state } = store;
	const { row: saved, status: saving } = state;
	const changes = bodyOf(pick<Parts>(state.values, state.changed));
	const problems = saving.kind === "refused" ? saving.problems : [];
	return {
		...state,
		query,
		saved,
		value: { ...saved, ...changes, content: { ...saved.content, ...changes.content } } as BroadcastSessionView &
			BroadcastBody,
		changes,
		change: (body: BroadcastBody) => store.change(partsOf(body)),
		flush: () => store.flush(),
		settle: (theirs: Set<string>) => store.resolveConflict(theirs),
		dismissJoined: () => store.dismissMergedChanges(),
		/** What the server has refused. */
		problems,
		/** The problem of a field, by the path of the field. */
		problem: (field: string) =>
			problems.find(({ path }) => path === field || path.startsWith(`${field}[`) || path.startsWith(`${field}.`))
				?.message,
		/** The newest revision, which may be newer than the last render. */
		newest: () => store.state.revision ?? undefined,
	};
}

export type Draft = ReturnType<typeof useBroadcastDraft>;
