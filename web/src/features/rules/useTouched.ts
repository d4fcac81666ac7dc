import { type RefObject, useEffect, useState } from "react";

/**
 * useTouched reports whether somebody has been in a part of the page and left it, or has pressed a button elsewhere. Before
 * that, what the part lacks is no mistake.
 */
export function useTouched(part: RefObject<HTMLElement | null>): boolean {
	const [touched, setTouched] = useState(false);
	useEffect(() => {
		if (touched) return;
		const inside = (target: EventTarget | null) => target instanceof Node && part.current?.contains(target);
		const leave = (e: FocusEvent) => inside(e.target) && !inside(e.relatedTarget) && setTouched(true);
		const press = (e: MouseEvent) =>
			!inside(e.target) && e.target instanceof Element && e.target.closest("button") && setTouched(true);
		document.addEventListener("focusout", leave);
		document.addEventListener("click", press, true);
		return () => {
			document.removeEventListener("focusout", leave);
			document.removeEventListener("click", press, true);
		};
	}, [part, touched]);
	return touched;
}
