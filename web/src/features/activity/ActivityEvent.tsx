import type { ReactNode } from "react";
import { Link } from "wouter";
import type { ActivityRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { StateBadge } from "../../ui/Badge";
import { catalogue } from "../../base/words/catalogue";
import { clock, exact, full } from "../../base/words/formats";
import { ruleSentence } from "../../base/words/rules";
import css from "./Activity.module.css";
import { suppressionReason } from "../../base/words/suppressions";
import { to } from "../../base/paths";

const words = catalogue("activity.activityEvent", {
	evidence: "View email",
	subscribed: "Subscribed to {type}",
	unsubscribed: "Unsubscribed from {type}",
	link: "Link",
});

/** told returns the properties of an event as words: its plain values, and how many there are of others. */
function told(properties: object): string {
	return Object.entries(properties)
		.filter(([, v]) => v !== null && v !== "")
		.map(
			([name, v]) =>
				`${name.replaceAll("_", " ")} ${Array.isArray(v) ? `(${full(v.length)})` : typeof v === "object" ? "(…)" : typeof v === "number" ? full(v) : String(v)}`,
		)
		.join(" · ");
}

/** useTitle returns the title of an event. A form is called by its name, and not by its key, mail of a sequence by that of the sequence, and a list by its name. */
export function useTitle(
	row: Pick<ActivityRow, "type" | "title" | "properties" | "sequence_id" | "broadcast_id" | "source">,
): string {
	const sequences = useCollection("sequences", { enabled: Boolean(row.sequence_id) });
	const p = row.properties as { segment_key?: string; form_slug?: string; form_name?: string };
	const ofList = row.type === "list_added" || row.type === "list_removed";
	const segments = useCollection("segments", { enabled: ofList });
	const list = ofList
		? (segments.data?.data.find((s) => s.segment_key === p.segment_key)?.name ?? p.segment_key)
		: undefined;
	const sequence =
		row.source === "email" && row.sequence_id
			? sequences.data?.data.find((s) => s.id === row.sequence_id)?.name
			: undefined;
	if (sequence) return `${row.title}: ${sequence}`;
	if (list) return `${row.title}: ${list}`;
	const { form_slug: slug, form_name: name } = p;
	return slug && name && row.title.endsWith(slug) ? row.title.slice(0, -slug.length) + name : row.title;
}

/** useDetail returns what the title of an event does not say. */
function useDetail(row: ActivityRow): string | undefined {
	const types = useCollection("email_types", { enabled: row.type === "subscription_changed" });
	const p = row.properties as {
		url?: string;
		link_url?: string;
		subject?: string;
		reason?: string;
		form_name?: string;
		email_type_key?: string;
		subscribed?: boolean;
	};
	const subscription =
		row.type === "subscription_changed" && p.email_type_key
			? (p.subscribed ? words.subscribed : words.unsubscribed)({
					type: types.data?.data.find((t) => t.type_key === p.email_type_key)?.display_name ?? p.email_type_key,
				})
			: undefined;
	return (
		p.link_url ??
		p.url ??
		p.subject ??
		p.form_name ??
		(p.reason && suppressionReason(p.reason)) ??
		subscription ??
		((row.event_name && told(row.properties)) || undefined)
	);
}

/**
 * ActivityEvent is one event of the activity of contacts: when, what, and for opens and clicks why they count as they
 * do. `who` stands before it where several contacts are listed.
 */
export function ActivityEvent({ row: r, contact, who }: { row: ActivityRow; contact: string; who?: ReactNode }) {
	const title = useTitle(r);
	const detail = useDetail(r);
	const source = r.broadcast_id ? to.broadcast(r.broadcast_id) : r.sequence_id ? to.sequence(r.sequence_id) : null;
	const mail = r.broadcast_id && r.source === "email";
	return (
		<li className={css.event}>
			<time dateTime={r.occurred_at} title={exact(r.occurred_at)}>
				{clock(r.occurred_at)}
			</time>
			<div>
				{who}
				<p className={css.what}>
					{source ? <Link href={source}>{title}</Link> : <span>{title}</span>}
					{r.classification && <StateBadge kind="hit" state={r.classification} />}
				</p>
				{detail && !title.includes(detail) && <p className={css.about}>{detail}</p>}
				{(mail || (r.rules && r.rules.length > 0)) && (
					<p className={css.about}>
						{r.rules?.map(ruleSentence).join(" ")}{" "}
						{mail && r.broadcast_id && <Link href={to.recipient(r.broadcast_id, contact)}>{words.evidence}</Link>}
					</p>
				)}
			</div>
		</li>
	);
}
