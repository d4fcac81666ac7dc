import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { BroadcastSessionView } from "../../api/schema";
import { CsvButton } from "../../ui/CsvButton";
import { List } from "../../ui/List";
import { Card } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { nameOf as codeName } from "../../base/words/codes";
import { full, percent } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import css from "./Report.module.css";
import { engagementQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("broadcasts.breakdown", {
	variants: "Versions",
	senders: "Senders",
	providers: "Mailbox providers",
	clients: "Mail programs",
	devices: "Devices",
	countries: "Countries",
	name: "Name",
	recipients: "Recipients",
	delivered: "Delivered",
	opened: "Opened",
	openRate: "Open rate",
	clicked: "Clicked",
	clickRate: "Click rate",
	unsubscribed: "Unsubscribed",
	bounced: "Bounced",
	opens: "Opens",
	clicks: "Clicks",
	unknown: "Unknown",
	none: "Nothing to compare yet",
	few: "Fewer than a hundred recipients: a few people make a big difference.",
	hits: "Opens and clicks by people, according to what their program says about itself.",
});

/** names are those of programs, devices and providers, by the API's words. */
const names: { [word: string]: string } = catalogue("broadcasts.breakdown.names", {
	apple_mail: "Apple Mail",
	gmail: "Gmail",
	yahoo_mail: "Yahoo Mail",
	outlook: "Outlook",
	thunderbird: "Thunderbird",
	samsung_internet: "Samsung Internet",
	edge: "Edge",
	opera: "Opera",
	firefox: "Firefox",
	chrome: "Chrome",
	safari: "Safari",
	yahoo: "Yahoo",
	icloud: "iCloud",
	aol: "AOL",
	proton: "Proton",
	zoho: "Zoho",
	google_workspace: "Google Workspace",
	microsoft365: "Microsoft 365",
	desktop: "Computer",
	mobile: "Phone",
	tablet: "Tablet",
	unknown: "Unknown",
	other: "Other",
});
const nameOf = (word: string) => names[word] ?? word;

const country = (code: string) => (/^[A-Z]{2}$/.test(code) ? codeName("country", code) : nameOf(code));

type Whole = {
	id: string;
	name: string;
	recipients: number;
	delivered: number;
	opened: number;
	clicked: number;
	unsubscribed: number;
	bounced: number;
	open_rate: number;
	click_rate: number;
};

/** Groups compares parts of the recipients; each has the number that its rates are over. */
function Groups({
	title,
	report,
	rows,
	people,
}: {
	title: string;
	report: string;
	rows: Whole[];
	people?: (row: Whole, event: string) => string;
}) {
	if (rows.length === 0) return null;
	const count = (r: Whole, n: number, event: string) =>
		people && n > 0 ? <Link href={people(r, event)}>{full(n)}</Link> : full(n);
	return (
		<Card
			title={title}
			actions={
				<CsvButton
					name={`${report} ${title}`}
					header={[
						"name",
						"recipients",
						"delivered",
						"opened",
						"open_rate",
						"clicked",
						"click_rate",
						"unsubscribed",
						"bounced",
					]}
					rows={rows.map((r) => [
						r.name,
						r.recipients,
						r.delivered,
						r.opened,
						r.open_rate,
						r.clicked,
						r.click_rate,
						r.unsubscribed,
						r.bounced,
					])}
				/>
			}
		>
			<List
				label={title}
				rows={rows}
				rowKey={(r) => r.id}
				columns={[
					{ id: "name", name: words.name, cell: (r) => r.name },
					{
						id: "recipients",
						name: words.recipients,
						about: term("recipients").definition,
						end: true,
						cell: (r) => full(r.recipients),
					},
					{
						id: "delivered",
						name: words.delivered,
						about: term("delivered").definition,
						end: true,
						cell: (r) => full(r.delivered),
					},
					{
						id: "opened",
						name: words.opened,
						about: term("opened").definition,
						end: true,
						cell: (r) => count(r, r.opened, "opened"),
					},
					{
						id: "openRate",
						name: words.openRate,
						about: term("opened").definition,
						end: true,
						cell: (r) => percent(r.recipients ? r.open_rate : null),
					},
					{
						id: "clicked",
						name: words.clicked,
						about: term("clicked").definition,
						end: true,
						cell: (r) => count(r, r.clicked, "clicked"),
					},
					{
						id: "clickRate",
						name: words.clickRate,
						about: term("clicked").definition,
						end: true,
						cell: (r) => percent(r.recipients ? r.click_rate : null),
					},
					{
						id: "unsubscribed",
						name: words.unsubscribed,
						about: term("unsubscribed").definition,
						end: true,
						cell: (r) => count(r, r.unsubscribed, "unsubscribed"),
					},
					{
						id: "bounced",
						name: words.bounced,
						about: term("bounced").definition,
						end: true,
						cell: (r) => count(r, r.bounced, "bounced"),
					},
				]}
			/>
			{rows.some((r) => r.recipients < 100) && <p className={css.muted}>{words.few}</p>}
		</Card>
	);
}

/** Hits shows opens and clicks; the file has the words of the API. */
function Hits({
	title,
	report,
	rows,
	say = nameOf,
}: {
	title: string;
	report: string;
	say?: (name: string) => string;
	rows: { name: string; opens: number; clicks: number }[];
}) {
	if (rows.length === 0) return null;
	return (
		<Card
			title={title}
			actions={
				<CsvButton
					name={`${report} ${title}`}
					header={["name", "opens", "clicks"]}
					rows={rows.map((r) => [r.name, r.opens, r.clicks])}
				/>
			}
		>
			<List
				label={title}
				rows={rows}
				rowKey={(r) => r.name}
				columns={[
					{ id: "name", name: words.name, cell: (r) => say(r.name) },
					{
						id: "opens",
						name: words.opens,
						about: term("withOpens").definition,
						end: true,
						cell: (r) => full(r.opens),
					},
					{
						id: "clicks",
						name: words.clicks,
						about: term("withClicks").definition,
						end: true,
						cell: (r) => full(r.clicks),
					},
				]}
			/>
			<p className={css.muted}>{words.hits}</p>
		</Card>
	);
}

/** Breakdown compares variants, senders, providers, programs, devices and countries. */
export default function Breakdown({ broadcast: b, live }: { broadcast: BroadcastSessionView; live: boolean }) {
	const found = useQuery(engagementQuery(b.id, live));
	if (found.isPending) return <Skeleton rows={8} />;
	if (found.isError) return <Failure error={found.error} retry={() => void found.refetch()} />;
	const e = found.data;
	if (e.by_provider.length === 0) return <Empty title={words.none} />;
	const ofVariant = (r: Whole, event: string) => to.broadcast(b.id, { tab: "people", who: event, variant: r.id });
	return (
		<>
			<Groups
				title={words.variants}
				report={b.name}
				rows={e.by_variant.map((v) => ({ ...v, id: v.variant_id }))}
				people={ofVariant}
			/>
			<Groups
				title={words.senders}
				report={b.name}
				rows={e.by_identity.map((i) => ({
					...i,
					id: i.sending_identity_id,
					name: i.sending_identity_email ?? words.unknown,
				}))}
			/>
			<Groups
				title={words.providers}
				report={b.name}
				rows={e.by_provider.map((p) => ({
					...p,
					id: p.provider,
					name: p.provider ? nameOf(p.provider) : words.unknown,
				}))}
			/>
			<Hits
				title={words.clients}
				report={b.name}
				rows={e.by_client.map((c) => ({ ...c, name: c.client || words.unknown }))}
			/>
			<Hits title={words.devices} report={b.name} rows={e.by_device.map((d) => ({ ...d, name: d.device }))} />
			<Hits
				title={words.countries}
				report={b.name}
				say={country}
				rows={e.by_country.map((c) => ({ ...c, name: c.country ?? words.unknown }))}
			/>
		</>
	);
}
