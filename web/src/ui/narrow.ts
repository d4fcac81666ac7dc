import { useSyncExternalStore } from "react";

const narrow = typeof matchMedia === "undefined" ? null : matchMedia("(max-width: 767px)");

/** useNarrow reports whether the screen is that of a phone. */
export const useNarrow = () =>
	useSyncExternalStore(
		(l) => {
			narrow?.addEventListener("change", l);
			return () => narrow?.removeEventListener("change", l);
		},
		() => narrow?.matches ?? false,
	);
