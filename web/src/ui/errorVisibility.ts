import { createContext, type RefObject, useContext, useEffect, useRef, useState, useSyncExternalStore } from "react";

// When a field shows what is wrong with it: an empty one that nobody has typed into does once somebody has left it, or has
// pressed a button or sent a form. Before that an empty field is not reported as an error.

/** How often a button was pressed or a form sent, and the ids of the controls that were left. */
let actionCount = 0;
const leftFields = new Set<string>();
const listeners = new Set<() => void>();

const notify = () => {
	for (const listener of listeners) listener();
};

function onAction() {
	actionCount++;
	notify();
}

if (typeof document !== "undefined") {
	document.addEventListener(
		"click",
		(e) => e.target instanceof Element && e.target.closest("button") && onAction(),
		true,
	);
	document.addEventListener("submit", onAction, true);
	document.addEventListener("keydown", (e) => (e.key === "Enter" || e.ctrlKey || e.metaKey) && onAction(), true);
	document.addEventListener("focusout", (event) => {
		if (!(event.target instanceof Element) || event.target.id === "") return;
		leftFields.add(event.target.id);
		notify();
	});
}

const subscribe = (listener: () => void) => {
	listeners.add(listener);
	return () => void listeners.delete(listener);
};

const Immediate = createContext(false);

/** ImmediateErrors surrounds fields that show at once what is wrong with them, because it is what their form lists. */
export const ImmediateErrors = Immediate.Provider;

/** useShownError returns the error that the control with an id shows now. */
export function useShownError(id: string, value: unknown, error: string | undefined): string | undefined {
	const immediate = useContext(Immediate);
	const initialActionCount = useRef(actionCount);
	const empty = value === "" || value === null || value === undefined;
	const edited = useRef(!empty);
	if (!empty) edited.current = true;
	const isHeld = !immediate && !edited.current && error !== undefined;
	const shown = useSyncExternalStore(
		subscribe,
		() => !isHeld || actionCount > initialActionCount.current || leftFields.has(id),
	);
	return shown ? error : undefined;
}

/**
 * useTouched reports the same of a part of the page that has several controls: whether somebody has left it, or has pressed
 * a button elsewhere. The panels that it opens name its id in data-of.
 */
export function useTouched(part: RefObject<HTMLElement | null>): boolean {
	const [touched, setTouched] = useState(false);
	useEffect(() => {
		if (touched) return;
		const contains = (target: EventTarget | null) =>
			target instanceof Element &&
			(part.current?.contains(target) || target.closest<HTMLElement>("[data-of]")?.dataset.of === part.current?.id);
		// A panel that closes takes its field away, and gives the focus back.
		const leave = (e: FocusEvent) =>
			contains(e.target) &&
			!contains(e.relatedTarget) &&
			(e.relatedTarget || part.current?.contains(e.target as Element)) &&
			setTouched(true);
		const press = (event: MouseEvent) =>
			!contains(event.target) && event.target instanceof Element && event.target.closest("button") && setTouched(true);
		document.addEventListener("focusout", leave);
		document.addEventListener("click", press, true);
		return () => {
			document.removeEventListener("focusout", leave);
			document.removeEventListener("click", press, true);
		};
	}, [part, touched]);
	return touched;
}
