import { useEffect, useRef } from "react";
import { shortcutOf } from "./keys";

// Shortcuts of one key never fire in a field or a dialog, and can be turned off (WCAG 2.1.4).

const key = "packetboat-single-keys";

/** singleKeys reports whether shortcuts of one key are on, on this device. */
export function singleKeys(): boolean {
	try {
		return localStorage.getItem(key) !== "off";
	} catch {
		return true;
	}
}

/** setSingleKeys turns shortcuts of one key on or off. */
export function setSingleKeys(enabled: boolean) {
	try {
		if (enabled) localStorage.removeItem(key);
		else localStorage.setItem(key, "off");
	} catch {
		// Storage is off: they stay on.
	}
}

/** typing reports whether a key goes into a field. The code editor is in a shadow root, whose events look as if they came from its host. */
const typing = (event: KeyboardEvent) => {
	const [target] = event.composedPath();
	return (
		target instanceof HTMLElement &&
		(target.isContentEditable ||
			target.closest("input, textarea, select, [role=textbox], [role=menu], [role=listbox]") !== null)
	);
};

const dialogs = "[role=dialog], [role=alertdialog], dialog[open]";

let prefix = "";
let prefixTimer = 0;

/**
 * useShortcuts runs functions on keys: "/", "?", "mod+k" (Command or Control), or two keys one after the
 * other, such as "g c". Those of a drawer act in it; others of one key do nothing while a dialog is open.
 */
export function useShortcuts(shortcuts: { [keys: string]: (event: KeyboardEvent) => void }, { drawer = false } = {}) {
	const current = useRef(shortcuts);
	current.current = shortcuts;
	useEffect(() => {
		const press = (event: KeyboardEvent) => {
			if (event.defaultPrevented || event.isComposing) return;
			const name = shortcutOf(event, {
				prefix,
				typing: () => typing(event),
				off: () => !singleKeys() || (!drawer && document.querySelector(dialogs) !== null),
			});
			const run = name === null ? undefined : current.current[name];
			if (!run) return;
			prefix = "";
			event.preventDefault();
			run(event);
		};
		document.addEventListener("keydown", press);
		return () => document.removeEventListener("keydown", press);
	}, [drawer]);
}

/** startPrefix waits a second for the second key of a shortcut of two. */
export function startPrefix(first: string) {
	prefix = first;
	clearTimeout(prefixTimer);
	prefixTimer = window.setTimeout(() => {
		prefix = "";
	}, 1000);
}
