import type { UseQueryResult } from "@tanstack/react-query";
import type { PreviewAnswer, PreviewProblem } from "../../api/schema";

/** Reason is why a preview does not show the mail of the newest text. */
export type Reason = {
	/** Why the server did not answer; null if it did. */
	error: unknown;
	retry: () => void;
	/** What is wrong in the code. */
	errors: PreviewProblem[];
	/** When the mail was made that is shown; null if there is none. */
	at: Date | null;
};

type Made = {
	query: Pick<UseQueryResult<PreviewAnswer>, "data" | "error" | "isError" | "refetch">;
	lastValid: { at: Date } | null;
};

/** whyNotShown returns why a preview does not show the mail of the newest text; null if it does, or will soon. */
export function whyNotShown({ query, lastValid }: Made): Reason | null {
	const { data, error, isError } = query;
	if (!isError && (!data || data.html !== null)) return null;
	const errors = isError ? [] : (data?.problems ?? []).filter((problem) => problem.severity === "error");
	return { error: isError ? error : null, retry: () => void query.refetch(), errors, at: lastValid?.at ?? null };
}
