import { useEffect, useRef, useState } from "react";
import { ApiError, api } from "../api/client";
import { useSaveOnLeave } from "../app/leaving";

/** Newest is what is kept as it is now, which may be newer than the last render; its mark is another object after each change. */
type Newest<T> = { mark: object; value: T; dirty: boolean };

type Options<T extends object> = {
	kind: string;
	id: string;
	title: string;
	/** The revision that the work began with. */
	base: number | null;
	/** What is kept. If it is long, a function tells it, so that it is not compared as text at each render. */
	value: T | (() => Newest<T>);
	dirty: boolean;
	may: boolean;
	restore: (value: Partial<T>, base: number | null) => void;
};

const pause = 2000;

/** How long after each failure of the server or the network the work is stored again. */
const pauses = [1000, 3000, 9000, 30_000];

/** useWorkingCopy keeps unsaved work on the server, and hands it back when the page is opened again. */
export function useWorkingCopy<T extends object>({ kind, id, title, base, value, dirty, may, restore }: Options<T>) {
	const path = { kind, id };
	const [asked, setAsked] = useState(false);
	const stored = useRef(false);
	const waiting = useRef(false);
	const last = useRef<Promise<unknown>>(Promise.resolve()); // writes go one after the other
	const failures = useRef(0);
	const again = useRef(0); // the timer after a failure
	const gone = useRef(false);
	const newest = typeof value === "function" ? (value as () => Newest<T>) : null;
	const mark = newest ? newest().mark : JSON.stringify(value);
	const latest = useRef({ title, base, value, newest, mark, open: may && asked });
	latest.current = { title, base, value, newest, mark, open: may && asked };
	const write = (send: () => Promise<unknown>) => {
		last.current = last.current.then(send).catch(() => undefined);
		return last.current;
	};
	const store = async () => {
		waiting.current = false;
		clearTimeout(again.current);
		const now = latest.current;
		const data = (now.newest ? now.newest().value : now.value) as { [key: string]: unknown };
		stored.current = true;
		await write(async () => {
			try {
				await api("PUT /working-copies/{kind}/{id}", { path, body: { title: now.title.slice(0, 200), base_revision: now.base, data } });
				failures.current = 0;
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
		if (!stored.current) return;
		stored.current = false;
		await write(() => api("DELETE /working-copies/{kind}/{id}", { path }));
	};
	// biome-ignore lint/correctness/useExhaustiveDependencies: it is read once, when the page opens
	useEffect(() => {
		if (!may) return;
		api("GET /working-copies", { query: { kind } })
			.then(async (list) => {
				const found = list.data.find((c) => c.id === id);
				if (!found) return;
				stored.current = true;
				restore((await api("GET /working-copies/{kind}/{id}", { path })).data as Partial<T>, found.base_revision);
			})
			.catch(() => undefined)
			.finally(() => setAsked(true));
	}, []);
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
