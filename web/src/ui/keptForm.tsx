import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { ApiError } from "../api/client";
import { useWorkspace } from "../base/session";
import { type Place, useWorkingCopy } from "../sync/workingCopy";
import { catalogue } from "../base/words/catalogue";
import { and } from "../base/words/formats";
import { Button } from "./Button";
import { useForm } from "./form";
import type { Problems } from "./problems";
import { Callout } from "./Page";
import { toast } from "./Toast";
import { Versions } from "./Versions";

const words = catalogue("shell.keptForm", {
	kept: {
		server: "These changes were kept from last time. They are not saved yet.",
		device: "These changes were kept on this device. They are not saved yet.",
	},
	discard: "Discard changes",
	joined: "Somebody else changed {parts} meanwhile. Both changes are kept.",
	clash: "Somebody else changed the same fields meanwhile. What only one of you changed is kept. Choose for the rest.",
	gone: "It does not exist any more.",
	yes: "On",
	no: "Off",
});

type Fields = { [field: string]: unknown };

/** Kept is what a working copy of a form holds: the changed fields, and what they were when they were changed. */
type Kept<T> = { values: Partial<T>; was: Partial<T> };

/** Stored is a record as the server has it: the values of the form, and the revision if it has any. */
export type Stored<T> = { values: T; revision?: string | null };

type Options<T> = {
	kind: string;
	/** The record; missing for one that is created. */
	id?: string;
	title: string;
	may: boolean;
	/** Fields that never leave the page before they are saved. */
	secret?: (keyof T)[];
	/** Reads the record before it is saved, so that nothing that somebody else saved is overwritten. */
	read?: () => Promise<Stored<T>>;
	/** Names of fields, for the question about those that somebody else changed, too. */
	names?: { [F in keyof T]?: string };
};

/** KeptForm is what parts around a form need of it. */
export type KeptForm = {
	busy: boolean;
	problems: Problems;
	restored: Place | null;
	discard: () => void;
	question: ReactNode;
};

/** Send saves the values of a form on the revision of the record. */
type Send<T> = (values: T, revision?: string) => Promise<void>;

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

const pick = <T extends Fields>(from: T, fields: (keyof T)[]) =>
	Object.fromEntries(fields.map((f) => [f, from[f]])) as Partial<T>;

function shown(v: unknown): string {
	if (typeof v === "boolean") return v ? words.yes : words.no;
	if (Array.isArray(v) && v.every((x) => typeof x !== "object")) return v.join("\n");
	return v === null || v === undefined ? "" : typeof v === "object" ? JSON.stringify(v, null, 2) : String(v);
}

/**
 * useKeptForm is a form that somebody saves by hand. What is not saved is kept as a working copy, and comes back
 * with the form. Fields that nobody changed here follow the record. Before it is saved the record is read, if the
 * form can: what only one side changed is joined, and the form asks about fields that both changed.
 */
