import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { Suggestion } from "../../api/schema";
import { useParams } from "../../base/params";
import { Button, LinkButton } from "../../ui/Button";
import { CsvButton } from "../../ui/CsvButton";
import { Dialog } from "../../ui/Dialog";
import { Explained } from "../../ui/Figure";
import { List } from "../../ui/List";
import { Card, NotSet } from "../../ui/Page";
import { Empty, Failure, NoMatch, Skeleton, searched } from "../../ui/States";
import { Time } from "../../ui/Time";
import { Tools } from "../../ui/Tools";
import { catalogue } from "../../base/words/catalogue";
import { and, exactNumber } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import css from "./Activity.module.css";
import { eventNamesQuery, eventPropertiesQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("activity.seen", {
	title: "Events seen",
	search: "Search event names",
	name: "Name",
	count: "Times",
	last: "Last time",
	properties: "Properties",
	propertiesOf: "Properties of {name}",
	property: "Property",
	kinds: "Values",
	feed: "Who did it: {name}",
	who: "Who did it",
	none: "No events yet",
	noneText:
		"Programs and websites send events, such as “order_placed”, through the API or the website script. Their names and properties then appear here and can be used in segments, sequences and automations.",
	website: "Set up website script",
	noMatch: "No events match",
	noProperties: "This event has no properties.",
	most: "The 50 most recent events.",
	kindNames: { string: "text", number: "number", boolean: "yes or no", array: "list", object: "group", null: "empty" },
});

/** What a page or a program sends. */
const example = `packetboat("event", "order_placed", { total: 119, currency: "EUR" })`;

/** The most names that an answer has. */
const maxNames = 50;

const kindsOf = (suggestion: Suggestion) =>
	suggestion.kinds?.length
		? and(suggestion.kinds.map((kind) => (words.kindNames as { [key: string]: string })[kind] ?? kind))
		: null;

/** Seen lists the events that programs and websites have sent, with their properties. */
export function Seen() {
	const [params, set] = useParams();
	const query = params.get("q") ?? "";
	const open = params.get("name");
	const result = useQuery(eventNamesQuery(query));
	const rows = result.data?.data ?? [];
	return (
		<>
			{result.isPending ? (
				<Skeleton rows={6} height={36} />
			) : result.isError ? (
				<Failure error={result.error} retry={() => void result.refetch()} />
			) : rows.length === 0 && !query ? (
				<Empty
					title={words.none}
					example={<pre>{example}</pre>}
					action={
						<LinkButton variant="primary" to={to.website()}>
							{words.website}
						</LinkButton>
					}
				>
					{words.noneText}
				</Empty>
			) : (
				<Card
					title={words.title}
					actions={
						<CsvButton
							name="events seen"
							header={["event_name", "count", "last_seen_at"]}
							rows={rows.map((suggestion) => [suggestion.value, suggestion.count ?? null, suggestion.last_seen_at])}
						/>
					}
				>
					<Tools label={words.search} value={query} onChange={(value) => set({ q: value || null })}>
						<span className={css.about}>
							<Explained name={words.count} description={{ definition: term("eventsSeen").definition }} />
						</span>
					</Tools>
					{rows.length === 0 ? (
						<NoMatch title={words.noMatch} filters={[searched(query, () => set({ q: null }))]} />
					) : (
						<List
							label={words.title}
							rows={rows}
							rowKey={(suggestion) => suggestion.value}
							columns={[
								{ id: "name", name: words.name, cell: (suggestion) => <code>{suggestion.value}</code> },
								{
									id: "count",
									name: words.count,
									end: true,
									cell: (suggestion) => (suggestion.count === undefined ? <NotSet /> : exactNumber(suggestion.count)),
								},
								{ id: "last", name: words.last, cell: (suggestion) => <Time at={suggestion.last_seen_at} /> },
								{
									id: "feed",
									name: words.who,
									cell: (suggestion) => (
										<Link
											href={to.activity({ event: suggestion.value })}
											aria-label={words.feed({ name: suggestion.value })}
										>
											{words.who}
										</Link>
									),
								},
								{
									id: "properties",
									name: "",
									end: true,
									cell: (suggestion) => (
										<Button
											small
											aria-label={words.propertiesOf({ name: suggestion.value })}
											onClick={() => set({ name: suggestion.value })}
										>
											{words.properties}
										</Button>
									),
								},
							]}
						/>
					)}
					{rows.length >= maxNames && <p className={css.about}>{words.most}</p>}
				</Card>
			)}
			{open && <Properties name={open} onClose={() => set({ name: null })} />}
		</>
	);
}

/** Properties lists the properties that events with a name have. */
function Properties({ name, onClose }: { name: string; onClose: () => void }) {
	const query = useQuery(eventPropertiesQuery(name, ""));
	return (
		<Dialog drawer="narrow" title={words.propertiesOf({ name })} onClose={onClose}>
			{query.isPending ? (
				<Skeleton rows={6} />
			) : query.isError ? (
				<Failure error={query.error} retry={() => void query.refetch()} />
			) : query.data.data.length === 0 ? (
				<p>{words.noProperties}</p>
			) : (
				<List
					label={words.propertiesOf({ name })}
					rows={query.data.data}
					rowKey={(suggestion) => suggestion.value}
					columns={[
						{ id: "name", name: words.property, cell: (suggestion) => <code>{suggestion.value}</code> },
						{ id: "kinds", name: words.kinds, cell: (suggestion) => kindsOf(suggestion) ?? <NotSet /> },
						{
							id: "count",
							name: words.count,
							end: true,
							cell: (suggestion) => (suggestion.count === undefined ? <NotSet /> : exactNumber(suggestion.count)),
						},
						{ id: "last", name: words.last, cell: (suggestion) => <Time at={suggestion.last_seen_at} /> },
					]}
				/>
			)}
		</Dialog>
	);
}
