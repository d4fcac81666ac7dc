import { useSyncExternalStore } from "react";

const narrow = typeof matchMedia === "undefined" ? null : matchMedia("(max-width: 767px)");

/** useNarrow reports whether the screen is that of a phone. */
export const useNarrow = () =>
	useSyncExternalStore(
		(listener) => {
			narrow?.addEventListener("change", listener);
			return () => narrow?.removeEventListener("change", listener);
		},
		() => narrow?.matches ?? false,
	);
