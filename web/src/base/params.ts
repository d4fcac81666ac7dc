import { useCallback } from "react";
import { useLocation, useSearch } from "wouter";
import { changedSearch } from "./search";

// The address bar is the state of a view: tab, filter, sort, open drawer. Each change of it is a step that the
// browser's Back undoes. What changes with each key, such as the text of a search, replaces the step instead.

/** useParams returns the parameters of the address, and a function that changes some of them. */
export function useParams(): [
	URLSearchParams,
	(changes: { [name: string]: string | null }, options?: { replace?: boolean }) => void,
] {
	const search = useSearch();
	const [path, navigate] = useLocation();
	const set = useCallback(
		(changes: { [name: string]: string | null }, options?: { replace?: boolean }) => {
			const next = changedSearch(window.location.search, changes);
			if (next !== window.location.search) navigate(path + next, { replace: options?.replace ?? false });
		},
		[path, navigate],
	);
	return [new URLSearchParams(search), set];
}

/** useParam returns one parameter of the address, and a function that changes it. */
export function useParam(
	name: string,
	initial = "",
	options?: { replace?: boolean },
): [string, (value: string) => void] {
	const [params, set] = useParams();
	return [params.get(name) ?? initial, (value) => set({ [name]: value === initial ? null : value }, options)];
}

/** useTextParam is useParam for what is typed: Back does not undo it letter by letter. */
export const useTextParam = (name: string) => useParam(name, "", { replace: true });
