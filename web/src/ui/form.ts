import { useState } from "react";
import { type Problems, problemsOf, isInside } from "./problems";

const none: Problems = { byPath: {}, general: [] };

/** firstField returns the field that comes first on the page among those of some paths: of a list, its element. */
function firstField(paths: string[]): HTMLElement | undefined {
	const fields = paths.flatMap((path) => [
		...document.querySelectorAll<HTMLElement>(`[data-path="${CSS.escape(path)}"]`),
	]);
	const innermost = fields.filter((element) => !fields.some((other) => other !== element && element.contains(other)));
	return innermost.sort((a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1))[0];
}

/** useSubmit sends a form: whether that is under way, and what is wrong with its fields, which it is given by their paths. */
export function useSubmit(paths: string[]) {
	const [problems, setProblems] = useState<Problems>(none);
	const [busy, setBusy] = useState(false);
	return {
		problems,
		busy,
		/** Drops the problems of fields that were changed; of all without a name. */
		clear: (fields?: string[]) =>
			setProblems((previous) =>
				fields
					? {
							...previous,
							byPath: Object.fromEntries(
								Object.entries(previous.byPath).filter(([path]) => !fields.some((field) => isInside(path, field))),
							),
						}
					: none,
			),
		/** submit sends the form; problems stand at their fields, and the first of them takes the focus. */
		submit: async (send: () => Promise<void>) => {
			setBusy(true);
			setProblems(none);
			try {
				await send();
			} catch (error) {
				const problems = problemsOf(error, paths);
				setProblems(problems);
				requestAnimationFrame(() => firstField(Object.keys(problems.byPath))?.focus());
			} finally {
				setBusy(false);
			}
		},
	};
}

/**
 * useForm holds the values of a form, what is wrong with them, and whether they are being sent. sent names fields of the
 * request that are made of a value of the form, so that problems of them are not listed but found by their path.
 */
export function useForm<T extends { [field: string]: unknown }>(initial: T, sent: { [path: string]: keyof T } = {}) {
	const [values, setValues] = useState(initial);
	const { clear, ...sending } = useSubmit([...Object.keys(initial), ...Object.keys(sent)]);
	return {
		...sending,
		values,
		dirty: JSON.stringify(values) !== JSON.stringify(initial),
		set: (changes: Partial<T>) => {
			setValues((previous) => ({ ...previous, ...changes }));
			const corrected = Object.keys(sent).filter((path) => (sent[path] ?? "") in changes);
			clear([...Object.keys(changes), ...corrected]);
		},
		reset: (next: T = initial) => {
			setValues(next);
			clear();
		},
	};
}
