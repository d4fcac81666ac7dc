import { useQuery } from "@tanstack/react-query";
import { Clock } from "lucide-react";
import { type ReactNode, useState } from "react";
import { nameOf } from "../contacts/contactFields";
import { contactCountQuery } from "../contacts/queries";
import { Builder, type Fault } from "../rules/Builder";
import type { Group } from "../rules/groups";
import { Fixed } from "../../ui/Locked";
import { Card } from "../../ui/Page";
import { useDebounced } from "../../ui/useDebounced";
import { catalogue } from "../../base/words/catalogue";
import { ago, percent } from "../../base/words/formats";
import { explain } from "../../base/words/errors";
import css from "./Segment.module.css";
import { definitionFault } from "./definitionFault";
import { segmentPreviewQuery } from "./queries";

const words = catalogue("segments.rules", {
	rule: "Rule",
	matches: "Matches now",
	counting: "Counting",
	sum: "{total, number} match, {sendable, number} of them can be mailed.",
	before: "{total, number} matched the saved rule, counted {when}.",
	more: "{count, number} more",
	fewer: "{count, number} fewer",
	than: "That is {difference} than the {total, number} matching the saved rule, counted {when}.",
	asMany: "The same number as the saved rule, counted {when}.",
	nobody: "Nobody matches.",
	incomplete:
		"{count, plural, one {# problem in the rule, at its condition.} other {# problems in the rule, at their conditions.}}",
	first: "Sample",
	share: "{share} of all {count, plural, one {# contact} other {# contacts}} can be mailed with it.",
	show: "Show sample",
	hide: "Hide sample",
});

type Props = {
	value: Group;
	onChange: (group: Group) => void;
	/** Who matched the saved rule when it was counted last. */
	saved?: { total: number; at: string } | null;
	fault?: Fault | null;
	/** References of the rule to records that do not exist any more. */
	warnings?: { path: string }[];
	/** Whether the rule cannot be changed. */
	locked: boolean;
	/** The button that saves it. */
	save: ReactNode;
};

/** compared says how a count differs from that of the saved rule. */
function compared(total: number | undefined, { total: before, at }: { total: number; at: string }): string {
	if (total === undefined) return words.before({ total: before, when: ago(at) });
	if (total === before) return words.asMany({ when: ago(at) });
	return words.than({
		difference: total > before ? words.more({ count: total - before }) : words.fewer({ count: before - total }),
		total: before,
		when: ago(at),
	});
}

/** Rules edits a rule and counts who matches it, a moment after the last change. The count stays in view, with the button that saves. */
export function Rules({ value, onChange, saved, fault, warnings, locked, save }: Props) {
	const text = JSON.stringify(value);
	const debounced = useDebounced(text, 400);
	const preview = useQuery({ ...segmentPreviewQuery(debounced), enabled: value.conditions.length > 0 });
	const contacts = useQuery(contactCountQuery({ filters: [] }));
	const [open, setOpen] = useState(false);
	const answer = preview.data;
	const problem = definitionFault(preview.error);
	const all = contacts.data?.count;
	const isCounted = answer !== undefined && !preview.isError && answer.member_count_total > 0;
	return (
		<div className={css.rules}>
			<Fixed locked={locked}>
				<Card title={words.rule}>
					<Builder value={value} onChange={onChange} fault={fault ?? problem} warnings={warnings} />
				</Card>
			</Fixed>
			<div className={css.aside} data-open={open || undefined}>
				<Card title={words.matches} actions={save}>
					<p role="status" className={[css.now, preview.isFetching && css.dim].filter(Boolean).join(" ")}>
						{preview.isFetching && answer && <Clock role="img" aria-label={words.counting} size={14} />}
						{problem && problem.path !== ""
							? words.incomplete({ count: 1 + (problem.others?.length ?? 0) })
							: preview.isError
								? explain(preview.error)
								: answer
									? answer.member_count_total === 0
										? words.nobody
										: words.sum({ sendable: answer.member_count, total: answer.member_count_total })
									: words.counting}
						{isCounted && all ? (
							<span className={css.share}>
								{" "}
								{words.share({ share: percent(answer.member_count / all), count: all })}
							</span>
						) : null}
					</p>
					<button type="button" className={css.handle} aria-expanded={open} onClick={() => setOpen(!open)}>
						{open ? words.hide : words.show}
					</button>
					<div className={css.more}>
						{saved && (
							<p className={css.muted}>
								{compared(preview.isFetching || preview.isError ? undefined : answer?.member_count_total, saved)}
							</p>
						)}
						{answer && answer.sample.length > 0 && (
							<>
								<h3>{words.first}</h3>
								<ul className={css.sample}>
									{answer.sample.map((contact) => (
										<li key={contact.id}>
											{nameOf(contact)} <span className={css.muted}>{contact.email}</span>
										</li>
									))}
								</ul>
							</>
						)}
					</div>
				</Card>
			</div>
		</div>
	);
}
