import { ApiError } from "../api/client";
import { explain } from "../base/words/errors";

/** Problems are the problems of a form: by the path of the field, and those of no field. */
export type Problems = { byPath: { [path: string]: string }; general: string[] };

/** problemsOf sorts the problems of an answer to the fields that a form has. */
export function problemsOf(error: unknown, paths: string[]): Problems {
	const out: Problems = { byPath: {}, general: [] };
	if (error instanceof ApiError && error.fields.length > 0) {
		for (const f of error.fields) {
			const path = paths.find((p) => f.path === p) ?? paths.find((p) => within(f.path, p));
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

/** within reports whether a path is that of a field or of something in it. */
export const within = (path: string, field: string) =>
	path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
