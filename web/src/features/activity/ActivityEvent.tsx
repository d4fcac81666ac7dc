import type { ReactNode } from "react";
import { Link } from "wouter";
import type { ActivityRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { StateBadge } from "../../ui/Badge";
import { activityTitle } from "../../base/words/activityTitles";
import { catalogue } from "../../base/words/catalogue";
import { timeOfDay, exact, exactNumber } from "../../base/words/formats";
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

/** detailText returns the properties of an event as words: its plain values, and how many there are of others. */
function detailText(properties: object): string {
	return Object.entries(properties)
		.filter(([, property]) => property !== null && property !== "")
		.map(
			([name, property]) =>
				`${name.replaceAll("_", " ")} ${Array.isArray(property) ? `(${exactNumber(property.length)})` : typeof property === "object" ? "(…)" : typeof property === "number" ? exactNumber(property) : String(property)}`,
		)
		.join(" · ");
}

/** useTitle returns the title of an event. A form is called by its name, and not by its key, mail of a sequence by that of the sequence, and a list by its name. */
export function useTitle(
	row: Pick<ActivityRow, "type" | "title" | "properties" | "sequence_id" | "broadcast_id" | "source">,
): string {
	const sequences = useCollection("sequences", { enabled: Boolean(row.sequence_id) });
	const properties = row.properties as { [name in "segment_key" | "form_slug" | "form_name" | "tag" | "url"]?: string };
	const ofList = row.type === "list_added" || row.type === "list_removed";
	const segments = useCollection("segments", { enabled: ofList });
	const list = ofList
		? (segments.data?.data.find((segment) => segment.segment_key === properties.segment_key)?.name ??
			properties.segment_key)
		: undefined;
	const sequence =
		row.source === "email" && row.sequence_id
			? sequences.data?.data.find((sequence) => sequence.id === row.sequence_id)?.name
			: undefined;
	const { form_slug, form_name, tag, url } = properties;
	return activityTitle(row, sequence ?? list ?? form_name ?? form_slug ?? tag ?? url);
}

/** useDetail returns what the title of an event does not say. */
function useDetail(row: ActivityRow): string | undefined {
	const types = useCollection("email_types", { enabled: row.type === "subscription_changed" });
	const properties = row.properties as {
		url?: string;
		link_url?: string;
		subject?: string;
		reason?: string;
		form_name?: string;
		email_type_key?: string;
		subscribed?: boolean;
	};
	const subscription =
		row.type === "subscription_changed" && properties.email_type_key
			? (properties.subscribed ? words.subscribed : words.unsubscribed)({
					type:
						types.data?.data.find((emailType) => emailType.type_key === properties.email_type_key)?.display_name ??
						properties.email_type_key,
				})
			: undefined;
	return (
		properties.link_url ??
		properties.url ??
		properties.subject ??
		properties.form_name ??
		(properties.reason && suppressionReason(properties.reason)) ??
		subscription ??
		((row.event_name && detailText(row.properties)) || undefined)
	);
}

/**
 * ActivityEvent is one event of the activity of contacts: when, what, and for opens and clicks why they count as they
 * do. `who` stands before it where several contacts are listed.
 */
export function ActivityEvent({ row, contact, actor }: { row: ActivityRow; contact: string; actor?: ReactNode }) {
	const title = useTitle(row);
	const detail = useDetail(row);
	const source = row.broadcast_id
		? to.broadcast(row.broadcast_id)
		: row.sequence_id
			? to.sequence(row.sequence_id)
			: null;
	const mail = row.broadcast_id && row.source === "email";
	return (
		<li className={css.event}>
			<time dateTime={row.occurred_at} title={exact(row.occurred_at)}>
				{timeOfDay(row.occurred_at)}
			</time>
			<div>
				{actor}
				<p className={css.what}>
					{source ? <Link href={source}>{title}</Link> : <span>{title}</span>}
					{row.classification && <StateBadge kind="hit" state={row.classification} />}
				</p>
				{detail && !title.includes(detail) && <p className={css.about}>{detail}</p>}
				{(mail || (row.rules && row.rules.length > 0)) && (
					<p className={css.about}>
						{row.rules?.map(ruleSentence).join(" ")}{" "}
						{mail && row.broadcast_id && <Link href={to.recipient(row.broadcast_id, contact)}>{words.evidence}</Link>}
					</p>
				)}
			</div>
		</li>
	);
}
