import { Link } from "wouter";
import type { BroadcastSessionView, DeliveryProgress } from "../../api/schema";
import { StateBadge } from "../../ui/Badge";
import { Explained } from "../../ui/Figure";
import { Card } from "../../ui/Page";
import { Progress } from "../../ui/Progress";
import { catalogue } from "../../base/words/catalogue";
import { full, percent } from "../../base/words/formats";
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
	n: number;
	to?: string | null;
	about?: TermName;
	level: 0 | 1 | 2;
	strong?: boolean;
	sign?: string;
};

/** Ledger accounts for every recipient: its rows add up to those that matched. */
export function Ledger({ broadcast: b, progress: p }: { broadcast: BroadcastSessionView; progress: DeliveryProgress }) {
	const segments = useSegments();
	const excluded = Object.entries(p.excluded);
	const out = excluded.reduce((sum, [, n]) => sum + n, 0);
	const people = (status?: string) => to.broadcast(b.id, { tab: "people", status });
	const row = (about: TermName, n: number, level: Row["level"], status?: string): Row => ({
		name: term(about).name,
		n,
		about,
		level,
		to: status ? people(status) : undefined,
	});
	const rows: Row[] = [
		{
			name: term("matched").name,
			n: p.total_recipients + out,
			about: "matched",
			level: 0,
			to: peopleOf(b, segments, null),
		},
		...excluded.map(
			([reason, n]): Row => ({ name: reasonName(reason), n, level: 1, sign: "−", to: peopleOf(b, segments, reason) }),
		),
		{
			name: term("recipients").name,
			n: p.total_recipients,
			about: "recipients",
			level: 0,
			strong: true,
			sign: "=",
			to: people(),
		},
		{ name: words.handed, n: p.sent, about: "sent", level: 1, to: people("sent,delivered,bounced") },
		row("delivered", p.delivered, 2, "delivered"),
		row("bounced", p.bounced, 2, "bounced"),
		row("noWord", p.sent - p.delivered - p.bounced, 2, "sent"),
		row("failed", p.failed, 1, "failed"),
		row("skipped", p.skipped, 1, "skipped"),
		row("held", p.held_back, 1, "held_back"),
		row("cancelled", p.cancelled, 1, "cancelled"),
		row("waiting", p.queued, 1, "pending,queued,deferred"),
		row("deferred", p.deferred, 2, "deferred"),
	];
	const shown = rows.filter(
		(r) => r.n > 0 || r.level === 0 || r.about === "sent" || (r.about === "waiting" && p.phase !== "done"),
	);
	const soon = p.eta && new Date(p.eta).getTime() - Date.now() < 12 * 3_600_000;
	return (
		<Card
			title={words.title}
			actions={
				b.status === "failed" || b.status === "cancelled" ? (
					<StateBadge kind="broadcast" state={b.status} />
				) : (
					<StateBadge kind="phase" state={p.phase} />
				)
			}
		>
			<Progress
				label={words.progress}
				value={p.sent}
				max={p.total_recipients}
				text={[
					words.of({ count: p.sent, all: p.total_recipients }),
					p.rate_per_minute > 0 &&
						(p.phase === "done" ? words.average : p.plan ? words.averageToday : words.rate)({
							count: p.rate_per_minute,
						}),
					p.eta
						? soon
							? words.etaToday({ at: p.eta })
							: words.eta({ at: p.eta })
						: p.phase === "paused"
							? words.noEtaPaused
							: p.phase !== "done" && words.noEta,
					p.next_batch_at && words.next({ at: p.next_batch_at }),
				]
					.filter(Boolean)
					.join(" · ")}
			/>
			{(p.phase === "sending" || p.phase === "waiting") && <Limit limit={p.limited_by} phase={p.phase} />}
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
						{shown.map((r) => (
							<tr key={r.name} className={r.strong ? css.strong : undefined}>
								<th scope="row" className={css[`level${r.level}`]}>
									{r.sign && `${r.sign} `}
									{r.about ? <Explained name={r.name} about={{ definition: term(r.about).definition }} /> : r.name}
								</th>
								<td className={css.number}>
									{r.to ? (
										<Link href={r.to} aria-label={words.show({ name: `${r.name}, ${full(r.n)}` })}>
											{full(r.n)}
										</Link>
									) : (
										full(r.n)
									)}
								</td>
								<td className={css.number}>
									{r.level > 0 && r.sign !== "−" && percent(p.total_recipients ? r.n / p.total_recipients : null)}
								</td>
							</tr>
						))}
					</tbody>
				</table>
			</div>
			{out > 0 && <p className={css.muted}>{words.asOfNow}</p>}
			{p.seed_copies.sent > 0 && <p className={css.muted}>{words.seeds({ sent: p.seed_copies.sent })}</p>}
			{p.seed_copies.skipped_stale > 0 && (
				<p className={css.muted}>{words.stale({ count: p.seed_copies.skipped_stale })}</p>
			)}
		</Card>
	);
}
