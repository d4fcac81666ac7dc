import { useEffect, useState } from "react";

/** useDebounced returns a value once it has not changed for some milliseconds; at first, at once. */
export function useDebounced<T extends string>(value: T, after: number): T {
	const [debounced, setDebounced] = useState(value);
	useEffect(() => {
		const timer = setTimeout(() => setDebounced(value), after);
		return () => clearTimeout(timer);
	}, [value, after]);
	return debounced;
}
