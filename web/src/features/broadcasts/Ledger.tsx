import { Link } from "wouter";
import type { BroadcastSessionView, DeliveryProgress } from "../../api/schema";
import { StateBadge } from "../../ui/Badge";
import { Explained } from "../../ui/Figure";
import { Card } from "../../ui/Page";
import { Progress } from "../../ui/Progress";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber, percent } from "../../base/words/formats";
import { type TermName, term } from "../../base/words/glossary";
import { useSegments } from "./Audience";
import { reasonName } from "./forecast";
import { Limit } from "./Limit";
import { peopleOf } from "./peopleLinks";
import css from "./Report.module.css";
import { to } from "../../base/paths";

const words = catalogue("broadcasts.ledger", {
	title: "Delivery status",
	progress: "Given to servers",
	of: "{count, number} of {all, number}",
	rate: "{count, number} a minute in the last two minutes",
	average: "{count, number} a minute on average",
	averageToday: "{count, number} a minute on average today",
	eta: "finishes about {at, datetime}",
	etaToday: "finishes about {at, time}",
	noEta: "no finish time yet",
	noEtaPaused: "no finish time while it is paused",
	next: "next batch {at, datetime}",
	handed: "Given to servers",
	state: "State",
	number: "People",
	share: "Share",
	seeds: "Seed copies sent: {sent, number}. They are not counted anywhere else.",
	asOfNow:
		"The links to people who matched or were excluded find the people who match now. That may have changed since the send started.",
	stale: "Seed copies not sent because their list is out of date: {count, number}.",
	show: "Show the people: {name}",
});

type Row = {
	name: string;
	count: number;
	to?: string | null;
	term?: TermName;
	level: 0 | 1 | 2;
	emphasized?: boolean;
	prefix?: string;
};

/** Ledger accounts for every recipient: its rows add up to those that matched. */
export function Ledger({ broadcast, progress }: { broadcast: BroadcastSessionView; progress: DeliveryProgress }) {
	const segments = useSegments();
	const excluded = Object.entries(progress.excluded);
	const excludedCount = excluded.reduce((sum, [, count]) => sum + count, 0);
	const people = (status?: string) => to.broadcast(broadcast.id, { tab: "people", status });
	const row = (about: TermName, count: number, level: Row["level"], status?: string): Row => ({
		name: term(about).name,
		count,
		term: about,
		level,
		to: status ? people(status) : undefined,
	});
	const rows: Row[] = [
		{
			name: term("matched").name,
			count: progress.total_recipients + excludedCount,
			term: "matched",
			level: 0,
			to: peopleOf(broadcast, segments, null),
		},
		...excluded.map(
			([reason, count]): Row => ({
				name: reasonName(reason),
				count,
				level: 1,
				prefix: "−",
				to: peopleOf(broadcast, segments, reason),
			}),
		),
		{
			name: term("recipients").name,
			count: progress.total_recipients,
			term: "recipients",
			level: 0,
			emphasized: true,
			prefix: "=",
			to: people(),
		},
		{ name: words.handed, count: progress.sent, term: "sent", level: 1, to: people("sent,delivered,bounced") },
		row("delivered", progress.delivered, 2, "delivered"),
		row("bounced", progress.bounced, 2, "bounced"),
		row("noWord", progress.sent - progress.delivered - progress.bounced, 2, "sent"),
		row("failed", progress.failed, 1, "failed"),
		row("skipped", progress.skipped, 1, "skipped"),
		row("held", progress.held_back, 1, "held_back"),
		row("cancelled", progress.cancelled, 1, "cancelled"),
		row("waiting", progress.queued, 1, "pending,queued,deferred"),
		row("deferred", progress.deferred, 2, "deferred"),
	];
	const shown = rows.filter(
		(row) =>
			row.count > 0 || row.level === 0 || row.term === "sent" || (row.term === "waiting" && progress.phase !== "done"),
	);
	const endsToday = progress.eta && new Date(progress.eta).getTime() - Date.now() < 12 * 3_600_000;
	return (
		<Card
			title={words.title}
			actions={
				broadcast.status === "failed" || broadcast.status === "cancelled" ? (
					<StateBadge kind="broadcast" state={broadcast.status} />
				) : (
					<StateBadge kind="phase" state={progress.phase} />
				)
			}
		>
			<Progress
				label={words.progress}
				value={progress.sent}
				max={progress.total_recipients}
				text={[
					words.of({ count: progress.sent, all: progress.total_recipients }),
					progress.rate_per_minute > 0 &&
						(progress.phase === "done" ? words.average : progress.plan ? words.averageToday : words.rate)({
							count: progress.rate_per_minute,
						}),
					progress.eta
						? endsToday
							? words.etaToday({ at: progress.eta })
							: words.eta({ at: progress.eta })
						: progress.phase === "paused"
							? words.noEtaPaused
							: progress.phase !== "done" && words.noEta,
					progress.next_batch_at && words.next({ at: progress.next_batch_at }),
				]
					.filter(Boolean)
					.join(" · ")}
			/>
			{(progress.phase === "sending" || progress.phase === "waiting") && (
				<Limit limit={progress.limited_by} phase={progress.phase} />
			)}
			<div className={css.scroll}>
				<table className={css.table}>
					<thead>
						<tr>
							<th scope="col">{words.state}</th>
							<th scope="col" className={css.number}>
								{words.number}
							</th>
							<th scope="col" className={css.number}>
								{words.share}
							</th>
						</tr>
					</thead>
					<tbody>
						{shown.map((row) => (
							<tr key={row.name} className={row.emphasized ? css.strong : undefined}>
								<th scope="row" className={css[`level${row.level}`]}>
									{row.prefix && `${row.prefix} `}
									{row.term ? (
										<Explained name={row.name} description={{ definition: term(row.term).definition }} />
									) : (
										row.name
									)}
								</th>
								<td className={css.number}>
									{row.to ? (
										<Link href={row.to} aria-label={words.show({ name: `${row.name}, ${exactNumber(row.count)}` })}>
											{exactNumber(row.count)}
										</Link>
									) : (
										exactNumber(row.count)
									)}
								</td>
								<td className={css.number}>
									{row.level > 0 &&
										row.prefix !== "−" &&
										percent(progress.total_recipients ? row.count / progress.total_recipients : null)}
								</td>
							</tr>
						))}
					</tbody>
				</table>
			</div>
			{excludedCount > 0 && <p className={css.muted}>{words.asOfNow}</p>}
			{progress.seed_copies.sent > 0 && <p className={css.muted}>{words.seeds({ sent: progress.seed_copies.sent })}</p>}
			{progress.seed_copies.skipped_stale > 0 && (
				<p className={css.muted}>{words.stale({ count: progress.seed_copies.skipped_stale })}</p>
			)}
		</Card>
	);
}
