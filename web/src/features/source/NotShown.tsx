import type { PreviewProblem } from "../../api/schema";
import { mailProblem } from "../../base/words/errors";
import { clockWithSeconds } from "../../base/words/formats";
import { catalogue } from "../../base/words/catalogue";
import { Button } from "../../ui/Button";
import { Failure } from "../../ui/States";
import css from "./Source.module.css";
import type { useLivePreview } from "./preview";

const words = catalogue("source.notShown", {
	stale: "From {at}; the code has {errors, plural, one {# error} other {# errors}} since.",
	never: "The email cannot be shown: the code has {errors, plural, one {# error} other {# errors}}.",
	go: "Go to the error",
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

/** whyNotShown returns why a preview does not show the mail of the newest text; null if it does, or will soon. */
export function whyNotShown({ query, lastValid }: ReturnType<typeof useLivePreview>): Props | null {
	const { data, error, isError } = query;
	if (!isError && (!data || data.html !== null)) return null;
	const errors = isError ? [] : (data?.problems ?? []).filter((problem) => problem.severity === "error");
	return { error: isError ? error : null, retry: () => void query.refetch(), errors, at: lastValid?.at ?? null };
}

/** NotShown says why a preview does not show the mail of the newest text, and what can be done. */
export function NotShown({ error, retry, errors, at, onGo }: Props) {
	if (error !== null) return <Failure error={error} retry={retry} />;
	const [first] = errors;
	return (
		<div role="status">
			<p className={css.stale}>
				{at ? words.stale({ at: clockWithSeconds(at), errors: errors.length }) : words.never({ errors: errors.length })}
				{onGo && first && <> {mailProblem(first)}</>}
			</p>
			{onGo && first && (
				<Button small onClick={() => onGo(first)}>
					{words.go}
				</Button>
			)}
		</div>
	);
}
