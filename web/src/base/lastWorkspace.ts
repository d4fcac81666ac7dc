import { outside } from "./paths";

// The workspace that was open last, on this device: /app leads there.

const key = "packetboat-workspace";

/** chooserQuery is what the address of the list of workspaces ends with. */
export const chooserQuery = "?choose=1";

/** chooser is the address of the list of workspaces. */
export const chooser = outside.workspaces + chooserQuery;

/** lastWorkspace returns the slug of the workspace that was open last. */
export function lastWorkspace(): string | null {
	try {
		return localStorage.getItem(key);
	} catch {
		return null;
	}
}

/** rememberWorkspace remembers the workspace that is open. */
export function rememberWorkspace(slug: string) {
	try {
		localStorage.setItem(key, slug);
	} catch {
		// Storage is off: /app shows the list of workspaces.
	}
}

/** forgetWorkspace forgets it, when the person signs out. */
export function forgetWorkspace() {
	try {
		localStorage.removeItem(key);
	} catch {
		// Storage is off: there is nothing to forget.
	}
}
