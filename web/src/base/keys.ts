// Which shortcut a key is.

/** Press is what a key press says of itself. */
export type Press = Pick<KeyboardEvent, "key" | "metaKey" | "ctrlKey" | "altKey">;

export type Situation = {
	/** The first key of a shortcut of two, if it was pressed a moment ago; else "". */
	prefix: string;
	/** Whether the key goes into a field. */
	typing: () => boolean;
	/** Whether shortcuts of one key are off. */
	off: () => boolean;
};

/** shortcutOf returns the name of the shortcut that a key is: "/", "mod+k" (Command or Control) or "g c"; null if it is none now. */
export function shortcutOf({ key, metaKey, ctrlKey, altKey }: Press, now: Situation): string | null {
	if (metaKey || ctrlKey) {
		const name = `mod+${key.toLowerCase()}`;
		return name === "mod+z" && now.typing() ? null : name; // the field undoes
	}
	if (altKey || now.typing() || now.off()) return null;
	return now.prefix ? `${now.prefix} ${key}` : key;
}
