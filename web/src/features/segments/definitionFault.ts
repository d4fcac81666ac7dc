import { ApiError } from "../../api/client";
import { explain } from "../../base/words/errors";
import type { Fault } from "../rules/Builder";

/** definitionFault returns the problem that the server found in a rule, with its path. */
export function definitionFault(error: unknown): Fault | null {
	if (!(error instanceof ApiError) || error.status !== 400) return null;
	const [first, ...others] = error.fields;
	const path = error.details.path;
	return {
		path: first?.path ?? (typeof path === "string" ? path : ""),
		message: first?.message ?? explain(error),
		others,
	};
}
