import type { PreviewProblem } from "../../api/schema";
import { explain, mailProblem } from "../../base/words/errors";
import { clockWithSeconds } from "../../base/words/formats";
import { catalogue } from "../../base/words/catalogue";
import { Button } from "../../ui/Button";
import { Callout } from "../../ui/Page";
import { Failure } from "../../ui/States";
import css from "./Source.module.css";
import type { Reason } from "./whyNotShown";

const words = catalogue("source.notShown", {
	stale: "From {at}; the code has {errors, plural, one {# error} other {# errors}} since.",
	never: "The email cannot be shown: the code has {errors, plural, one {# error} other {# errors}}.",
	go: "Go to the error",
	failed: "This is not the latest version of the email.",
	none: "The email cannot be shown.",
	again: "Try again",
});

type Props = Reason & {
	/** Leads to an error. */
	onGo?: (problem: PreviewProblem) => void;
};

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
