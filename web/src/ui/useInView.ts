import { type RefObject, useEffect, useState } from "react";

/** useInView says whether an element has come into view, or near it. */
export function useInView(ref: RefObject<Element | null>): boolean {
	const [inView, setInView] = useState(false);
	useEffect(() => {
		const element = ref.current;
		if (!element) return;
		const watch = new IntersectionObserver(
			(entries) => {
				if (!entries.some((entry) => entry.isIntersecting)) return;
				setInView(true);
				watch.disconnect();
			},
			{ rootMargin: "200px" },
		);
		watch.observe(element);
		return () => watch.disconnect();
	}, [ref]);
	return inView;
}
