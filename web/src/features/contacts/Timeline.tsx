import { useInfiniteQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { ActivityEvent } from "../activity/ActivityEvent";
import { useCollection } from "../../base/collections";
import { useParam } from "../../base/params";
import { Button } from "../../ui/Button";
import { Select } from "../../ui/Field";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { day } from "../../base/words/formats";
import css from "./Timeline.module.css";
import { contactActivityQuery } from "./queries";

const words = catalogue("contacts.timeline", {
	kind: "Event type",
	all: "All events",
	email: "Email",
	website: "Website",
	form: "Forms",
	api: "Events",
	account: "Workspace",
	empty: "Nothing has happened yet",
	emptyText: "Emails sent to this person, opens and clicks, page views and custom events appear here.",
	more: "Load earlier events",
});

/** Timeline lists what happened to a contact, the latest first, by day. */
export function Timeline({ id }: { id: string }) {
	const [kind, setKind] = useParam("kind");
	useCollection("segments"); // events name lists: asked for at once with what the page names, not after the events
	const events = useInfiniteQuery(contactActivityQuery(id));
	if (events.isPending) return <Skeleton rows={8} />;
	if (events.isError) return <Failure error={events.error} retry={() => void events.refetch()} />;
	const rows = events.data.pages.flatMap((page) => page.data).filter((row) => !kind || row.source === kind);
	let before = "";
	return (
		<div className={css.timeline}>
			<div>
				<Select
					label={words.kind}
					hideLabel
					value={kind}
					onChange={setKind}
					choices={[
						{ value: "", label: words.all },
						...(["email", "website", "form", "api", "account"] as const).map((kind) => ({
							value: kind,
							label: words[kind],
						})),
					]}
				/>
			</div>
			{rows.length === 0 ? (
				<Empty title={words.empty}>{words.emptyText}</Empty>
			) : (
				<ol className={css.events}>
					{rows.map((row) => {
						const date = day(row.occurred_at);
						const first = date !== before;
						before = date;
						return (
							<Fragment key={row.id}>
								{first && <li className={css.day}>{date}</li>}
								<ActivityEvent row={row} contact={id} />
							</Fragment>
						);
					})}
				</ol>
			)}
			{events.hasNextPage && (
				<div>
					<Button busy={events.isFetchingNextPage} onClick={() => void events.fetchNextPage()}>
						{words.more}
					</Button>
				</div>
			)}
		</div>
	);
}
