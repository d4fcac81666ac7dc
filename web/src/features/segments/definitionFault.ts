import { ApiError, type FieldProblem } from "../../api/client";
import { explain, fieldSentence } from "../../base/words/errors";
import { ownName } from "../../base/words/fieldNames";
import type { Fault } from "../rules/Builder";

const faultOf = (problem: FieldProblem) => ({
	message: fieldSentence(problem, ownName(problem.path)),
	fullMessage: fieldSentence(problem),
});

/** definitionFault returns the problem that the server found in a rule, with its path. */
export function definitionFault(error: unknown): Fault | null {
	if (!(error instanceof ApiError) || error.status !== 400) return null;
	const [first, ...others] = error.fields;
	const path = error.details.path;
	return {
		path: first?.path ?? (typeof path === "string" ? path : ""),
		...(first ? faultOf(first) : { message: explain(error), fullMessage: explain(error) }),
		others: others.map((problem) => ({ path: problem.path, ...faultOf(problem) })),
	};
}
