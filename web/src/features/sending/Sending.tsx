import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, newKey } from "../../api/client";
import { useCollection } from "../../base/collections";
import { useDisabledReason } from "../../base/session";
import { Badge, StateBadge } from "../../ui/Badge";
import { Button, LinkButton } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { List } from "../../ui/List";
import { Card, NotSet, Page } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber, percent } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import { domainsQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("sending.sending", {
	title: "Sending setup",
	about: "Senders, domains and the servers your mail leaves through.",
	domains: "Domains",
	domain: "Domain",
	status: "Status",
	tracking: "Tracking",
	health: "Bounces, complaints in 24 h",
	checked: "Checked",
	addDomain: "Add domain",
	noDomain: "No domains yet",
	noDomainText: "Email is sent from a domain you own. Its DNS records prove that you may send for it.",
	noMta: "No sending servers yet",
	noMtaText:
		"Mail leaves through a relay, through Amazon SES or directly to the recipients’ servers, or goes to the built-in mailbox.",
	mta: "Sending servers",
	mtaAbout: "The servers your mail leaves through.",
	type: "Type",
	today: "Sent today",
	add: "Add",
	domainHelp: "For example news.example.com. A subdomain keeps your main domain's reputation separate.",
	senders: "Senders",
	types: "Email types",
	seeds: "Seed lists",
	seed: "Seed list",
	freshness: "State",
	active: "Active addresses",
	updated: "Updated",
	mailbox: "Built-in mailbox",
	paused: "Paused",
	off: "Off",
	addMta: "Add sending server",
	name: "Name",
});

/** A record as the page of a domain shows it. */
const dnsExample = "pb1._domainkey.news.example.com  TXT  v=DKIM1; k=rsa; p=MIIBIjANBg…";

/** The names of the types of MTA configs. */
export const mtaTypes = catalogue("sending.sending.mtaTypes", {
	smtp: "SMTP relay",
	direct_mx: "Direct",
	ses: "Amazon SES",
	sink: "Built-in mailbox",
});

/** Sending shows the health of everything that sends. */
export default function Sending() {
	const [, navigate] = useLocation();
	const [adding, setAdding] = useState(false);
	const domainDisabledReason = useDisabledReason("POST /sending-domains");
	const laneDisabledReason = useDisabledReason("POST /mta-configs");
	const domains = useQuery(domainsQuery());
	const lanes = useCollection("mta_configs");
	const seeds = useCollection("seed_lists");
	return (
		<Page
			title={words.title}
			description={words.about}
			actions={
				<>
					<LinkButton to={to.senders()}>{words.senders}</LinkButton>
					<LinkButton to={to.emailTypes()}>{words.types}</LinkButton>
					<LinkButton to={to.seedLists()}>{words.seeds}</LinkButton>
					<LinkButton to={to.mailbox()}>{words.mailbox}</LinkButton>
				</>
			}
		>
			<Card
				title={words.domains}
				actions={
					domains.data?.data.length !== 0 && (
						<Button small disabledReason={domainDisabledReason} onClick={() => setAdding(true)}>
							{words.addDomain}
						</Button>
					)
				}
			>
				{domains.isPending ? (
					<Skeleton rows={2} />
				) : domains.isError ? (
					<Failure error={domains.error} retry={() => void domains.refetch()} />
				) : domains.data.data.length === 0 ? (
					<Empty
						title={words.noDomain}
						action={
							<Button kind="create" disabledReason={domainDisabledReason} onClick={() => setAdding(true)}>
								{words.addDomain}
							</Button>
						}
						example={<pre>{dnsExample}</pre>}
					>
						{words.noDomainText}
					</Empty>
				) : (
					<List
						label={words.domains}
						rows={domains.data.data}
						rowKey={(domain) => domain.id}
						columns={[
							{
								id: "domain",
								name: words.domain,
								cell: (domain) => <Link href={to.domain(domain.id)}>{domain.domain}</Link>,
							},
							{
								id: "status",
								beside: true,
								name: words.status,
								cell: (domain) =>
									domain.paused ? (
										<Badge tone="warning">{words.paused}</Badge>
									) : (
										<StateBadge kind="domain" state={domain.status} />
									),
							},
							{
								id: "tracking",
								name: words.tracking,
								cell: (domain) => <StateBadge kind="tracking" state={domain.tracking_status} />,
							},
							{
								id: "health",
								name: words.health,
								cell: (domain) =>
									domain.health ? (
										`${percent(domain.health.hard_bounce_rate)}, ${percent(domain.health.complaint_rate, 3)}`
									) : (
										<NotSet />
									),
							},
							{ id: "checked", name: words.checked, cell: (domain) => <Time at={domain.last_checked_at} /> },
						]}
					/>
				)}
			</Card>
			<Card
				title={words.mta}
				actions={
					lanes.data?.data.length !== 0 && (
						<LinkButton small to={to.mta("new")} disabledReason={laneDisabledReason}>
							{words.addMta}
						</LinkButton>
					)
				}
			>
				{lanes.data?.data.length !== 0 && <p>{words.mtaAbout}</p>}
				{lanes.isPending ? (
					<Skeleton rows={2} />
				) : lanes.isError ? (
					<Failure error={lanes.error} retry={() => void lanes.refetch()} />
				) : lanes.data.data.length === 0 ? (
					<Empty
						title={words.noMta}
						action={
							<LinkButton to={to.mta("new")} disabledReason={laneDisabledReason}>
								{words.addMta}
							</LinkButton>
						}
					>
						{words.noMtaText}
					</Empty>
				) : (
					<List
						label={words.mta}
						rows={lanes.data.data}
						rowKey={(lane) => lane.id}
						columns={[
							{ id: "name", name: words.name, cell: (lane) => <Link href={to.mta(lane.id)}>{lane.name}</Link> },
							{ id: "type", name: words.type, cell: (lane) => mtaTypes[lane.type] },
							{
								id: "status",
								beside: true,
								name: words.status,
								cell: (lane) =>
									lane.active ? (
										<StateBadge kind="mta" state={lane.health.state} />
									) : (
										<Badge tone="neutral">{words.off}</Badge>
									),
							},
							{
								id: "today",
								name: words.today,
								description: term("sentToday").definition,
								end: true,
								cell: (lane) => exactNumber(lane.health.sent_today),
							},
						]}
					/>
				)}
			</Card>
			{(seeds.data?.data.length ?? 0) > 0 && (
				<Card title={words.seeds}>
					<List
						label={words.seeds}
						rows={seeds.data?.data ?? []}
						rowKey={(seedList) => seedList.id}
						columns={[
							{
								id: "name",
								name: words.seed,
								cell: (seedList) => <Link href={to.seedList(seedList.id)}>{seedList.name}</Link>,
							},
							{
								id: "freshness",
								beside: true,
								name: words.freshness,
								cell: (seedList) => <StateBadge kind="freshness" state={seedList.freshness} />,
							},
							{ id: "updated", name: words.updated, cell: (seedList) => <Time at={seedList.refreshed_at} /> },
							{
								id: "active",
								name: words.active,
								end: true,
								cell: (seedList) => exactNumber(seedList.address_counts.active),
							},
						]}
					/>
				</Card>
			)}
			{adding && <AddDomain onClose={() => setAdding(false)} onAdded={(id) => navigate(to.domain(id))} />}
		</Page>
	);
}

function AddDomain({ onClose, onAdded }: { onClose: () => void; onAdded: (id: string) => void }) {
	const form = useForm({ domain: "" });
	const [idempotencyKey] = useState(newKey);
	const send = () =>
		form.submit(async () => {
			const created = await api("POST /sending-domains", {
				body: { domain: form.values.domain.trim().toLowerCase() },
				idempotencyKey,
			});
			onAdded(created.id);
		});
	return (
		<Dialog
			title={words.addDomain}
			onClose={onClose}
			onSubmit={() => void send()}
			submit={{ label: words.add, busy: form.busy }}
		>
			<FormProblems problems={form.problems} />
			<TextField
				label={words.domain}
				help={words.domainHelp}
				path="domain"
				value={form.values.domain}
				onChange={(domain) => form.set({ domain })}
				error={form.problems.byPath.domain}
				autoFocus
				autoCapitalize="off"
				spellCheck={false}
			/>
		</Dialog>
	);
}
