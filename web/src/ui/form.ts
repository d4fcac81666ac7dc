import { useState } from "react";
import { ApiError } from "../api/client";
import { explain } from "../base/words/errors";

/** Problems are the problems of a form: by the path of the field, and those of no field. */
export type Problems = { byPath: { [path: string]: string }; general: string[] };

const none: Problems = { byPath: {}, general: [] };

/** problemsOf sorts the problems of an answer to the fields that a form has. */
export function problemsOf(error: unknown, paths: string[]): Problems {
	const out: Problems = { byPath: {}, general: [] };
	if (error instanceof ApiError && error.fields.length > 0) {
		for (const f of error.fields) {
			const path = paths.find((p) => f.path === p) ?? paths.find((p) => under(f.path, p));
			if (path) {
				out.byPath[path] ??= f.message;
				out.byPath[f.path] ??= f.message; // of an element, too
			} else out.general.push(f.path ? `${f.path}: ${f.message}` : f.message);
		}
		return out;
	}
	out.general.push(explain(error));
	return out;
}

/** under reports whether a path is that of a field or of something in it. */
const under = (path: string, field: string) =>
	path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);

/** useForm holds the values of a form, what is wrong with them, and whether they are being sent. */
export function useForm<T extends { [field: string]: unknown }>(initial: T) {
	const [values, setValues] = useState(initial);
	const [problems, setProblems] = useState<Problems>(none);
	const [busy, setBusy] = useState(false);
	const paths = Object.keys(initial);
	return {
		values,
		problems,
		busy,
		dirty: JSON.stringify(values) !== JSON.stringify(initial),
		set: (changes: Partial<T>) => {
			setValues((v) => ({ ...v, ...changes }));
			setProblems((p) => ({
				...p,
				byPath: Object.fromEntries(
					Object.entries(p.byPath).filter(([path]) => !Object.keys(changes).some((field) => under(path, field))),
				),
			}));
		},
		reset: (next: T = initial) => {
			setValues(next);
			setProblems(none);
		},
		/** submit sends the form; problems stand at their fields, and the first of them takes the focus. */
		submit: async (send: () => Promise<void>) => {
			setBusy(true);
			setProblems(none);
			try {
				await send();
			} catch (e) {
				const found = problemsOf(e, paths);
				setProblems(found);
				const find = (path: string) => document.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`);
				const [first = "", inside = ""] = Object.keys(found.byPath);
				if (first)
					requestAnimationFrame(() => (under(inside, first) ? (find(inside) ?? find(first)) : find(first))?.focus());
			} finally {
				setBusy(false);
			}
		},
	};
}
