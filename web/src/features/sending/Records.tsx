import type { DNSRecord, SendingDomain } from "../../api/schema";
import { StateBadge } from "../../ui/Badge";
import { Copy } from "../../ui/Copy";
import { Card } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { stateOf } from "../../base/words/status";
import css from "./Domain.module.css";
import { zoneLine } from "./zoneLine";
import { recordText } from "./recordTexts";

const words = catalogue("sending.records", {
	records: "DNS records",
	about:
		"Publish these records where your domain's DNS is managed. They are checked every few seconds while this page is open.",
	all: "Copy all as zone file lines",
	message: "Copy as a message to your administrator",
	messageText: "Please publish these DNS records, so that our email for {domain} is recognised as ours:\n\n{zone}\n",
	host: "Host",
	value: "Value",
	found: "Found",
	copyHost: "Copy full name",
	copyRelative: "Copy host",
	copyValue: "Copy value",
	optional: "optional",
	priority: "priority {number}",
	purposes: {
		dkim: "Signature (DKIM)",
		dkim_ed25519: "Second signature (DKIM, Ed25519)",
		return_path: "Return path (bounces)",
		return_path_spf: "Allowed senders (SPF)",
		dmarc: "Policy (DMARC)",
		tracking: "Links and open tracking",
	},
	announce: "{purpose}: {state}",
});

/** Records shows the DNS records of a domain, wanted beside found, and says when one changes. */
export function Records({ domain }: { domain: SendingDomain }) {
	const zone = domain.dns_records.map(zoneLine).join("\n");
	return (
		<Card
			title={words.records}
			actions={
				<>
					<Copy text={zone} subject={words.records}>
						{words.all}
					</Copy>
					<Copy text={words.messageText({ domain: domain.domain, zone })} subject={words.records}>
						{words.message}
					</Copy>
				</>
			}
		>
			<p>{words.about}</p>
			<ul className={css.records}>
				{domain.dns_records.map((record) => (
					<Record key={record.purpose + record.host + record.type} record={record} domain={domain.domain} />
				))}
			</ul>
			<p className="visually-hidden" role="status">
				{domain.dns_records
					.map((record) =>
						words.announce({ purpose: words.purposes[record.purpose], state: stateOf("record", record.status).word }),
					)
					.join(". ")}
			</p>
		</Card>
	);
}

function Record({ record, domain }: { record: DNSRecord; domain: string }) {
	const relative =
		record.host === domain
			? "@"
			: record.host.endsWith(`.${domain}`)
				? record.host.slice(0, -domain.length - 1)
				: record.host;
	return (
		<li>
			<div className={css.head}>
				<b>{words.purposes[record.purpose]}</b>
				<StateBadge kind="record" state={record.status} />
				{!record.required && <span className={css.muted}>{words.optional}</span>}
			</div>
			<dl className={css.fields}>
				<div>
					<dt>{words.host}</dt>
					<dd>
						<code>{record.host}</code>
						<span className={css.copies}>
							<Copy text={relative} subject={words.host}>
								{words.copyRelative}
							</Copy>
							<Copy text={record.host} subject={words.host}>
								{words.copyHost}
							</Copy>
						</span>
					</dd>
				</div>
				<div>
					<dt>{record.type}</dt>
					<dd>
						<code>
							{record.value}
							{record.priority !== undefined && ` (${words.priority({ number: record.priority })})`}
						</code>
						<span className={css.copies}>
							<Copy text={record.value} subject={words.value}>
								{words.copyValue}
							</Copy>
						</span>
					</dd>
				</div>
				{record.status !== "ok" && record.found && (
					<div>
						<dt>{words.found}</dt>
						<dd>
							<Difference expected={record.value} found={record.found} />
						</dd>
					</div>
				)}
			</dl>
			{record.problem && <p className={css.problem}>{recordText(record.problem)}</p>}
			{record.note && <p className={css.muted}>{recordText(record.note)}</p>}
		</li>
	);
}

/** Difference shows what was found, with the part marked that differs from what is wanted. */
function Difference({ expected, found }: { expected: string; found: string }) {
	let start = 0;
	while (start < found.length && found[start] === expected[start]) start++;
	let end = 0;
	while (
		end < found.length - start &&
		end < expected.length - start &&
		found[found.length - 1 - end] === expected[expected.length - 1 - end]
	)
		end++;
	return (
		<code>
			{found.slice(0, start)}
			<mark>{found.slice(start, found.length - end)}</mark>
			{found.slice(found.length - end)}
		</code>
	);
}
