import { onSessionEnd } from "../api/client";
import { forget } from "./persistence";

// Requests that a session's end has stopped wait here until somebody has signed in again. The list is filled
// before the dialog that asks for the password is loaded.

let waiting: readonly (() => void)[] = [];
const listeners = new Set<() => void>();

function set(next: typeof waiting) {
	waiting = next;
	for (const listener of listeners) listener();
}

/** holdRequests makes requests wait when the session ends, until the returned function is called. */
export function holdRequests() {
	onSessionEnd(() => {
		void forget(); // the session may have been ended because the device was lost
		return new Promise<void>((resolve) => set([...waiting, resolve]));
	});
	return () => onSessionEnd(null);
}

/** goOn lets the requests that wait run again. */
export function goOn() {
	for (const resolve of waiting) resolve();
	set([]);
}

/** requestsWait reports whether requests wait. */
export const requestsWait = () => waiting.length > 0;

export function subscribeWaiting(listener: () => void) {
	listeners.add(listener);
	return () => {
		listeners.delete(listener);
	};
}
