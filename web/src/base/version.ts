import { outside } from "./paths";
// The version of the application in this tab, and that of the server. Files have a hash of their content in
// their names, so the name of the first script tells them apart.

const own = document.querySelector<HTMLScriptElement>("script[type=module]")?.getAttribute("src") ?? "";

let newer = false;
const listeners = new Set<() => void>();

/** hasNewer reports whether the server has another version of the application than this tab. */
export const hasNewer = () => newer;

/** subscribeNewer calls a function when hasNewer changes. */
export function subscribeNewer(listener: () => void) {
	listeners.add(listener);
	return () => {
		listeners.delete(listener);
	};
}

/** compareVersions asks the server for its version. It is called when the server may have been replaced. */
export async function compareVersions() {
	try {
		const answer = await fetch(outside.workspaces, { credentials: "same-origin" });
		const page = await answer.text();
		if (!answer.ok || !own || newer || page.includes(`src="${own}"`)) return;
		newer = true;
		for (const listener of listeners) listener();
	} catch {
		// The server cannot be reached.
	}
}
