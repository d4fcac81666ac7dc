import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { isConflict, type Versioned } from "../../api/client";
import { useDraft } from "../../sync/useDraft";
import type { Draft } from "./draft";
import { answer, within } from "../../base/queries";

type Stored<Row> = {
	kind: "template" | "block";
	id: string;
	/** Where all of them are listed. */
	list: string;
	draftOf: (row: Row) => Draft;
	get: () => Promise<Versioned<Row>>;
	put: (draft: Draft, revision: string | undefined) => Promise<Versioned<Row>>;
	delete: (force: boolean) => Promise<unknown>;
};

/** useStored holds the draft of the template or block of an editor, and deletes the record. After a conflict it is read again. */
export function useStored<Row>(options: Stored<Row>, server: Versioned<Row>, readOnly: boolean) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const listed = () => void client.invalidateQueries(within(`${options.kind}s`));
	const updateCache = (response: Versioned<Row>) => {
		client.setQueryData(answer(options.kind, options.id).queryKey, response);
		return response;
	};
	const draft = useDraft<Row, Draft>(
		{
			kind: options.kind,
			id: options.id,
			title: (values) => values.name,
			load: () => options.get().then(updateCache),
			save: async (_, values, revision) => {
				const response = updateCache(await options.put(values, revision));
				listed();
				return response;
			},
			fieldsOf: options.draftOf,
			reviewed: true,
		},
		server,
		{ autosaveAfter: null, readOnly },
	);
	return {
		draft,
		remove: async (force: boolean) => {
			try {
				await options.delete(force);
			} catch (error) {
				if (isConflict(error)) await client.invalidateQueries(within(options.kind, options.id));
				throw error;
			}
			listed();
			navigate(options.list);
		},
	};
}
