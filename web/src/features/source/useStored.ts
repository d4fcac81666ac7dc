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
export function useStored<Row>(s: Stored<Row>, server: Versioned<Row>, readOnly: boolean) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const listed = () => void client.invalidateQueries(within(`${s.kind}s`));
	const remember = (got: Versioned<Row>) => {
		client.setQueryData(answer(s.kind, s.id).queryKey, got);
		return got;
	};
	const draft = useDraft<Row, Draft>(
		{
			kind: s.kind,
			id: s.id,
			title: (values) => values.name,
			load: () => s.get().then(remember),
			save: async (_, values, revision) => {
				const got = remember(await s.put(values, revision));
				listed();
				return got;
			},
			fieldsOf: s.draftOf,
			reviewed: true,
		},
		server,
		{ autosaveAfter: null, readOnly },
	);
	return {
		draft,
		remove: async (force: boolean) => {
			try {
				await s.delete(force);
			} catch (e) {
				if (isConflict(e)) await client.invalidateQueries(within(s.kind, s.id));
				throw e;
			}
			listed();
			navigate(s.list);
		},
	};
}
