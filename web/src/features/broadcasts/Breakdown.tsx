import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { BroadcastSessionView, VariantRates } from "../../api/schema";
import { CsvButton } from "../../ui/CsvButton";
import { List } from "../../ui/List";
import { Card } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { nameOf as codeName } from "../../base/words/codes";
import { exactNumber, percent } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import css from "./Report.module.css";
import { engagementQuery } from "./queries";
import { Interval, scaleOf } from "./VersionRates";
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

type Figures = {
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
	/** Of versions: the rates with their ranges. */
	rates?: VariantRates;
};

/** ranges are the rates of versions in files. */
const ranges = ["delivered", "opened", "clicked", "unsubscribed", "bounced"] as const;

/** Groups compares parts of the recipients; each has the number that its rates are over. */
function Groups({
	title,
	report,
	rows,
	people,
}: {
	title: string;
	report: string;
	rows: Figures[];
	people?: (row: Figures, event: string) => string;
}) {
	if (rows.length === 0) return null;
	const rate = (row: Figures, value: number, metric: "opened" | "clicked") =>
		row.rates ? (
			<Interval
				value={row.rates[metric]}
				scale={scaleOf(rows.map((other) => (other.recipients > 0 ? other.rates?.[metric] : undefined)))}
				empty={row.recipients === 0}
			/>
		) : (
			percent(row.recipients ? value : null)
		);
	const withRanges = rows.some((row) => row.rates);
	const count = (row: Figures, value: number, event: string) =>
		people && value > 0 ? <Link href={people(row, event)}>{exactNumber(value)}</Link> : exactNumber(value);
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
						...(withRanges ? ranges.flatMap((metric) => [`${metric}_low`, `${metric}_high`]) : []),
					]}
					rows={rows.map((row) => [
						row.name,
						row.recipients,
						row.delivered,
						row.opened,
						row.open_rate,
						row.clicked,
						row.click_rate,
						row.unsubscribed,
						row.bounced,
						...(row.rates ? ranges.flatMap((metric) => [row.rates?.[metric].low, row.rates?.[metric].high]) : []),
					])}
				/>
			}
		>
			<List
				label={title}
				rows={rows}
				rowKey={(row) => row.id}
				columns={[
					{ id: "name", name: words.name, cell: (row) => row.name },
					{
						id: "recipients",
						name: words.recipients,
						description: term("recipients").definition,
						end: true,
						cell: (row) => exactNumber(row.recipients),
					},
					{
						id: "delivered",
						name: words.delivered,
						description: term("delivered").definition,
						end: true,
						cell: (row) => exactNumber(row.delivered),
					},
					{
						id: "opened",
						name: words.opened,
						description: term("opened").definition,
						end: true,
						cell: (row) => count(row, row.opened, "opened"),
					},
					{
						id: "openRate",
						name: words.openRate,
						description: term("opened").definition,
						end: true,
						cell: (row) => rate(row, row.open_rate, "opened"),
					},
					{
						id: "clicked",
						name: words.clicked,
						description: term("clicked").definition,
						end: true,
						cell: (row) => count(row, row.clicked, "clicked"),
					},
					{
						id: "clickRate",
						name: words.clickRate,
						description: term("clicked").definition,
						end: true,
						cell: (row) => rate(row, row.click_rate, "clicked"),
					},
					{
						id: "unsubscribed",
						name: words.unsubscribed,
						description: term("unsubscribed").definition,
						end: true,
						cell: (row) => count(row, row.unsubscribed, "unsubscribed"),
					},
					{
						id: "bounced",
						name: words.bounced,
						description: term("bounced").definition,
						end: true,
						cell: (row) => count(row, row.bounced, "bounced"),
					},
				]}
			/>
			{rows.some((row) => row.recipients < 100) && <p className={css.muted}>{words.few}</p>}
		</Card>
	);
}

/** Hits shows opens and clicks; the file has the words of the API. */
function Hits({
	title,
	report,
	rows,
	format = nameOf,
}: {
	title: string;
	report: string;
	format?: (name: string) => string;
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
					rows={rows.map((row) => [row.name, row.opens, row.clicks])}
				/>
			}
		>
			<List
				label={title}
				rows={rows}
				rowKey={(row) => row.name}
				columns={[
					{ id: "name", name: words.name, cell: (row) => format(row.name) },
					{
						id: "opens",
						name: words.opens,
						description: term("withOpens").definition,
						end: true,
						cell: (row) => exactNumber(row.opens),
					},
					{
						id: "clicks",
						name: words.clicks,
						description: term("withClicks").definition,
						end: true,
						cell: (row) => exactNumber(row.clicks),
					},
				]}
			/>
			<p className={css.muted}>{words.hits}</p>
		</Card>
	);
}

/** Breakdown compares variants, senders, providers, programs, devices and countries. */
export default function Breakdown({ broadcast, live }: { broadcast: BroadcastSessionView; live: boolean }) {
	const query = useQuery(engagementQuery(broadcast.id, live));
	if (query.isPending) return <Skeleton rows={8} />;
	if (query.isError) return <Failure error={query.error} retry={() => void query.refetch()} />;
	const engagement = query.data;
	if (engagement.by_provider.length === 0) return <Empty title={words.none} />;
	const ofVariant = (row: Figures, event: string) =>
		to.broadcast(broadcast.id, { tab: "people", who: event, variant: row.id });
	return (
		<>
			<Groups
				title={words.variants}
				report={broadcast.name}
				rows={engagement.by_variant.map((variant) => ({ ...variant, id: variant.variant_id }))}
				people={ofVariant}
			/>
			<Groups
				title={words.senders}
				report={broadcast.name}
				rows={engagement.by_identity.map((identity) => ({
					...identity,
					id: identity.sending_identity_id,
					name: identity.sending_identity_email ?? words.unknown,
				}))}
			/>
			<Groups
				title={words.providers}
				report={broadcast.name}
				rows={engagement.by_provider.map((provider) => ({
					...provider,
					id: provider.provider,
					name: provider.provider ? nameOf(provider.provider) : words.unknown,
				}))}
			/>
			<Hits
				title={words.clients}
				report={broadcast.name}
				rows={engagement.by_client.map((client) => ({ ...client, name: client.client || words.unknown }))}
			/>
			<Hits
				title={words.devices}
				report={broadcast.name}
				rows={engagement.by_device.map((device) => ({ ...device, name: device.device }))}
			/>
			<Hits
				title={words.countries}
				report={broadcast.name}
				format={country}
				rows={engagement.by_country.map((country) => ({ ...country, name: country.country ?? words.unknown }))}
			/>
		</>
	);
}
