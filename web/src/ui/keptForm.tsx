import { useEffect, useRef, useState } from "react";
import { useWorkspace } from "../app/session";
import { useWorkingCopy } from "../source/workingCopy";
import { catalogue } from "../words/catalogue";
import { Button } from "./Button";
import { type Problems, useForm } from "./form";
import { Notice } from "./Page";

const words = catalogue({
	kept: "These changes were kept from last time. They are not saved yet.",
	discard: "Discard changes",
});

type Fields = { [field: string]: unknown };

/** Kept is what a working copy of a form holds: the changed fields, and what they were when they were changed. */
type Kept<T> = { values: Partial<T>; was: Partial<T> };

type Options<T> = {
	kind: string;
	/** The record; missing for one that is created. */
	id?: string;
	title: string;
	may: boolean;
	/** Fields that never leave the page before they are saved. */
	secret?: (keyof T)[];
};

/** KeptForm is what parts around a form need of it. */
export type KeptForm = { busy: boolean; problems: Problems; restored: boolean; discard: () => void };

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

const pick = <T extends Fields>(from: T, fields: (keyof T)[]) => Object.fromEntries(fields.map((f) => [f, from[f]])) as Partial<T>;

/**
 * useKeptForm is a form that somebody saves by hand. What is not saved is kept as a working copy, and comes back
 * with the form; a field that was saved since then stands. Fields that nobody changed here follow the record.
 */
export function useKeptForm<T extends Fields>(initial: T, { kind, id, title, may, secret = [] }: Options<T>) {
	const workspace = useWorkspace();
	const form = useForm(initial);
	const [restored, setRestored] = useState(false);
	const known = useRef(initial);
	const sent = useRef<T | null>(null);
	useEffect(() => {
		const before = known.current;
		if (same(before, initial)) return;
		known.current = initial;
		const moved = Object.keys(initial).filter((f) => same(form.values[f], before[f]) || same(form.values[f], sent.current?.[f]));
		sent.current = null;
		if (moved.length > 0) form.set(pick(initial, moved));
	});
	const changed = Object.keys(initial).filter((f) => !secret.includes(f) && !same(form.values[f], initial[f]));
	// What fields were when they were changed here, also if somebody else has saved them since.
	const was = useRef<Partial<T>>({});
	was.current = { ...pick(initial, changed), ...pick(was.current as T, changed.filter((f) => f in was.current)) };
	const copy = useWorkingCopy<Kept<T>>({
		kind,
		id: id ?? `new-${workspace?.tenant_id}`,
		title,
		base: null,
		value: { values: pick(form.values, changed), was: was.current },
		dirty: changed.length > 0,
		may,
		restore: (kept) => {
			const values: Fields = kept.values ?? {};
			const was: Fields = kept.was ?? {};
			const now = known.current;
			const left = Object.keys(values).filter((f) => f in now && same(was[f], now[f]) && !same(values[f], now[f]));
			if (left.length === 0) void copy.drop();
			else {
				form.set(pick(values as T, left));
				setRestored(true);
			}
		},
	});
	return {
		...form,
		restored: restored && changed.length > 0,
		discard: () => {
			form.reset();
			setRestored(false);
			void copy.drop();
		},
		submit: (send: () => Promise<void>) =>
			form.submit(async () => {
				sent.current = form.values; // the record may write it in another way
				try {
					await send();
				} catch (e) {
					sent.current = null;
					throw e;
				}
				setRestored(false);
				await copy.drop();
			}),
	};
}

/** KeptNotice says that changes came back with the form, and takes them away again. */
export function KeptNotice({ form }: { form: Pick<KeptForm, "restored" | "discard"> }) {
	if (!form.restored) return null;
	return (
		<Notice tone="progress" title={words.kept}>
			<Button small onClick={form.discard}>
				{words.discard}
			</Button>
		</Notice>
	);
}
