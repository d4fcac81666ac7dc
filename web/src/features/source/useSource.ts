import { useEffect, useMemo, useRef, useState } from "react";
import { handIn } from "../../sync/pendingSaves";
import { type Place, useWorkingCopy } from "../../sync/workingCopy";

/** Named is what is written: an object of fields, one of which names it. */
export type Named = { name: string };
export type Server<T extends Named> = { draft: T; revision: string | null };

/** Clash is what both sides changed: theirs is what the server has. */
export type Clash<T extends Named> = { theirs: Server<T>; merged: T; fields: (keyof T)[] };

/** ordered returns a value with the members of its objects in order: a database may store them in another one. */
const ordered = (_name: string, v: unknown) =>
	v !== null && typeof v === "object" && !Array.isArray(v)
		? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
		: v;

const same = (a: unknown, b: unknown) =>
	a === b || (typeof a === "object" && JSON.stringify(a, ordered) === JSON.stringify(b, ordered));
/** sameFields compares drafts field by field: their texts are long, and are not written as JSON for it. */
const sameFields = <T extends object>(a: T, b: T) =>
	a === b || (Object.keys({ ...a, ...b }) as (keyof T)[]).every((f) => same(a[f], b[f]));
const numberOf = (revision: string | null) => Number((revision ?? "").replace(/\D/g, "")) || 0;

/** merge joins what two sides changed of a draft; fields that both changed stay as mine, and are named. */
export function merge<T extends Named>(
	base: T,
	mine: T,
	theirs: T,
): { merged: T; joined: (keyof T)[]; clashes: (keyof T)[] } {
	const merged = { ...mine };
	const joined: (keyof T)[] = [];
	const clashes: (keyof T)[] = [];
	for (const f of Object.keys(base) as (keyof T)[]) {
		if (same(theirs[f], base[f]) || same(mine[f], theirs[f])) continue;
		if (same(mine[f], base[f])) {
			Object.assign(merged, { [f]: theirs[f] });
			joined.push(f);
		} else clashes.push(f);
	}
	return { merged, joined, clashes };
}

/** Copy is a working copy: the fields that were changed, what the server had of them when that began, and what was sent of them without an answer yet. */
type Copy<T extends Named> = { mine: Partial<T>; from: Partial<T>; sent: Partial<T> };

function copyOf<T extends Named>({ draft, base, sent }: { draft: T; base: Server<T>; sent: T | null }): Copy<T> {
	const changed = (Object.keys(draft) as (keyof T)[]).filter((f) => !same(draft[f], base.draft[f]));
	const pick = (from: T) => Object.fromEntries(changed.map((f) => [f, from[f]])) as Partial<T>;
	return { mine: pick(draft), from: pick(base.draft), sent: sent ? pick(sent) : {} };
}

/** fits reports whether a value has the fields of another, with the same types. */
function fits<T extends object>(v: T | undefined, like: T): v is T {
	return (
		v !== undefined &&
		(Object.keys(like) as (keyof T)[]).every(
			(f) => typeof v[f] === typeof like[f] && Array.isArray(v[f]) === Array.isArray(like[f]),
		)
	);
}

/** useSource holds what somebody writes of a record between saves, and joins it with what others save meanwhile. */
export function useSource<T extends Named>(kind: string, id: string, server: Server<T>, may: boolean) {
	const [held, setHeld] = useState({ base: server, draft: server.draft, sent: null as T | null });
	const { base, draft } = held;
	const [restored, setRestored] = useState<Place | null>(null);
	const [brought, setBrought] = useState(false);
	const [joined, setJoined] = useState<(keyof T)[]>([]);
	const [clash, setClash] = useState<Clash<T> | null>(null);
	const dirty = useMemo(() => !sameFields(held.draft, held.base.draft), [held]);
	const now = useRef(held); // newer than what is rendered while a text is handed in
	const hold = (next: Partial<typeof held>) => {
		now.current = { ...now.current, ...next };
		setHeld(now.current);
	};

	const receive = (from: Server<T>, theirs: Server<T>, mine: T) => {
		const m = merge(from.draft, mine, theirs.draft);
		if (m.clashes.length > 0) {
			setClash({ theirs, merged: m.merged, fields: m.clashes });
			return;
		}
		hold({ base: theirs, draft: m.merged });
		if (!sameFields(mine, from.draft)) setJoined(m.joined);
	};
	// biome-ignore lint/correctness/useExhaustiveDependencies: when the server has a newer revision
	useEffect(() => {
		handIn();
		const { base, draft } = now.current;
		if (numberOf(server.revision) > numberOf(base.revision)) receive(base, server, draft);
	}, [server.revision]);

	const kept = useWorkingCopy<Copy<T>>({
		kind,
		id,
		title: draft.name,
		base: numberOf(base.revision) || null,
		value: () => ({
			mark: now.current,
			value: copyOf(now.current),
			dirty: !sameFields(now.current.draft, now.current.base.draft),
		}),
		dirty,
		may,
		restore: (copy, _, place) => {
			const { base } = now.current;
			const mine = { ...base.draft, ...copy.mine };
			const answered = (Object.keys(copy.sent ?? {}) as (keyof T)[]).filter((f) => same(copy.sent?.[f], base.draft[f]));
			const from = { ...base.draft, ...copy.from, ...Object.fromEntries(answered.map((f) => [f, base.draft[f]])) };
			if (!fits(mine, base.draft) || !fits(from, base.draft) || sameFields(mine, base.draft)) {
				void kept.drop();
				return;
			}
			setRestored(place);
			setBrought(place === "device");
			receive({ draft: from, revision: null }, base, { ...mine, ...copyOf(now.current).mine });
		},
	});
	return {
		base,
		draft,
		dirty,
		/** Where work was brought back from, while it is not saved. */
		restored: dirty ? restored : null,
		/** Whether work was brought back from this device when the page opened. */
		brought,
		joined,
		clash,
		/** What is written, newer than the last render if a text was handed in since. */
		newest: () => now.current,
		set: (part: Partial<T>) => hold({ draft: { ...now.current.draft, ...part } }),
		/** Tells that a draft is being saved. */
		sending: (sent: T) => hold({ sent }),
		/** Takes the answer to a save of a draft. */
		saved: (sent: T, answer: Server<T>) => {
			handIn();
			const { draft } = now.current;
			hold({
				sent: null,
				base: answer,
				draft: draft === sent ? answer.draft : merge(sent, draft, answer.draft).merged,
			});
			setRestored(null);
			setJoined([]);
			void kept.drop();
		},
		discard: () => {
			handIn();
			hold({ draft: now.current.base.draft });
			setRestored(null);
			setJoined([]);
			void kept.drop();
		},
		/** Ends a clash: for each field that both sides changed, whether theirs is taken. */
		choose: (theirs: (f: keyof T) => boolean) => {
			if (!clash) return;
			const next = { ...clash.merged };
			for (const f of clash.fields) if (theirs(f)) Object.assign(next, { [f]: clash.theirs.draft[f] });
			hold({ base: clash.theirs, draft: next });
			setClash(null);
		},
	};
}
