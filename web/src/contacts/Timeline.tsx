import { useInfiniteQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { Link } from "wouter";
import { api } from "../api/client";
import type { ActivityRow } from "../api/schema";
import { pollEvery } from "../app/live";
import { useParam } from "../app/params";
import { useKey } from "../app/session";
import { StateBadge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { Select } from "../ui/Field";
import { Empty, Failure, Skeleton } from "../ui/States";
import { catalogue, clock, day, exact, full } from "../words/catalogue";
import css from "./Timeline.module.css";

const words = catalogue({
	kind: "Kind of event",
	all: "All events",
	email: "Mail",
	website: "Website",
	form: "Forms",
	api: "Events",
	account: "Account",
	empty: "Nothing has happened yet",
	emptyText: "Mail sent to this person, opens and clicks, page views and events of your programs appear here.",
	more: "Load earlier events",
	because: (rules: string) => `because: ${rules}`,
});

/** told returns the properties of an event as words: its plain values, and how many there are of others. */
function told(properties: object): string {
	return Object.entries(properties)
		.filter(([, v]) => v !== null && v !== "")
		.map(([name, v]) => `${name.replaceAll("_", " ")} ${Array.isArray(v) ? `(${full(v.length)})` : typeof v === "object" ? "(…)" : typeof v === "number" ? full(v) : String(v)}`)
		.join(" · ");
}

function About({ row }: { row: ActivityRow }) {
	const p = row.properties as { url?: string; subject?: string; reason?: string };
	const text = p.url ?? p.subject ?? p.reason?.replaceAll("_", " ") ?? (row.event_name && told(row.properties));
	return text && !row.title.includes(text) ? <p className={css.about}>{text}</p> : null;
}

/** Timeline lists what happened to a contact, the latest first, by day. */
export function Timeline({ id }: { id: string }) {
	const key = useKey();
	const [kind, setKind] = useParam("kind");
	const events = useInfiniteQuery({
		queryKey: key("contact", id, "activity"),
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) => api("GET /contacts/{id}/activity", { path: { id }, query: { cursor: pageParam ?? undefined, limit: "100" }, signal }),
		getNextPageParam: (last) => last.next_cursor,
		refetchInterval: pollEvery(60_000),
	});
	if (events.isPending) return <Skeleton rows={8} />;
	if (events.isError) return <Failure error={events.error} retry={() => void events.refetch()} />;
	const rows = events.data.pages.flatMap((p) => p.data).filter((r) => !kind || r.source === kind);
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
						...(["email", "website", "form", "api", "account"] as const).map((k) => ({ value: k, label: words[k] })),
					]}
				/>
			</div>
			{rows.length === 0 ? (
				<Empty title={words.empty}>{words.emptyText}</Empty>
			) : (
				<ol className={css.events}>
					{rows.map((r) => {
						const date = day(r.occurred_at);
						const first = date !== before;
						before = date;
						return (
							<Fragment key={r.id}>
								{first && <li className={css.day}>{date}</li>}
								<li className={css.event}>
									<time dateTime={r.occurred_at} title={exact(r.occurred_at)}>
										{clock(r.occurred_at)}
									</time>
									<div>
										<p className={css.what}>
											{r.broadcast_id ? <Link href={`/broadcasts/${r.broadcast_id}`}>{r.title}</Link> : r.title}
											{r.classification && <StateBadge kind="hit" state={r.classification} />}
										</p>
										<About row={r} />
										{r.rules && r.rules.length > 0 && <p className={css.about}>{words.because(r.rules.map((n) => n.replaceAll("_", " ")).join(", "))}</p>}
									</div>
								</li>
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
