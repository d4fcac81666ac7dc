import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowUp } from "lucide-react";
import { Fragment } from "react";
import { Link } from "wouter";
import type { FeedRow } from "../../api/schema";
import { useParams } from "../../base/params";
import { ContactPick } from "../source/ContactPick";
import { Button, LinkButton } from "../../ui/Button";
import { Combo } from "../../ui/Combo";
import { Select } from "../../ui/Field";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { day } from "../../base/words/formats";
import { ActivityEvent } from "./ActivityEvent";
import css from "./Activity.module.css";
import { kinds, typesOf } from "./kinds";
import { newerThan } from "./newerThan";
import { eventNamesQuery, feedQuery, newestQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("activity.feed", {
	kind: "Type",
	all: "All types",
	event: "Event name",
	contact: "Contact",
	clear: "Clear filters",
	feed: "Activity, latest first",
	newer: "{count, plural, one {Show # newer} other {Show # newer}}",
	manyNewer: "Show more than {count} newer",
	said: "{count, plural, one {# newer event} other {# newer events}}",
	more: "Load earlier",
	end: "End of the list.",
	none: "No activity yet",
	noneText: "Opens and clicks, custom events, page views and form submissions appear here as they happen.",
	website: "Set up website script",
	noMatch: "Nothing matches",
	noMatchText: "Choose another type, event or contact.",
});

const pageSize = 50;

/** Feed lists the activity of all contacts. What is newer waits behind a button, so that nothing moves while one reads. */
export function Feed() {
	const client = useQueryClient();
	const [params, set] = useParams();
	const kind = params.get("kind") ?? "";
	const event = params.get("event") ?? "";
	const contact = params.get("contact") ?? "";
	const filtered = Boolean(kind || event || contact);
	const query = {
		types: typesOf(kind),
		event_name: event || undefined,
		contact_id: contact || undefined,
		limit: pageSize,
	};
	const filter = { kind, event, contact };
	const result = useInfiniteQuery(feedQuery(filter, query));
	const newest = useQuery({
		...newestQuery(filter, query),
		enabled: result.isSuccess,
		initialData: result.data?.pages[0],
	});
	const names = useQuery(eventNamesQuery(""));
	const rows = result.data?.pages.flatMap((page) => page.data) ?? [];
	const newer = result.data && newest.data ? newerThan(rows, newest.data.data, pageSize) : { count: 0, more: false };
	const show = () => {
		if (newest.data)
			client.setQueryData(feedQuery(filter, query).queryKey, { pages: [newest.data], pageParams: [null] });
		document.getElementById("main")?.scrollTo({ top: 0 });
	};
	const options = (names.data?.data ?? []).map((suggestion) => ({ id: suggestion.value, label: suggestion.value }));
	const none = result.isSuccess && rows.length === 0 && !filtered;
	let before = "";
	return (
		<div className={css.feed}>
			{!none && (
				<div className={css.filters}>
					<Select
						label={words.kind}
						value={kind}
						onChange={(value) => set({ kind: value || null, ...(value && value !== "events" ? { event: null } : {}) })}
						choices={[{ value: "", label: words.all }, ...kinds()]}
					/>
					<Combo
						label={words.event}
						options={
							event && !options.some((option) => option.id === event)
								? [{ id: event, label: event }, ...options]
								: options
						}
						value={event || null}
						onChange={(value) => set({ event: value, ...(value && kind !== "events" ? { kind: null } : {}) })}
					/>
					<ContactPick label={words.contact} value={contact || null} onChange={(value) => set({ contact: value })} />
					{filtered && (
						<Button variant="quiet" onClick={() => set({ kind: null, event: null, contact: null })}>
							{words.clear}
						</Button>
					)}
				</div>
			)}
			<p className="visually-hidden" role="status">
				{newer.count > 0 ? words.said({ count: newer.count }) : ""}
			</p>
			{newer.count > 0 && (
				<div className={css.newer}>
					<Button variant="primary" icon={<ArrowUp aria-hidden size={16} />} onClick={show}>
						{newer.more ? words.manyNewer({ count: newer.count }) : words.newer({ count: newer.count })}
					</Button>
				</div>
			)}
			{result.isPending ? (
				<Skeleton rows={10} height={36} />
			) : result.isError && rows.length === 0 ? (
				<Failure error={result.error} retry={() => void result.refetch()} />
			) : rows.length === 0 && filtered ? (
				<Empty title={words.noMatch}>{words.noMatchText}</Empty>
			) : rows.length === 0 ? (
				<Empty
					title={words.none}
					action={
						<LinkButton variant="primary" to={to.website()}>
							{words.website}
						</LinkButton>
					}
				>
					{words.noneText}
				</Empty>
			) : (
				<section aria-label={words.feed} className={css.list}>
					<ol>
						{rows.map((row) => {
							const date = day(row.occurred_at);
							const first = date !== before;
							before = date;
							return (
								<Fragment key={row.id}>
									{first && <li className={css.day}>{date}</li>}
									<ActivityEvent row={row} contact={row.contact.id} actor={<Who row={row} />} />
								</Fragment>
							);
						})}
					</ol>
				</section>
			)}
			{result.isError && rows.length > 0 && <Failure error={result.error} retry={() => void result.fetchNextPage()} />}
			{result.hasNextPage ? (
				<div>
					<Button busy={result.isFetchingNextPage} onClick={() => void result.fetchNextPage()}>
						{words.more}
					</Button>
				</div>
			) : (
				rows.length > 0 && <p className={css.about}>{words.end}</p>
			)}
		</div>
	);
}

/** Who names the contact of an event. */
function Who({ row }: { row: FeedRow }) {
	return (
		<p className={css.who}>
			<Link href={to.contact(row.contact.id)}>{row.contact.name || row.contact.email || row.contact.id}</Link>
			{row.contact.name && <span className={css.about}>{row.contact.email}</span>}
		</p>
	);
}
