import { useQuery } from "@tanstack/react-query";
import type { RecipientEvidence } from "../../api/schema";
import { StateBadge } from "../../ui/Badge";
import { List } from "../../ui/List";
import { MailFrame } from "../../ui/MailFrame";
import { Facts, NotSet } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { dateTime, exact } from "../../base/words/formats";
import { ruleSentence } from "../../base/words/rules";
import { replyOf } from "../../base/words/replies";
import css from "./Evidence.module.css";
import { recipientQuery } from "../broadcasts/queries";

const words = catalogue("activity.evidence", {
	from: "From",
	subject: "Subject",
	gone: "Its content is no longer stored.",
	values: "Values",
	sent: "The contact's values when it was sent",
	current: "The contact's values of today, where those of that time are not stored",
	attempts: "What the servers said",
	noAttempts: "Not sent to any server yet.",
	config: "Sending server",
	reply: "Answer",
	when: "When",
	hits: "Opens and clicks",
	noHits: "No program has requested its images or links.",
	deleted:
		"{count, plural, one {# open or click was deleted, because there were more than 1,000 or because of its age.} other {# opens and clicks were deleted, because there were more than 1,000 or because of their age.}}",
	why: "Why",
	open: "Open",
	click: "Click",
	agent: "Program",
	network: "Network",
	noRule: "Nothing indicates that this was not a person.",
	notYet: "It is classified within about a minute.",
});

/** useEvidence reads what one person got of a broadcast, and what became of it. */
export function useEvidence(broadcast: string, contact: string) {
	return useQuery(recipientQuery(broadcast, contact));
}

/** SentMail shows the mail as it was sent. */
export function SentMail({ evidence: { message } }: { evidence: RecipientEvidence }) {
	if (!message) return <p>{words.gone}</p>;
	return (
		<>
			<Facts
				rows={[
					[words.from, message.from],
					[words.subject, message.subject],
					[words.values, words[message.rendered_with]],
				]}
			/>
			<MailFrame html={message.html} text={message.text} fullHeight />
		</>
	);
}

/** At is a time of evidence, with the minute even if it is long ago. */
function At({ at }: { at: string }) {
	return (
		<time dateTime={at} title={exact(at)}>
			{dateTime(at)}
		</time>
	);
}

/** Attempts lists the hand-overs of a mail, with the words of the servers. */
export function Attempts({ evidence }: { evidence: RecipientEvidence }) {
	if (evidence.attempts.length === 0) return <p className={css.muted}>{words.noAttempts}</p>;
	return (
		<List
			label={words.attempts}
			rows={evidence.attempts}
			rowKey={(attempt) => attempt.at}
			columns={[
				{ id: "when", name: words.when, cell: (attempt) => <At at={attempt.at} /> },
				{
					id: "reply",
					name: words.reply,
					cell: (attempt) => <code className={css.url}>{replyOf(attempt.code, attempt.reply)}</code>,
				},
				{ id: "config", name: words.config, cell: (attempt) => attempt.mta_config_key ?? <NotSet /> },
			]}
		/>
	);
}

/** Hits lists the opens and clicks of a mail, with what each counts as, and why. */
export function Hits({ evidence }: { evidence: RecipientEvidence }) {
	return (
		<>
			{evidence.hits.length === 0 ? (
				<p className={css.muted}>{words.noHits}</p>
			) : (
				<ol className={css.hits} aria-label={words.hits}>
					{evidence.hits.map((hit, i) => (
						<li key={`${hit.at} ${i}`}>
							<p className={css.hit}>
								<b>{hit.kind === "click" ? words.click : words.open}</b>
								<At at={hit.at} />
								<StateBadge kind="hit" state={hit.class} />
								{hit.link_url && <span className={css.url}>{hit.link_url}</span>}
							</p>
							<ul className={css.reasons} aria-label={words.why}>
								{hit.rules.length === 0 && <li>{hit.class === "pending" ? words.notYet : words.noRule}</li>}
								{hit.rules.map((rule) => (
									<li key={rule}>
										<code>{rule}</code> {ruleSentence(rule)}
									</li>
								))}
							</ul>
							{(hit.agent || hit.network) && (
								<p className={css.muted}>
									{hit.agent && `${words.agent}: ${hit.agent}`}
									{hit.agent && hit.network && " · "}
									{hit.network && `${words.network}: ${hit.network}`}
								</p>
							)}
						</li>
					))}
				</ol>
			)}
			{evidence.hits_deleted > 0 && <p className={css.muted}>{words.deleted({ count: evidence.hits_deleted })}</p>}
		</>
	);
}
