import { ApiError, type FieldProblem } from "../api/client";
import { explain, fieldSentenceOf } from "../base/words/errors";

/** Problems are the problems of a form: by the path of the field, and those of no field. All are sentences. */
export type Problems = {
	byPath: { [path: string]: string };
	general: string[];
	/** All problems of fields as the server answered them, for a page that finds their place itself. */
	answered?: FieldProblem[];
};

/** labelAt returns what the page calls the field at a path. */
function labelAt(path: string): string | undefined {
	if (typeof document === "undefined") return undefined;
	const field = document.querySelector(`[data-path="${CSS.escape(path)}"]`);
	const label = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement ? field.labels?.[0] : null;
	return label?.firstChild?.textContent?.trim() || undefined; // behind it may stand that the field is optional
}

/** problemsOf sorts the problems of an answer to the fields that a form has. */
export function problemsOf(error: unknown, paths: string[]): Problems {
	const result: Problems = { byPath: {}, general: [] };
	if (error instanceof ApiError && error.fields.length > 0) {
		result.answered = error.fields;
		for (const field of error.fields) {
			const path = paths.find((path) => field.path === path) ?? paths.find((path) => isInside(field.path, path));
			if (path) {
				const sentence = fieldSentenceOf(error, field, labelAt(field.path));
				result.byPath[path] ??= sentence;
				result.byPath[field.path] ??= sentence; // of an element, too
			} else result.general.push(fieldSentenceOf(error, field));
		}
		return result;
	}
	result.general.push(explain(error));
	return result;
}

/** isInside reports whether a path is that of a field or of something in it. */
export const isInside = (path: string, field: string) =>
	path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
