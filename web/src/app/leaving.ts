import { useEffect, useRef } from "react";

// Work that waits to be saved. It is saved when the page is hidden, and before the person signs out.

const waiting = new Set<() => Promise<unknown> | undefined>();

/** saveAll saves what waits, and resolves when that has ended, well or not. */
export async function saveAll() {
	await Promise.allSettled([...waiting].map((save) => save()));
}

document.addEventListener("visibilitychange", () => {
	if (document.visibilityState === "hidden") void saveAll();
});

/** useSaveOnLeave names a function that saves what waits on the page; it does nothing if nothing waits. */
export function useSaveOnLeave(save: () => Promise<unknown> | undefined) {
	const current = useRef(save);
	current.current = save;
	useEffect(() => {
		const run = () => current.current();
		waiting.add(run);
		return () => {
			waiting.delete(run);
		};
	}, []);
}
