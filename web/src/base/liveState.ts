// How pages learn of changes on the server: by the stream (live.ts), or by asking now and then.

export type LiveState = "live" | "polling" | "offline";

let state: LiveState = "polling";
const listeners = new Set<() => void>();

/** setLiveState is called by what holds the stream. */
export function setLiveState(next: LiveState) {
	if (next === state) return;
	state = next;
	for (const listener of listeners) listener();
}

/** liveState is how pages learn of changes now. */
export const liveState = () => state;

/** subscribeLive calls a function when liveState changes. */
export function subscribeLive(listener: () => void) {
	listeners.add(listener);
	return () => {
		listeners.delete(listener);
	};
}

/** pollEvery returns how often to load something again: not at all while changes are announced. */
export const pollEvery = (ms: number) => () => (state === "live" ? false : ms * (0.8 + Math.random() * 0.4));
