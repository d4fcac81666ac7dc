import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { ApiError, api } from "../api/client";
import type { WorkingCopy } from "../api/schema";
import { cachedCopy, deleteCopy } from "../base/collections";
import { held, hold, release } from "./device";
import { useSaveOnLeave } from "./pendingSaves";
import { useKey } from "../base/session";

/** Newest is what is kept as it is now, which may be newer than the last render; its mark is another object after each change. */
type Newest<T> = { mark: object; value: T; dirty: boolean };

/** Place is where a working copy was kept. */
export type Place = "server" | "device";

type Options<T extends object> = {
	kind: string;
	id: string;
	title: string;
	/** The revision that the work began with. */
	base: number | null;
	/** What is kept: objects of fields. If it is long, a function tells it, so that it is not compared as text at each render. */
	value: T | (() => Newest<T>);
	dirty: boolean;
	may: boolean;
	restore: (value: Partial<T>, base: number | null, place: Place) => void;
};

/** Held is what is kept on this device, with the copies of the server that it goes on from. */
type Held<T> = { value: T; base: number | null; follows: string[] };

type Found<T> = { value: Partial<T>; base: number | null };

const pause = 2000;

/** How long after each failure of the server or the network the work is stored again. */
const pauses = [1000, 3000, 9000, 30_000];

/** join returns the later of two copies, with what the earlier one has of fields that the later one does not name. */
function join<T extends object>(earlier: Partial<T>, later: Partial<T>): Partial<T> {
	const both = { ...earlier, ...later } as { [part: string]: object };
	const [a, b] = [earlier, later] as { [part: string]: object | undefined }[];
	return Object.fromEntries(Object.keys(both).map((part) => [part, { ...a?.[part], ...b?.[part] }])) as Partial<T>;
}

/** joinHeld joins what two tabs have kept, one after the other. */
const joinHeld = <T extends object>(a: Held<T>, b: Held<T>): Held<T> => ({
	value: join(a.value, b.value) as T,
	base: a.base,
	follows: [...new Set([...a.follows, ...b.follows])],
});

/** find returns the working copy of a record: that of the server, or what is newer on this device. */
async function find<T extends object>(own: Held<T> | null, copy: Promise<WorkingCopy | null>) {
	let kept: (Found<T> & { mark: string }) | null = null;
	try {
		const row = await copy;
		if (row) {
			const { mark = "", ...value } = row.data as Partial<T> & { mark?: string };
			kept = { value: value as Partial<T>, base: row.base_revision, mark };
		}
	} catch {
		// What is on this device is found all the same.
	}
	if (!own) return { stored: kept !== null, mark: kept?.mark ?? "", found: kept, place: "server" as Place };
	// Another browser has stored a copy that this device did not know: it is the later one.
	const others = kept !== null && !own.follows.includes(kept.mark);
	return {
		stored: kept !== null,
		mark: kept?.mark ?? "",
		found: {
			value: others && kept ? join(own.value, kept.value) : own.value,
			base: others && kept ? kept.base : own.base,
		},
		place: "device" as Place,
	};
}

/**
 * useWorkingCopy keeps unsaved work, and hands it back when the page is opened again: on this device as it is
 * typed, until the server has it a moment later.
 */
