import { createContext, type RefObject, useContext, useEffect, useRef, useState, useSyncExternalStore } from "react";

// When a field shows what is wrong with it: an empty one that nobody has typed into does once somebody has left it, or has
// pressed a button or sent a form. Before that, what it lacks is no mistake.

/** How often a button was pressed or a form sent, and the ids of the controls that were left. */
let acts = 0;
const left = new Set<string>();
const listeners = new Set<() => void>();

const tell = () => {
	for (const listener of listeners) listener();
};

function act() {
	acts++;
	tell();
}

if (typeof document !== "undefined") {
	document.addEventListener("click", (e) => e.target instanceof Element && e.target.closest("button") && act(), true);
	document.addEventListener("submit", act, true);
	document.addEventListener("keydown", (e) => (e.key === "Enter" || e.ctrlKey || e.metaKey) && act(), true);
	document.addEventListener("focusout", (event) => {
		if (!(event.target instanceof Element) || event.target.id === "") return;
		left.add(event.target.id);
		tell();
	});
}

const subscribe = (listener: () => void) => {
	listeners.add(listener);
	return () => void listeners.delete(listener);
};

const AtOnce = createContext(false);

/** ErrorsAtOnce surrounds fields that show at once what is wrong with them, because it is what their form lists. */
export const ErrorsAtOnce = AtOnce.Provider;

/** useShownError returns the error that the control with an id shows now. */
export function useShownError(id: string, value: unknown, error: string | undefined): string | undefined {
	const atOnce = useContext(AtOnce);
	const born = useRef(acts);
	const empty = value === "" || value === null || value === undefined;
	const edited = useRef(!empty);
	if (!empty) edited.current = true;
	const holds = !atOnce && !edited.current && error !== undefined;
	const shown = useSyncExternalStore(subscribe, () => !holds || acts > born.current || left.has(id));
	return shown ? error : undefined;
}

/** useTouched reports the same of a part of the page that has several controls: whether somebody has left it, or has pressed a button elsewhere. */
export function useTouched(part: RefObject<HTMLElement | null>): boolean {
	const [touched, setTouched] = useState(false);
	useEffect(() => {
		if (touched) return;
		const inside = (target: EventTarget | null) => target instanceof Node && part.current?.contains(target);
		const leave = (e: FocusEvent) => inside(e.target) && !inside(e.relatedTarget) && setTouched(true);
		const press = (event: MouseEvent) =>
			!inside(event.target) && event.target instanceof Element && event.target.closest("button") && setTouched(true);
		document.addEventListener("focusout", leave);
		document.addEventListener("click", press, true);
		return () => {
			document.removeEventListener("focusout", leave);
			document.removeEventListener("click", press, true);
		};
	}, [part, touched]);
	return touched;
}
