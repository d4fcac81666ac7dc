import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import { StateBadge } from "../../ui/Badge";
import { LinkButton } from "../../ui/Button";
import { isGone, NotFound } from "../../ui/NotFound";
import { Card, Facts, Page } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { dateTime } from "../../base/words/formats";
import { Attempts, Hits, SentMail, useEvidence } from "../activity/Evidence";
import { reasonName } from "./forecast";
import { attemptError } from "../../base/words/replies";
import { broadcastQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("broadcasts.recipient", {
	broadcasts: "Broadcasts",
	people: "People",
	contact: "Open contact",
	happened: "What happened",
	planned: "Planned for",
	sent: "Sent",
	delivered: "Delivered",
	opened: "First open by a person",
	clicked: "First click by a person",
	bounced: "Bounced",
	hard: "for good",
	soft: "for now",
	complained: "Reported as spam",
	unsubscribed: "Unsubscribed",
	reason: "Reason",
	sender: "Sender",
	config: "Sending server",
	variant: "Version",
	version: "Content revision",
	mail: "Email as sent",
	servers: "What the servers said",
	hits: "Opens and clicks",
});

/** Recipient shows what one person got of a broadcast: the mail, its way, and every open and click with why it counts. */
export default function Recipient() {
	const { id = "", contact = "" } = useParams<{ id: string; contact: string }>();
	const broadcast = useQuery(broadcastQuery(id));
	const query = useEvidence(id, contact);
	const b = broadcast.data;
	const evidence = query.data;
	const report = to.broadcast(id, { tab: "people" });
	const breadcrumbs = [
		{ name: words.broadcasts, to: to.broadcasts() },
		...(b ? [{ name: b.name, to: to.broadcast(id) }] : []),
		{ name: words.people, to: report },
	];
	if (!evidence || isGone(query.error))
		return <NotFound query={query} list={words.people} to={report} breadcrumbs={breadcrumbs} />;
	const timeText = (time: string | null) => time && dateTime(time);
	const facts: [string, string | null | undefined][] = [
		[words.planned, evidence.planned_for],
		[words.sent, timeText(evidence.sent_at)],
		[words.delivered, timeText(evidence.delivered_at)],
		[words.opened, timeText(evidence.first_opened_at)],
		[words.clicked, timeText(evidence.first_clicked_at)],
		[
			words.bounced,
			evidence.bounced_at &&
				`${dateTime(evidence.bounced_at)}, ${evidence.bounce_type === "hard" ? words.hard : words.soft}`,
		],
		[words.complained, timeText(evidence.complained_at)],
		[words.unsubscribed, timeText(evidence.unsubscribed_at)],
		[
			words.reason,
			(evidence.error && attemptError(evidence.error)) ?? (evidence.skip_reason && reasonName(evidence.skip_reason)),
		],
		[words.sender, evidence.sending_identity_email],
		[words.config, evidence.mta_config_key],
		[
			words.variant,
			evidence.variant_id &&
				(b?.variants?.find((variant) => variant.id === evidence.variant_id)?.name ?? evidence.variant_id),
		],
		[words.version, String(evidence.content_version)],
	];
	const always = new Set<string>([words.sent, words.delivered, words.opened, words.clicked]);
	return (
		<Page
			title={evidence.email}
			breadcrumbs={breadcrumbs}
			status={<StateBadge kind="recipient" state={evidence.status} />}
			description={b && <Link href={to.broadcast(id)}>{b.name}</Link>}
			actions={<LinkButton to={to.contact(contact, { tab: "mail" })}>{words.contact}</LinkButton>}
		>
			<Card title={words.happened}>
				<Facts rows={facts.filter(([name, value]) => value || always.has(name))} />
			</Card>
			<Card title={words.hits}>
				<Hits evidence={evidence} />
			</Card>
			<Card title={words.servers}>
				<Attempts evidence={evidence} />
			</Card>
			<Card title={words.mail}>
				<SentMail evidence={evidence} />
			</Card>
		</Page>
	);
}
