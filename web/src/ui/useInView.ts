import { type RefObject, useEffect, useState } from "react";

/** useInView says whether an element has come into view, or near it. */
export function useInView(of: RefObject<Element | null>): boolean {
	const [seen, setSeen] = useState(false);
	useEffect(() => {
		const at = of.current;
		if (!at) return;
		const watch = new IntersectionObserver(
			(entries) => {
				if (!entries.some((entry) => entry.isIntersecting)) return;
				setSeen(true);
				watch.disconnect();
			},
			{ rootMargin: "200px" },
		);
		watch.observe(at);
		return () => watch.disconnect();
	}, [of]);
	return seen;
}
