import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import {
	type FocusEvent,
	type RefObject,
	useCallback,
	useEffect,
	useLayoutEffect,
	useMemo,
	useRef,
	useState,
} from "react";
import { indexOf, type TabStop } from "./rows";

type Grid = {
	scroller: RefObject<HTMLDivElement | null>;
	/** The keys of all rows. */
	keys: string[];
	/** The height of a row in pixels. */
	height: number;
	/** How many rows beyond those in view exist in the page, on each side. */
	overscan: number;
};

/**
 * useRovingGrid makes rows of which only those in view exist in the page, and the one that Tab reaches. When rows come,
 * go or move, the focus and what is in view stay on their rows.
 */
export function useRovingGrid({ scroller, keys, height, overscan }: Grid) {
	const [tabStop, setTabStop] = useState<TabStop>({ key: null, index: 0 });
	const before = useRef(keys);
	const current = useMemo(() => indexOf(tabStop, keys, before.current), [tabStop, keys]);
	const virtual = useVirtualizer({
		count: keys.length,
		getScrollElement: () => scroller.current,
		estimateSize: () => height,
		overscan,
		rangeExtractor: useCallback(
			(range: Range) => {
				const shown = defaultRangeExtractor(range);
				return current < 0 || shown.includes(current) ? shown : [...shown, current].sort((a, b) => a - b);
			},
			[current],
		),
	});
	useEffect(() => {
		void height;
		virtual.measure();
	}, [virtual, height]);

	// What has the focus in a row. Rows that the browser moves or removes lose it without having been left.
	const focused = useRef<HTMLElement | null>(null);
	const moving = useRef(false); // whether the row that Tab reaches takes the focus once it exists
	useLayoutEffect(() => {
		const table = scroller.current;
		const previousKeys = before.current;
		if (table && previousKeys !== keys) {
			before.current = keys;
			const anchor = focused.current
				? tabStop.key
				: table.scrollTop > 0
					? previousKeys[Math.floor(table.scrollTop / height)]
					: null;
			const from = anchor ? previousKeys.indexOf(anchor) : -1;
			const to = anchor && from >= 0 ? keys.indexOf(anchor) : -1;
			if (to >= 0) table.scrollTop += (to - from) * height;
			else if (focused.current) virtual.scrollToIndex(current, { align: "auto" });
			if (tabStop.key !== null && (tabStop.key !== keys[current] || tabStop.index !== current))
				setTabStop({ key: keys[current] ?? null, index: current });
		}
		const focusLost =
			focused.current !== null && (document.activeElement === null || document.activeElement === document.body);
		if (!moving.current && !focusLost) return;
		const row = table?.querySelector<HTMLElement>(`[data-index="${current}"]`);
		const control = !moving.current && focused.current?.isConnected ? focused.current : row;
		moving.current = false;
		control?.focus({ preventScroll: true });
	});

	return {
		virtual,
		/** The place of the row that Tab reaches; -1 without rows. */
		current,
		/** Gives the focus to the row at a place. */
		focus: (index: number) => {
			moving.current = true;
			setTabStop({ key: keys[index] ?? null, index });
			virtual.scrollToIndex(index, { align: "auto" });
		},
		/** Makes a row, which has the focus, the one that Tab reaches. */
		reach: (key: string, index: number) => setTabStop({ key, index }),
		/** Shows the first row, which Tab then reaches. */
		showFirst: useCallback(() => {
			setTabStop({ key: null, index: 0 });
			if (scroller.current) scroller.current.scrollTop = 0;
		}, [scroller]),
		onFocus: ({ target }: FocusEvent) => {
			focused.current = target.closest("[data-index]") ? (target as HTMLElement) : null;
		},
		onBlur: ({ target, relatedTarget }: FocusEvent) => {
			if (relatedTarget) focused.current = null;
			else {
				requestAnimationFrame(() => {
					if (target.isConnected && focused.current === target && document.activeElement !== target)
						focused.current = null;
				});
			}
		},
	};
}
