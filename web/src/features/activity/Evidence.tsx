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
export function SentMail({ evidence: { message: m } }: { evidence: RecipientEvidence }) {
	if (!m) return <p>{words.gone}</p>;
	return (
		<>
			<Facts
				rows={[
					[words.from, m.from],
					[words.subject, m.subject],
					[words.values, words[m.rendered_with]],
				]}
			/>
			<MailFrame html={m.html} text={m.text} tall />
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
export function Attempts({ evidence: e }: { evidence: RecipientEvidence }) {
	if (e.attempts.length === 0) return <p className={css.muted}>{words.noAttempts}</p>;
	return (
		<List
			label={words.attempts}
			rows={e.attempts}
			rowKey={(a) => a.at}
			columns={[
				{ id: "when", name: words.when, cell: (a) => <At at={a.at} /> },
				{ id: "reply", name: words.reply, cell: (a) => <code className={css.url}>{replyOf(a.code, a.reply)}</code> },
				{ id: "config", name: words.config, cell: (a) => a.mta_config_key ?? <NotSet /> },
			]}
		/>
	);
}

/** Hits lists the opens and clicks of a mail, with what each counts as, and why. */
export function Hits({ evidence: e }: { evidence: RecipientEvidence }) {
	return (
		<>
			{e.hits.length === 0 ? (
				<p className={css.muted}>{words.noHits}</p>
			) : (
				<ol className={css.hits} aria-label={words.hits}>
					{e.hits.map((h, i) => (
						<li key={`${h.at} ${i}`}>
							<p className={css.hit}>
								<b>{h.kind === "click" ? words.click : words.open}</b>
								<At at={h.at} />
								<StateBadge kind="hit" state={h.class} />
								{h.link_url && <span className={css.url}>{h.link_url}</span>}
							</p>
							<ul className={css.reasons} aria-label={words.why}>
								{h.rules.length === 0 && <li>{h.class === "pending" ? words.notYet : words.noRule}</li>}
								{h.rules.map((r) => (
									<li key={r}>
										<code>{r}</code> {ruleSentence(r)}
									</li>
								))}
							</ul>
							{(h.agent || h.network) && (
								<p className={css.muted}>
									{h.agent && `${words.agent}: ${h.agent}`}
									{h.agent && h.network && " · "}
									{h.network && `${words.network}: ${h.network}`}
								</p>
							)}
						</li>
					))}
				</ol>
			)}
			{e.hits_deleted > 0 && <p className={css.muted}>{words.deleted({ count: e.hits_deleted })}</p>}
		</>
	);
}
