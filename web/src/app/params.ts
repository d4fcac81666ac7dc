import { useCallback } from "react";
import { useLocation, useSearch } from "wouter";

// The address bar is the state of a view: tab, filter, sort, open drawer.

/** useParams returns the parameters of the address, and a function that changes some of them. */
export function useParams(): [URLSearchParams, (changes: { [name: string]: string | null }, options?: { replace?: boolean }) => void] {
	const search = useSearch();
	const [path, navigate] = useLocation();
	const set = useCallback(
		(changes: { [name: string]: string | null }, options?: { replace?: boolean }) => {
			const params = new URLSearchParams(window.location.search);
			for (const [name, value] of Object.entries(changes)) {
				if (value === null || value === "") params.delete(name);
				else params.set(name, value);
			}
			const text = params.toString();
			navigate(path + (text ? `?${text}` : ""), { replace: options?.replace ?? true });
		},
		[path, navigate],
	);
	return [new URLSearchParams(search), set];
}

/** useParam returns one parameter of the address, and a function that changes it. */
export function useParam(name: string, initial = ""): [string, (value: string) => void] {
	const [params, set] = useParams();
	return [params.get(name) ?? initial, (value) => set({ [name]: value === initial ? null : value })];
}
