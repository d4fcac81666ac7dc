import { useLayoutEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";

// Work that waits to be saved. It is saved when the page is hidden, and before the person signs out.

const waiting = new Set<() => Promise<unknown> | undefined>();
const editors = new Set<() => unknown>();

/** handIn has every editor that waits for a pause hand in its text at once. */
export function handIn() {
	for (const tell of editors) tell();
}

/** After this many milliseconds without a key a text is handed in. */
const pause = 175;

type Text = {
	value: string;
	read: () => string | undefined;
	change: (text: string) => void;
	receive: (text: string) => void;
};

/**
 * useText keeps a long text that an editor holds and the text that the page has the same. The editor tells
 * that something is typed; its text is read after a pause, or when the editor is left, goes, or is asked
 * with handIn. A text that the page changes is received by the editor, unless something is typed meanwhile.
 */
export function useText(text: Text) {
	const current = useRef(text);
	current.current = text;
	const told = useRef([text.value]); // the text that the page has, and those handed in since
	const [own] = useState(() => {
		let timer = 0;
		const stop = () => {
			const was = timer;
			clearTimeout(timer);
			timer = 0;
			return was !== 0;
		};
		const now = () => {
			if (!stop()) return false;
			const read = current.current.read();
			if (read === undefined) return false;
			told.current.push(read);
			current.current.change(read);
			return true;
		};
		const onTyped = () => {
			stop();
			timer = window.setTimeout(now, pause);
		};
		return { stop, now, typed: onTyped };
	});
	useLayoutEffect(() => {
		editors.add(own.now);
		return () => {
			editors.delete(own.now);
			own.now(); // before the page around it goes
		};
	}, [own]);
	const { value } = text;
	useLayoutEffect(() => {
		const at = told.current.lastIndexOf(value);
		if (at >= 0) {
			told.current.splice(0, at);
			return;
		}
		if (own.now()) return;
		told.current = [value];
		current.current.receive(value);
		own.stop(); // what is received is not handed in
	}, [own, value]);
	return own;
}

// What is done beside the editor finds the newest text, too.
document.addEventListener("focusout", handIn, true);
// A shortcut of the page, as to save, finds the newest text.
document.addEventListener("keydown", (e) => (e.metaKey || e.ctrlKey) && flushSync(handIn), true);

/** saveAll saves what waits, and resolves when that has ended, well or not. */
export async function saveAll() {
	flushSync(handIn); // the pages know the text before they save it
	await Promise.allSettled([...waiting].map((save) => save()));
}

/** abandonAll drops what waits to be saved: the session is of somebody else, who must not save it. */
export function abandonAll() {
	waiting.clear();
}

document.addEventListener("visibilitychange", () => {
	if (document.visibilityState === "hidden") void saveAll();
});
window.addEventListener("pagehide", () => void saveAll());

/** onLeave names a function that saves what waits, until the returned function is called. */
export function onLeave(save: () => Promise<unknown> | undefined) {
	waiting.add(save);
	return () => {
		waiting.delete(save);
	};
}
