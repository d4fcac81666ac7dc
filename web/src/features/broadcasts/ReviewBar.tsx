import { ChevronDown, ChevronUp } from "lucide-react";
import { useEffect, useId, useRef } from "react";
import type { BroadcastSessionView } from "../../api/schema";
import type { Problem } from "../../sync/draft";
import { catalogue } from "../../base/words/catalogue";
import css from "./Composer.module.css";
import { warningsOf } from "./draftSummary";
import type { Forecast } from "./forecast";
import { Readiness, Total, useMissing } from "./Readiness";

const words = catalogue("broadcasts.reviewBar", {
	review: "Review",
	show: "Show review",
	hide: "Hide review",
	warnings: "{count, plural, one {# warning} other {# warnings}}",
	recipients: "{count, plural, one {# recipient} other {# recipients}}",
});

type Props = {
	saved: BroadcastSessionView;
	unsaved: Problem[];
	forecast: Forecast;
	open: boolean;
	onOpen: (open: boolean) => void;
	onChanged: () => void;
};

/** ReviewBar says at the end of the page how much keeps a draft from being sent, and opens the list of it. */
export function ReviewBar({ saved: broadcast, unsaved, forecast, open, onOpen, onChanged }: Props) {
	const list = useId();
	const button = useRef<HTMLButtonElement>(null);
	const aside = useRef<HTMLElement>(null);
	const { count } = useMissing({ saved: broadcast, unsaved });
	const warnings = warningsOf(broadcast).length;
	const recipients = broadcast.include_segment_keys.length > 0 ? forecast.data?.recipients : undefined;
	useEffect(() => {
		if (!open) return;
		const close = (event: KeyboardEvent) => {
			if (event.key !== "Escape" || event.defaultPrevented || !aside.current?.contains(document.activeElement)) return;
			onOpen(false);
			button.current?.focus();
		};
		document.addEventListener("keydown", close);
		return () => document.removeEventListener("keydown", close);
	}, [open, onOpen]);
	return (
		<aside ref={aside} className={css.review} aria-label={words.review}>
			<div id={list} className={css.reviewList} hidden={!open}>
				<h2>{words.review}</h2>
				<Readiness saved={broadcast} unsaved={unsaved} total={false} onChanged={onChanged} />
			</div>
			<div className={css.reviewBar}>
				<Total count={count} />
				{warnings > 0 && <span className={css.reviewWarnings}>{words.warnings({ count: warnings })}</span>}
				{recipients !== undefined && <span className={css.muted}>{words.recipients({ count: recipients })}</span>}
				<button ref={button} type="button" aria-expanded={open} aria-controls={list} onClick={() => onOpen(!open)}>
					{open ? words.hide : words.show}
					{open ? <ChevronDown aria-hidden size={16} /> : <ChevronUp aria-hidden size={16} />}
				</button>
			</div>
		</aside>
	);
}
