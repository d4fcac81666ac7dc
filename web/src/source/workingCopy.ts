import { useEffect, useRef, useState } from "react";
import { api } from "../api/client";
import { useSaveOnLeave } from "../app/leaving";

type Options<T extends object> = {
	kind: string;
	id: string;
	title: string;
	/** The revision that the work began with. */
	base: number | null;
	value: T;
	dirty: boolean;
	may: boolean;
	restore: (value: Partial<T>, base: number | null) => void;
};

const pause = 2000;

/** useWorkingCopy keeps unsaved work on the server, and hands it back when the page is opened again. */
export function useWorkingCopy<T extends object>({ kind, id, title, base, value, dirty, may, restore }: Options<T>) {
	const path = { kind, id };
	const [asked, setAsked] = useState(false);
	const stored = useRef(false);
	const waiting = useRef(false);
	const last = useRef<Promise<unknown>>(Promise.resolve()); // writes go one after the other
	const text = JSON.stringify(value);
	const latest = useRef({ title, base, text });
	latest.current = { title, base, text };
	const write = (send: () => Promise<unknown>) => {
		last.current = last.current.then(send).catch(() => undefined);
		return last.current;
	};
	const store = async () => {
		waiting.current = false;
		const now = latest.current;
		stored.current = true;
		await write(() => api("PUT /working-copies/{kind}/{id}", { path, body: { title: now.title.slice(0, 200), base_revision: now.base, data: JSON.parse(now.text) as { [key: string]: unknown } } }));
	};
	const drop = async () => {
		waiting.current = false;
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
	// biome-ignore lint/correctness/useExhaustiveDependencies: what is kept is the text
	useEffect(() => {
		if (!may || !asked || !dirty) return;
		waiting.current = true;
		const timer = setTimeout(() => void store(), pause);
		return () => clearTimeout(timer);
	}, [asked, text, dirty]);
	const unsaved = useRef(false);
	// biome-ignore lint/correctness/useExhaustiveDependencies: when nothing is left to save
	useEffect(() => {
		if (unsaved.current && !dirty) void drop();
		unsaved.current = dirty;
	}, [dirty]);
	useSaveOnLeave(() => (waiting.current ? store() : undefined));
	// biome-ignore lint/correctness/useExhaustiveDependencies: when the page is left
	useEffect(
		() => () => {
			if (waiting.current) void store();
		},
		[],
	);
	return { drop };
}
