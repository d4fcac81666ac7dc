import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import { StateBadge } from "../../ui/Badge";
import { LinkButton } from "../../ui/Button";
import { isGone, Missing } from "../../ui/Missing";
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
	const found = useEvidence(id, contact);
	const b = broadcast.data;
	const e = found.data;
	const report = to.broadcast(id, { tab: "people" });
	const trail = [
		{ name: words.broadcasts, to: to.broadcasts() },
		...(b ? [{ name: b.name, to: to.broadcast(id) }] : []),
		{ name: words.people, to: report },
	];
	if (!e || isGone(found.error)) return <Missing query={found} list={words.people} to={report} trail={trail} />;
	const at = (t: string | null) => t && dateTime(t);
	const facts: [string, string | null | undefined][] = [
		[words.planned, e.planned_for],
		[words.sent, at(e.sent_at)],
		[words.delivered, at(e.delivered_at)],
		[words.opened, at(e.first_opened_at)],
		[words.clicked, at(e.first_clicked_at)],
		[words.bounced, e.bounced_at && `${dateTime(e.bounced_at)}, ${e.bounce_type === "hard" ? words.hard : words.soft}`],
		[words.complained, at(e.complained_at)],
		[words.unsubscribed, at(e.unsubscribed_at)],
		[words.reason, (e.error && attemptError(e.error)) ?? (e.skip_reason && reasonName(e.skip_reason))],
		[words.sender, e.sending_identity_email],
		[words.config, e.mta_config_key],
		[words.variant, e.variant_id && (b?.variants?.find((v) => v.id === e.variant_id)?.name ?? e.variant_id)],
		[words.version, String(e.content_version)],
	];
	const always = new Set<string>([words.sent, words.delivered, words.opened, words.clicked]);
	return (
		<Page
			title={e.email}
			trail={trail}
			status={<StateBadge kind="recipient" state={e.status} />}
			description={b && <Link href={to.broadcast(id)}>{b.name}</Link>}
			actions={<LinkButton to={to.contact(contact, { tab: "mail" })}>{words.contact}</LinkButton>}
		>
			<Card title={words.happened}>
				<Facts rows={facts.filter(([name, value]) => value || always.has(name))} />
			</Card>
			<Card title={words.hits}>
				<Hits evidence={e} />
			</Card>
			<Card title={words.servers}>
				<Attempts evidence={e} />
			</Card>
			<Card title={words.mail}>
				<SentMail evidence={e} />
			</Card>
		</Page>
	);
}
