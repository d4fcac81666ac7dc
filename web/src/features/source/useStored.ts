import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { isConflict } from "../../api/client";
import { useKey } from "../../base/session";
import type { Draft } from "./draft";

type Stored<Row> = {
	kind: "template" | "block";
	id: string;
	/** Where all of them are listed. */
	list: string;
	draftOf: (row: Row) => Draft;
	put: (draft: Draft, revision: string | undefined) => Promise<{ data: Row; revision: string | null }>;
	delete: (force: boolean) => Promise<unknown>;
};

/** useStored saves and deletes the template or block of an editor. After a conflict the record is read again. */
export function useStored<Row>(s: Stored<Row>) {
	const key = useKey();
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const sent = async <T>(send: Promise<T>): Promise<T> => {
		try {
			return await send;
		} catch (e) {
			if (isConflict(e)) await client.invalidateQueries({ queryKey: key(s.kind, s.id) });
			throw e;
		}
	};
	return {
		save: async (draft: Draft, made: string | null) => {
			const { data, revision } = await sent(s.put(draft, made ?? undefined));
			client.setQueryData(key(s.kind, s.id), { data, revision });
			void client.invalidateQueries({ queryKey: key(`${s.kind}s`) });
			return { draft: s.draftOf(data), revision };
		},
		remove: async (force: boolean) => {
			await sent(s.delete(force));
			void client.invalidateQueries({ queryKey: key(`${s.kind}s`) });
			navigate(s.list);
		},
	};
}