export function useKeptForm<T extends Fields>(
	initial: T,
	{ kind, id, title, may, secret = [], read, names }: Options<T>,
) {
	const workspace = useWorkspace();
	const form = useForm(initial);
	const [restored, setRestored] = useState<Place | null>(null);
	const [clash, setClash] = useState<{ theirs: Stored<T>; fields: (keyof T)[]; send: Send<T> } | null>(null);
	const known = useRef(initial);
	const sent = useRef<T | null>(null);
	useLayoutEffect(() => {
		const before = known.current;
		if (same(before, initial)) return;
		known.current = initial;
		const moved = Object.keys(initial).filter(
			(f) => same(form.values[f], before[f]) || same(form.values[f], sent.current?.[f]),
		);
		sent.current = null;
		if (moved.length > 0) form.set(pick(initial, moved));
	});
	const changed = Object.keys(initial).filter((f) => !secret.includes(f) && !same(form.values[f], initial[f]));
	// What fields were when they were changed here, also if somebody else has saved them since.
	const was = useRef<Partial<T>>({});
	was.current = {
		...pick(initial, changed),
		...pick(
			was.current as T,
			changed.filter((f) => f in was.current),
		),
	};
	const copy = useWorkingCopy<Kept<T>>({
		kind,
		id: id ?? `new-${workspace?.tenant_id}`,
		title,
		base: null,
		value: { values: pick(form.values, changed), was: was.current },
		dirty: changed.length > 0,
		may,
		restore: (kept, _, place) => {
			const values: Fields = kept.values ?? {};
			const now = known.current;
			const left = Object.keys(values).filter(
				(f) => f in now && !(f in was.current) && !same(values[f], now[f]) && (read || same(kept.was?.[f], now[f])),
			);
			if (left.length === 0) {
				if (Object.keys(was.current).length === 0) void copy.drop();
				return;
			}
			was.current = { ...was.current, ...pick((kept.was ?? {}) as T, left) };
			form.set(pick(values as T, left));
			setRestored(place);
		},
	});
	const finish = async (values: T, send: Send<T>, revision?: string) => {
		sent.current = values; // the record may write it in another way
		try {
			await send(values, revision);
		} catch (e) {
			sent.current = null;
			throw e;
		}
		setRestored(null);
		await copy.drop();
	};
	/** Joins the values with the record as it is now, saves them, and asks about what both sides changed. */
	const save = async (values: T, base: Partial<T>, send: Send<T>): Promise<void> => {
		if (!read || !id) return finish(values, send);
		for (let tries = 0; ; tries++) {
			const theirs = await read();
			const moved = Object.keys(values).filter(
				(f) =>
					!secret.includes(f) &&
					!same(theirs.values[f], f in base ? base[f] : known.current[f]) &&
					!same(theirs.values[f], values[f]),
			);
			const fields = moved.filter((f) => f in base);
			const joined = moved.filter((f) => !(f in base));
			const merged = { ...values, ...pick(theirs.values, joined) };
			if (joined.length > 0) form.set(pick(merged, joined));
			if (fields.length > 0) {
				setClash({ theirs, fields, send });
				return;
			}
			try {
				await finish(merged, send, theirs.revision ?? undefined);
			} catch (e) {
				if (e instanceof ApiError && e.code === "REVISION_CONFLICT" && tries < 5) continue;
				throw e;
			}
			const told = joined.map((f) => names?.[f]).filter((name) => name !== undefined);
			if (told.length > 0) toast(words.joined({ parts: and(told) }));
			return;
		}
	};
	const settle = (taken: Set<string>) => {
		if (!clash) return;
		const { theirs, fields, send } = clash;
		const values = {
			...form.values,
			...pick(
				theirs.values,
				fields.filter((f) => taken.has(String(f))),
			),
		};
		form.set(values);
		was.current = { ...was.current, ...pick(theirs.values, fields) };
		setClash(null);
		void form.submit(() => save(values, was.current, send));
	};
	return {
		...form,
		restored: changed.length > 0 ? restored : null,
		discard: () => {
			form.reset();
			setRestored(null);
			void copy.drop();
		},
		submit: (send: Send<T>) => form.submit(() => save(form.values, was.current, send)),
		question: clash && (
			<Versions
				text={words.clash}
				versions={clash.fields.map((f) => ({
					id: String(f),
					name: names?.[f] ?? String(f),
					mine: shown(form.values[f]),
					theirs: shown(clash.theirs.values[f]),
				}))}
				onSettle={settle}
				onClose={() => setClash(null)}
			/>
		),
	};
}

/** KeptCallout says that changes came back with the form and takes them away again; it asks about fields that somebody else changed, too. */
export function KeptCallout({ form }: { form: Pick<KeptForm, "restored" | "discard" | "question"> }) {
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

/** keptText tells where unsaved changes were brought back from. */
export const keptText = (place: Place) => words.kept[place];

/** rowOf finds a record in a list, for what is not read by itself. */
export function rowOf<R extends { id: string }>(list: { data: R[] }, id: string | undefined): R {
	const found = list.data.find((r) => r.id === id);
	if (!found) throw new ApiError(404, "NOT_FOUND", words.gone, {});
	return found;
}

/** useEdited returns the record of a list that a drawer edits. It stays when somebody deletes it, so that what was typed is not lost with the drawer. */
export function useEdited<R extends { id: string }>(rows: R[], id: string): R | undefined {
	const last = useRef<R>(undefined);
	last.current = rows.find((r) => r.id === id) ?? (last.current?.id === id ? last.current : undefined);
	return last.current;
}
