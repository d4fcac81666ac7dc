// Undo and redo.

/** History are the versions of what is edited: before, now, and those that were undone. */
export type History<T> = { past: T[]; now: T; future: T[]; coalesceKey: string };

const maxSteps = 100;

export const newHistory = <T>(now: T): History<T> => ({ past: [], now, future: [], coalesceKey: "" });

/** push adds a change. Changes of the same kind one after the other, such as typing into one step, are undone together. */
export function push<T>(history: History<T>, next: T, coalesceKey = ""): History<T> {
	if (next === history.now) return history;
	if (coalesceKey && coalesceKey === history.coalesceKey) return { ...history, now: next, future: [] };
	return { past: [...history.past, history.now].slice(-maxSteps), now: next, future: [], coalesceKey };
}

export function undo<T>(history: History<T>): History<T> {
	const now = history.past.at(-1);
	return now === undefined
		? history
		: { past: history.past.slice(0, -1), now, future: [history.now, ...history.future], coalesceKey: "" };
}

export function redo<T>(history: History<T>): History<T> {
	const [now, ...future] = history.future;
	return now === undefined ? history : { past: [...history.past, history.now], now, future, coalesceKey: "" };
}
