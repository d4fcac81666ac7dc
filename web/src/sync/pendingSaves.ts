import { useLayoutEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";

// Work that waits to be saved. It is saved when the page is hidden, and before the person signs out.

const pending = new Set<() => Promise<unknown> | undefined>();
const editors = new Set<() => unknown>();

/** flushEditors makes every editor that waits for a pause commit its text now. */
export function flushEditors() {
	for (const flushEditor of editors) flushEditor();
}

/** A text is committed after this many milliseconds without a key. */
const delay = 175;

type Text = {
	value: string;
	read: () => string | null;
	change: (text: string) => void;
	/** Takes the text of the page; isOwn is whether the person changed that, and not somebody else. */
	receive: (text: string, isOwn: boolean) => void;
};

let isOwn = false;

/** asOwn does what changes texts from beside their editors, as a quick fix: undo in an editor takes it back. */
export function asOwn(run: () => void) {
	isOwn = true;
	try {
		flushSync(run);
	} finally {
		isOwn = false;
	}
}

/**
 * useBufferedText synchronises the long text of an editor with the page's. The editor calls schedule when its text
 * changes; the text is committed after a pause, on blur, on unmount, and by flushEditors. When the page changes the
 * text, the editor receives it, unless it has a change that is not committed.
 */
export function useBufferedText(text: Text) {
	const current = useRef(text);
	current.current = text;
	const knownTexts = useRef([text.value]); // the text that the page has, and those committed since
	const [buffer] = useState(() => {
		let timer = 0;
		const stop = () => {
			const previous = timer;
			clearTimeout(timer);
			timer = 0;
			return previous !== 0;
		};
		const commit = () => {
			if (!stop()) return false;
			const read = current.current.read();
			if (read === null) return false;
			knownTexts.current.push(read);
			current.current.change(read);
			return true;
		};
		const schedule = () => {
			stop();
			timer = window.setTimeout(commit, delay);
		};
		return { stop, commit, schedule };
	});
	useLayoutEffect(() => {
		editors.add(buffer.commit);
		return () => {
			editors.delete(buffer.commit);
			buffer.commit(); // before the page around it goes
		};
	}, [buffer]);
	const { value } = text;
	useLayoutEffect(() => {
		const index = knownTexts.current.lastIndexOf(value);
		if (index >= 0) {
			knownTexts.current.splice(0, index);
			return;
		}
		if (buffer.commit()) return;
		knownTexts.current = [value];
		current.current.receive(value, isOwn);
		buffer.stop(); // what is received is not committed
	}, [buffer, value]);
	return buffer;
}

// What is done beside the editor finds the newest text, too.
document.addEventListener("focusout", flushEditors, true);
// A shortcut of the page, as to save, finds the newest text.
document.addEventListener("keydown", (e) => (e.metaKey || e.ctrlKey) && flushSync(flushEditors), true);

/** saveAll saves what waits, and resolves when that has ended, well or not. */
export async function saveAll() {
	flushSync(flushEditors); // the pages know the text before they save it
	await Promise.allSettled([...pending].map((save) => save()));
}

/** discardPending drops what waits to be saved: the session is of somebody else, who must not save it. */
export function discardPending() {
	pending.clear();
}

document.addEventListener("visibilitychange", () => {
	if (document.visibilityState === "hidden") void saveAll();
});
window.addEventListener("pagehide", () => void saveAll());

/** registerSave names a function that saves what waits, until the returned function is called. */
export function registerSave(save: () => Promise<unknown> | undefined) {
	pending.add(save);
	return () => {
		pending.delete(save);
	};
}