export function useWorkingCopy<T extends object>({ kind, id, title, base, value, dirty, may, restore }: Options<T>) {
	const path = { kind, id };
	const key = useKey();
	const client = useQueryClient();
	const [asked, setAsked] = useState(false);
	const [read, setRead] = useState(false); // what this device has is known
	const older = useRef<Held<T> | null>(null); // what this device has, until it is brought back
	const stored = useRef(false);
	const waiting = useRef(false);
	const last = useRef<Promise<unknown>>(Promise.resolve()); // writes go one after the other
	const failures = useRef(0);
	const again = useRef(0); // the timer after a failure
	const gone = useRef(false);
	const [own] = useState(() => crypto.randomUUID()); // marks the copies that are stored from here
	const follows = useRef([own, ""]);
	const newest = typeof value === "function" ? (value as () => Newest<T>) : null;
	const mark = newest ? newest().mark : JSON.stringify(value);
	const latest = useRef({ title, base, value, newest, mark, dirty, open: may && asked, read });
	latest.current = { title, base, value, newest, mark, dirty, open: may && asked, read };
	const now = () => {
		const { newest, value, mark, dirty } = latest.current;
		return newest?.() ?? { value: value as T, mark, dirty };
	};
	const keep = () => {
		const { value, dirty } = now();
		if (!dirty || !latest.current.read) return;
		const was = older.current;
		hold(kind, id, {
			value: was ? (join(was.value, value) as T) : value,
			base: was ? was.base : latest.current.base,
			follows: [...(was?.follows ?? []), ...follows.current],
		} satisfies Held<T>);
	};
	// The list of copies is read again where it is shown next, not after each write, and so is this one.
	const stale = () => client.invalidateQueries({ queryKey: key("working-copies"), refetchType: "none" });
	const write = (send: () => Promise<unknown>) => {
		last.current = last.current
			.then(send)
			.catch(() => undefined)
			.finally(stale);
		return last.current;
	};
	const store = async () => {
		waiting.current = false;
		clearTimeout(again.current);
		keep();
		const { title, base } = latest.current;
		const sent = now();
		stored.current = true;
		await write(async () => {
			try {
				await api("PUT /working-copies/{kind}/{id}", {
					path,
					body: { title: title.slice(0, 200), base_revision: base, data: { ...sent.value, mark: own } },
				});
				failures.current = 0;
				if (now().mark === sent.mark) release(kind, id);
			} catch (e) {
				if (!(e instanceof ApiError && (e.status === 0 || e.status >= 500)) || gone.current || !stored.current) return;
				waiting.current = true;
				clearTimeout(again.current);
				again.current = window.setTimeout(() => void store(), pauses[Math.min(failures.current++, pauses.length - 1)]);
			}
		});
	};
	const drop = async () => {
		waiting.current = false;
		clearTimeout(again.current);
		release(kind, id);
		if (!stored.current) return;
		stored.current = false;
		await write(() => deleteCopy(kind, id, follows.current));
	};
	// biome-ignore lint/correctness/useExhaustiveDependencies: it is read once, when the page opens
	useEffect(() => {
		if (!may) return;
		// Asked for with what else the page reads as it opens.
		const copy = cachedCopy(client, key, kind, id);
		copy.catch(() => undefined);
		held<Held<T>>(kind, id, joinHeld)
			.then(async (own) => {
				older.current = own;
				setRead(true);
				const { stored: there, mark, found, place } = await find(own, copy);
				stored.current = there;
				follows.current.push(mark);
				older.current = null;
				if (found) restore(found.value, found.base, place);
			})
			.finally(() => setAsked(true));
	}, []);
	// biome-ignore lint/correctness/useExhaustiveDependencies: after each change
	useLayoutEffect(() => {
		if (may) keep();
	}, [mark, dirty, read]);
	// biome-ignore lint/correctness/useExhaustiveDependencies: each change starts the pause anew
	useEffect(() => {
		if (!may || !asked || !dirty) return;
		waiting.current = true;
		const timer = setTimeout(() => void store(), pause);
		return () => clearTimeout(timer);
	}, [asked, mark, dirty]);
	const unsaved = useRef(false);
	// biome-ignore lint/correctness/useExhaustiveDependencies: when nothing is left to save
	useEffect(() => {
		if (unsaved.current && !dirty) void drop();
		unsaved.current = dirty;
	}, [dirty]);
	useSaveOnLeave(() => (waiting.current ? store() : undefined));
	// biome-ignore lint/correctness/useExhaustiveDependencies: when the page is left
	useEffect(() => {
		gone.current = false;
		return () => {
			gone.current = true;
			clearTimeout(again.current);
			const { newest, mark, open } = latest.current;
			const handed = open && newest?.(); // a text may have been handed in while the page went
			if (waiting.current || (handed && handed.mark !== mark && handed.dirty)) void store();
		};
	}, []);
	return { drop };
}
