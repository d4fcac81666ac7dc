import { Suspense, type ReactNode, useRef, useState } from "react";
import { ApiError, type Versioned } from "../api/client";
import { useWorkspace } from "../base/session";
import type { Place } from "../sync/draft";
import { equal } from "../sync/merge";
import { useDraft } from "../sync/useDraft";
import { lazyComponent } from "../base/lazy";
import { catalogue } from "../base/words/catalogue";
import { and } from "../base/words/formats";
import { Button } from "./Button";
import { useSubmit } from "./form";
import type { Problems } from "./problems";
import { Callout } from "./Page";
import { toast } from "./Toast";
import type { Choose as ChooseNow } from "./Versions";

// A lazy component has no type parameters.
const Choose = lazyComponent(() =>
	import("./Versions").then((module) => ({ default: module.Choose })),
) as unknown as typeof ChooseNow;

const words = catalogue("shell.keptForm", {
	kept: {
		server: "These changes were kept from last time. They are not saved yet.",
		device: "These changes were kept on this device. They are not saved yet.",
	},
	discard: "Discard changes",
	joined: "Somebody else changed {parts} in the meantime. Both changes are kept.",
	gone: "It does not exist any more.",
});

type Fields = { [field: string]: unknown };

/** Stored is a record as the server has it: the values of the form, and the revision if it has any. */
export type Stored<T> = { values: T; revision?: string | null };

type Options<T> = {
	kind: string;
	/** The record; missing for one that is created. */
	id?: string;
	title: string;
	canEdit: boolean;
	/** Fields that never leave the page before they are saved. */
	secret?: (keyof T)[];
	/** Reads the record before it is saved, so that nothing that somebody else saved is overwritten. */
	read?: () => Promise<Stored<T>>;
	/** Names of fields, for the question about those that somebody else changed, too. */
	names?: { [F in keyof T]?: string };
};

/** DraftForm is the state of a form that the parts around it show. */
export type DraftForm = {
	busy: boolean;
	problems: Problems;
	restored: Place | null;
	discard: () => void;
	question: ReactNode;
};

/** Send saves the values of a form on the revision of the record. */
type Send<T> = (values: T, revision?: string) => Promise<void>;

/**
 * useDraftForm is a form that somebody saves by hand. What is not saved is kept as a working copy, and comes back
 * with the form. Fields that nobody changed here follow the record. Before it is saved the record is read, if the
 * form can: what only one side changed is joined, and the form asks about fields that both changed.
 */
export function useDraftForm<T extends Fields>(
	initial: T,
	{ kind, id, title, canEdit, secret = [], read, names }: Options<T>,
) {
	const workspace = useWorkspace();
	const { submit, clear, ...sending } = useSubmit(Object.keys(initial));
	const [asked, setSave] = useState<Send<T> | null>(null); // how it is saved once somebody has chosen
	const server = useRef<Versioned<T>>({ data: initial, revision: null });
	if (!equal(server.current.data, initial)) server.current = { data: initial, revision: null };
	const draft = useDraft<T, T>(
		{
			kind,
			id: id ?? `new-${workspace?.tenant_id}`,
			title: () => title,
			load: async () => {
				const response = read && id ? await read() : { values: server.current.data };
				return { data: response.values, revision: response.revision ?? null };
			},
			save: async () => undefined,
			fieldsOf: (values) => values,
			secret,
			loadsFirst: read !== undefined && id !== undefined,
		},
		server.current,
		{ autosaveAfter: null, readOnly: !canEdit },
	);
	const { values, changed, conflict, restored } = draft.state;
	const save = async (send: Send<T>) => {
		let theirFields: string[] = [];
		await draft.save(async (_, values, revision) => {
			theirFields = draft.state.mergedChanges?.fields ?? [];
			await send(values, revision);
			return undefined;
		});
		const joinedNames = theirFields.map((field) => names?.[field]).filter((name) => name !== undefined);
		if (draft.state.conflict) setSave(() => send);
		else if (joinedNames.length > 0) toast(words.joined({ parts: and(joinedNames) }));
	};
	return {
		...sending,
		values,
		dirty: changed.length > 0,
		set: (changes: Partial<T>) => {
			draft.change(changes);
			clear(Object.keys(changes));
		},
		restored: changed.some((field) => !secret.includes(field)) ? restored : null,
		discard: () => {
			draft.discard();
			clear();
		},
		submit: (send: Send<T>) => submit(() => save(send)),
		question: conflict && asked && (
			<Suspense>
				<Choose
					draft={draft}
					names={names}
					onResolved={() => {
						setSave(null);
						void submit(() => save(asked));
					}}
					onClose={() => setSave(null)}
				/>
			</Suspense>
		),
	};
}

/** RestoredCallout says that changes came back with the form and takes them away again; it asks about fields that somebody else changed, too. */
export function RestoredCallout({ form }: { form: Pick<DraftForm, "restored" | "discard" | "question"> }) {
	return (
		<>
			{form.restored && (
				<Callout tone="progress" title={words.kept[form.restored]}>
					<Button small onClick={form.discard}>
						{words.discard}
					</Button>
				</Callout>
			)}
			{form.question}
		</>
	);
}

/** restoredText returns the sentence that says where unsaved changes were restored from. */
export const restoredText = (place: Place) => words.kept[place];

/** findRow finds a record in a list, for what is not read by itself. */
export function findRow<R extends { id: string }>(list: { data: R[] }, id: string | undefined): R {
	const match = list.data.find((row) => row.id === id);
	if (!match) throw new ApiError(404, "NOT_FOUND", words.gone, {});
	return match;
}

/** useEdited returns the record of a list that a drawer edits. It stays when somebody deletes it, so that what was typed is not lost with the drawer. */
export function useEdited<R extends { id: string }>(rows: R[], id: string): R | undefined {
	const last = useRef<R>(undefined);
	last.current = rows.find((row) => row.id === id) ?? (last.current?.id === id ? last.current : undefined);
	return last.current;
}
