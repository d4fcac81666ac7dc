import type { UseQueryResult } from "@tanstack/react-query";
import type { PreviewAnswer, PreviewProblem } from "../../api/schema";
import { explain, mailProblem } from "../../base/words/errors";
import { clockWithSeconds } from "../../base/words/formats";
import { catalogue } from "../../base/words/catalogue";
import { Button } from "../../ui/Button";
import { Callout } from "../../ui/Page";
import { Failure } from "../../ui/States";
import css from "./Source.module.css";

const words = catalogue("source.notShown", {
	stale: "From {at}; the code has {errors, plural, one {# error} other {# errors}} since.",
	never: "The email cannot be shown: the code has {errors, plural, one {# error} other {# errors}}.",
	go: "Go to the error",
	failed: "This is not the latest version of the email.",
	none: "The email cannot be shown.",
	again: "Try again",
});

type Props = {
	/** Why the server did not answer; null if it did. */
	error: unknown;
	retry: () => void;
	/** What is wrong in the code. */
	errors: PreviewProblem[];
	/** When the mail was made that is shown; null if there is none. */
	at: Date | null;
	/** Leads to an error. */
	onGo?: (problem: PreviewProblem) => void;
};

type Made = {
	query: Pick<UseQueryResult<PreviewAnswer>, "data" | "error" | "isError" | "refetch">;
	lastValid: { at: Date } | null;
};

/** whyNotShown returns why a preview does not show the mail of the newest text; null if it does, or will soon. */
export function whyNotShown({ query, lastValid }: Made): Props | null {
	const { data, error, isError } = query;
	if (!isError && (!data || data.html !== null)) return null;
	const errors = isError ? [] : (data?.problems ?? []).filter((problem) => problem.severity === "error");
	return { error: isError ? error : null, retry: () => void query.refetch(), errors, at: lastValid?.at ?? null };
}

/** NotShown says why a preview does not show the mail of the newest text; where it leads to an error, also what can be done. */
export function NotShown({ error, retry, errors, at, onGo }: Props) {
	const [first] = errors;
	const count = errors.length;
	const sentence = at ? words.stale({ at: clockWithSeconds(at), errors: count }) : words.never({ errors: count });
	if (error !== null && !onGo) return <Failure error={error} retry={retry} />;
	if (error !== null)
		return (
			<Callout tone="danger" title={at ? words.failed : words.none}>
				<div className={css.calloutActions}>
					<span>{explain(error)}</span>
					<Button small onClick={retry}>
						{words.again}
					</Button>
				</div>
			</Callout>
		);
	if (!onGo) return <p className={css.stale}>{sentence}</p>;
	return (
		<Callout tone="warning">
			<div className={css.calloutActions} role="status">
				<span>
					{sentence} {first && mailProblem(first)}
				</span>
				{first && (
					<Button small onClick={() => onGo(first)}>
						{words.go}
					</Button>
				)}
			</div>
		</Callout>
	);
}
