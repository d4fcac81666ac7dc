import { useQueryClient } from "@tanstack/react-query";
import { request, type Versioned } from "../../api/client";
import type { MessageSession } from "../../api/schema";
import { useDraft } from "../../sync/useDraft";
import { bodyOf, type Content, editable } from "./content";
import { entryQuery } from "./queries";

/**
 * useEntryDraft holds the next version of a library entry while it is written; with changes that it begins with. A version
 * that is rebased on its template is another piece of work.
 */
export function useEntryDraft(
	server: Versioned<MessageSession>,
	readOnly: boolean,
	initialChanges?: Partial<Content>,
	kind: "message" | "message_rebase" = "message",
) {
	const client = useQueryClient();
	const { id } = server.data;
	const path = { id };
	const updateCache = (response: Versioned<MessageSession>) => {
		client.setQueryData(entryQuery(id).queryKey, response);
		return response;
	};
	return useDraft<MessageSession, Content>(
		{
			kind,
			id,
			title: (values) => values.name,
			load: () => request("GET /messages/{id}", { path }).then(updateCache),
			save: (_, values, revision) =>
				request("PATCH /messages/{id}", { path, body: { content: bodyOf(values) }, revision }).then(updateCache),
			fieldsOf: (entry) => editable(entry.name, entry.current_content),
			reviewed: true,
		},
		server,
		{ autosaveAfter: null, readOnly },
		initialChanges,
	);
}
