import { onSessionEnd } from "../api/client";
import { clearAnswers } from "./persistence";

// Requests that a session's end has stopped wait here until somebody has signed in again. The list is filled
// before the dialog that asks for the password is loaded.

let pendingRequests: readonly (() => void)[] = [];
const listeners = new Set<() => void>();

function set(next: typeof pendingRequests) {
	pendingRequests = next;
	for (const listener of listeners) listener();
}

/** holdRequests makes requests wait when the session ends, until the returned function is called. */
export function holdRequests() {
	onSessionEnd(() => {
		void clearAnswers(); // the session may have been ended because the device was lost
		return new Promise<void>((resolve) => set([...pendingRequests, resolve]));
	});
	return () => onSessionEnd(null);
}

/** resumeRequests lets the requests that wait run again. */
export function resumeRequests() {
	for (const resolve of pendingRequests) resolve();
	set([]);
}

/** hasPendingRequests reports whether requests wait. */
export const hasPendingRequests = () => pendingRequests.length > 0;

export function subscribePendingRequests(listener: () => void) {
	listeners.add(listener);
	return () => {
		listeners.delete(listener);
	};
}
