import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { BroadcastSessionView } from "../../api/schema";
import { CsvButton } from "../../ui/CsvButton";
import { Explained } from "../../ui/Figure";
import { List } from "../../ui/List";
import { Card } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber, percent } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import { LinkMap } from "./LinkMap";
import css from "./Report.module.css";
import { linksQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("broadcasts.links", {
	title: "Links",
	url: "Address",
	label: "Text",
	people: "People",
	clicks: "Clicks",
	rate: "Of recipients",
	first: "First click",
	last: "Last click",
	none: "This email has no links",
	note: "One person may click several links, so these numbers do not add up. Places with the same address share one number.",
});

/** Links lists the links of a mail with their clicks by people. */
export function Links({ broadcast, live }: { broadcast: BroadcastSessionView; live: boolean }) {
	const links = useQuery(linksQuery(broadcast.id, live));
	if (links.isPending) return <Skeleton rows={6} />;
	if (links.isError) return <Failure error={links.error} retry={() => void links.refetch()} />;
	if (links.data.length === 0) return <Empty title={words.none} />;
	const people = (url: string) => to.broadcast(broadcast.id, { tab: "people", who: "clicked", link: url });
	return (
		<>
			<Card
				title={words.title}
				actions={
					<CsvButton
						name={`${broadcast.name} links`}
						header={["url", "label", "unique_clicks", "total_clicks", "click_rate", "first_click_at", "last_click_at"]}
						rows={links.data.map((link) => [
							link.url,
							link.label,
							link.unique_clicks,
							link.total_clicks,
							link.click_rate,
							link.first_click_at,
							link.last_click_at,
						])}
					/>
				}
			>
				<p className={css.muted}>
					<Explained name={words.people} description={{ definition: term("linkPeople").definition }} />. {words.note}
				</p>
				<List
					label={words.title}
					rows={links.data}
					rowKey={(link) => String(link.link_id)}
					columns={[
						{ id: "url", name: words.url, cell: (link) => <span className={css.url}>{link.url}</span> },
						{ id: "label", name: words.label, cell: (link) => link.label },
						{
							id: "people",
							name: words.people,
							description: term("linkPeople").definition,
							end: true,
							cell: (link) =>
								link.unique_clicks > 0 ? (
									<Link href={people(link.url)}>{exactNumber(link.unique_clicks)}</Link>
								) : (
									exactNumber(0)
								),
						},
						{
							id: "clicks",
							name: words.clicks,
							description: term("clicks").definition,
							end: true,
							cell: (link) => exactNumber(link.total_clicks),
						},
						{
							id: "rate",
							name: words.rate,
							description: term("linkRate").definition,
							end: true,
							cell: (link) => percent(link.click_rate),
						},
						{ id: "first", name: words.first, cell: (link) => <Time at={link.first_click_at} /> },
						{ id: "last", name: words.last, cell: (link) => <Time at={link.last_click_at} /> },
					]}
				/>
			</Card>
			<LinkMap broadcast={broadcast} links={links.data} people={people} />
		</>
	);
}
