import { type PointerEvent, useId, useState } from "react";

/** How near an edge, in pixels, what is dragged makes the page scroll, and how far at each movement. */
const edge = 48;
const scrollStep = 16;

/** scrollerOf returns what an element scrolls in: a part of the page, or the page itself. */
function scrollerOf(element: Element): Element | null {
	for (let el = element.parentElement; el && el !== document.body; el = el.parentElement) {
		if (el.scrollHeight > el.clientHeight && /auto|scroll/.test(getComputedStyle(el).overflowY)) return el;
	}
	return document.scrollingElement;
}

/**
 * follow follows a mouse, a finger or a pen that has pressed a handle: over is called for each movement, and end when
 * it is let go, with false if Escape or the browser ended it before. Near an edge what scrolls around an element, which
 * is the handle if missing, does so. The handle has to stay in the page, and to have touch-action: none.
 */
export function follow(
	event: PointerEvent<HTMLElement>,
	onMove: (x: number, y: number) => void,
	end: (dropped: boolean) => void,
	within: Element = event.currentTarget,
) {
	if (event.button !== 0) return;
	const handle = event.currentTarget;
	const scroller = scrollerOf(within);
	const move = (event: globalThis.PointerEvent) => {
		onMove(event.clientX, event.clientY);
		const box = scroller === document.scrollingElement ? undefined : scroller?.getBoundingClientRect();
		if (box && (event.clientX < box.left || event.clientX > box.right)) return;
		const [top, bottom] = box ? [box.top, box.bottom] : [edge, innerHeight]; // the page has a bar at its top
		if (event.clientY < top + edge) scroller?.scrollBy(0, -scrollStep);
		else if (event.clientY > bottom - edge) scroller?.scrollBy(0, scrollStep);
	};
	const stop = (dropped: boolean) => {
		handle.removeEventListener("pointermove", move);
		handle.removeEventListener("pointerup", release);
		handle.removeEventListener("pointercancel", cancel);
		document.removeEventListener("keydown", abort, true);
		end(dropped);
	};
	const release = () => stop(true);
	const cancel = () => stop(false);
	const abort = (event: KeyboardEvent) => {
		if (event.key !== "Escape") return;
		event.stopPropagation();
		stop(false);
	};
	event.preventDefault(); // no text is selected meanwhile
	handle.setPointerCapture(event.pointerId);
	handle.addEventListener("pointermove", move);
	handle.addEventListener("pointerup", release);
	handle.addEventListener("pointercancel", cancel);
	document.addEventListener("keydown", abort, true);
}

/** placeAt returns the place of the item of a list that is nearest to a height of the window. */
function placeAt(list: string, y: number): number | null {
	let nearest: number | null = null;
	let shortest = Number.POSITIVE_INFINITY;
	for (const element of document.querySelectorAll<HTMLElement>(`[data-list="${CSS.escape(list)}"]`)) {
		const { top, bottom } = element.getBoundingClientRect();
		const distance = Math.max(top - y, y - bottom, 0);
		if (distance < shortest) [nearest, shortest] = [Number(element.dataset.place), distance];
	}
	return nearest;
}

/** useSorting makes the items of a list change places by dragging: item returns what an item needs, handle what it is dragged by needs. */
export function useSorting(move: (from: number, to: number) => void) {
	const list = useId();
	const [drag, setDrag] = useState<{ from: number; target: number } | null>(null);
	return {
		item: (i: number) => ({
			"data-list": list,
			"data-place": i,
			"data-over": (drag !== null && drag.target === i && drag.from !== i) || undefined,
			"data-dragged": drag?.from === i || undefined,
		}),
		handle: (i: number) => ({
			onPointerDown: (event: PointerEvent<HTMLElement>) => {
				let to = i;
				follow(
					event,
					(_, y) => {
						to = placeAt(list, y) ?? to;
						setDrag({ from: i, target: to });
					},
					(dropped) => {
						setDrag(null);
						if (dropped && to !== i) move(i, to);
					},
				);
			},
		}),
	};
}
