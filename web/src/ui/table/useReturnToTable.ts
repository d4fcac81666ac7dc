import { useCallback, useEffect, useRef } from "react";

/**
 * useReturnToTable gives the focus to the page's table, or else to its heading, when what calls it goes with the focus
 * in it: the control of something that is done.
 */
export function useReturnToTable(): { stay: () => void } {
	const focusMovedElsewhere = useRef(false);
	useEffect(
		() => () => {
			const focus = () => {
				if (focusMovedElsewhere.current || document.activeElement !== document.body) return;
				(
					document.querySelector<HTMLElement>('main [role=grid] [role=row][tabindex="0"]') ??
					document.querySelector<HTMLElement>("main h1")
				)?.focus({ preventScroll: true });
			};
			requestAnimationFrame(() => requestAnimationFrame(focus)); // a dialog that closes gives back the focus first
		},
		[],
	);
	/** Something else takes the focus. */
	const stay = useCallback(() => {
		focusMovedElsewhere.current = true;
	}, []);
	return { stay };
}
