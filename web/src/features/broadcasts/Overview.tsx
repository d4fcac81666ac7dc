import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { BroadcastReport, BroadcastSessionView, DeliveryProgress, MetricsRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { CsvButton } from "../../ui/CsvButton";
import { Explained, Figure, Figures, Rate } from "../../ui/Figure";
import figure from "../../ui/Figure.module.css";
import { Card } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { clock, day, full, inSentence, percent, pointsOf } from "../../base/words/formats";
import { partOf, type TermName, term } from "../../base/words/glossary";
import { reasonName } from "./forecast";
import css from "./Report.module.css";
import { metricsQuery, reportQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("broadcasts.overview", {
	figures: "Results",
	of: "of",
	funnel: "From the audience to clicks",
	opened: "Opened",
	clickedWord: "Clicked",
	who: "People and machines",
	whyTitle: "Why is this number lower than elsewhere?",
	why: "Security software opens emails and follows links before anybody sees them, and some mail programs load images ahead of time. Those opens and clicks are identified by their network, their program and what they do. “Any open” counts them all, so it grows with your recipients' security, not with their interest.",
	next: "Opens and clicks are classified again about {at}.",
	late: "Late opens and clicks count until {until}.",
	before: "{count, plural, one {{rate} in the one before} other {{rate} in the # before}}",
	points: "{d} points",
	compare:
		"{count, plural, one {In grey: the send of “{type}” before this one.} other {In grey: the # sends of “{type}” before this one, together.}}",
	fell: "{count, number} fewer: {why}",
	notOpened: "did not open, or only machines did",
	notClicked: "opened without a click by a person",
	failed: "failed",
	skipped: "skipped",
	held: "held back",
	cancelled: "cancelled",
	waiting: "still waiting",
	bounced: "bounced",
	sum: "{count, number} {a} ÷ {all, number} {b}",
});

/** How long late events count after the last send, in days. */
const lateDays = 60;

/** useReport reads the figures of a broadcast; while it is live, every ten seconds. */
export function useReport(id: string, live: boolean) {
	return useQuery(reportQuery(id, live));
}

/** The earlier sends of the same type that a result is compared with. */
const compared = 5;

/** useEarlier reads the figures of the last sends of the same type before a broadcast. */
function useEarlier(b: BroadcastSessionView): MetricsRow[] {
	const before = b.dispatch_started_at;
	const list = useCollection("broadcasts", { enabled: before !== null && b.email_type_key !== null });
	const ids = (list.data?.data ?? [])
		.filter(
			(x) =>
				x.status === "completed" &&
				x.id !== b.id &&
				x.email_type_key === b.email_type_key &&
				x.dispatch_started_at &&
				before &&
				x.dispatch_started_at < before,
		)
		.sort((x, y) => ((x.dispatch_started_at ?? "") < (y.dispatch_started_at ?? "") ? 1 : -1))
		.slice(0, compared)
		.map((x) => x.id);
	const metrics = useQuery({ ...metricsQuery(ids), enabled: ids.length > 0 });
	return metrics.data ?? [];
}

/** Overview shows the six figures of a broadcast, where people fell away, and who opened it. */
export function Overview({
	broadcast: b,
	live,
	progress: p,
}: {
	broadcast: BroadcastSessionView;
	live: boolean;
	progress: DeliveryProgress | null;
}) {
	const report = useReport(b.id, live);
	const earlier = useEarlier(b);
	if (report.isPending) return <Skeleton rows={6} />;
	if (report.isError) return <Failure error={report.error} retry={() => void report.refetch()} />;
	const r = report.data;
	const at = new Date(report.dataUpdatedAt).toISOString();
	const out = Object.values(p?.excluded ?? {}).reduce((a, n) => a + n, 0);
	const matched = r.total_recipients + out;
	const tab = (parameters: { [name: string]: string }) => to.broadcast(b.id, { tab: "people", ...parameters });
	const whole = earlier.reduce((a, m) => a + m.total_recipients, 0);
	const grey = (of: "delivered" | "opened" | "clicked", now: number): ReactNode => {
		if (whole === 0 || r.total_recipients === 0) return undefined;
		const then = earlier.reduce((a, m) => a + m[of], 0) / whole;
		return (
			<span className={figure.before}>
				{words.before({ rate: percent(then), count: earlier.length })} (
				{words.points({ d: pointsOf(now / r.total_recipients - then) })})
			</span>
		);
	};
	const about = (name: TermName, n: number, people?: string) => ({
		definition: term(name).definition,
		sum: words.sum({ a: partOf(name), b: inSentence(term("recipients").name), count: n, all: r.total_recipients }),
		asOf: at,
		people,
	});
	const rate = (name: TermName, n: number, people: string, more?: ReactNode) => (
		<Rate
			name={term(name).name}
			part={n}
			whole={r.total_recipients}
			of={words.of}
			about={about(name, n, people)}
			more={more}
		/>
	);
	const next = nextVerdict(r);
	return (
		<>
			<Card
				title={words.figures}
				actions={<CsvButton name={`${b.name} figures`} header={["figure", "people", "rate"]} rows={figureRows(r)} />}
			>
				<Figures>
					<Figure
						name={term("recipients").name}
						value={full(r.total_recipients)}
						about={{ definition: term("recipients").definition, asOf: at, people: tab({}) }}
					/>
					{rate(
						"delivered",
						r.total_delivered,
						tab({ status: "delivered,sent" }),
						grey("delivered", r.total_delivered),
					)}
					{rate("opened", r.verified_opened, tab({ who: "opened" }), grey("opened", r.verified_opened))}
					{rate("clicked", r.total_clicked, tab({ who: "clicked" }), grey("clicked", r.total_clicked))}
					{rate("unsubscribed", r.total_unsubscribed, tab({ who: "unsubscribed" }))}
					<Rate
						name={term("complained").name}
						part={r.total_complained}
						whole={r.total_recipients}
						of={words.of}
						decimals={3}
						about={about("complained", r.total_complained, tab({ who: "complained" }))}
						tone={r.total_recipients && r.total_complained / r.total_recipients > 0.001 ? "danger" : undefined}
					/>
				</Figures>
				{earlier.length > 0 && (
					<p className={css.muted}>{words.compare({ count: earlier.length, type: b.email_type_key ?? "" })}</p>
				)}
				{r.last_send_at && (
					<p className={css.muted}>
						{words.late({ until: day(new Date(new Date(r.last_send_at).getTime() + lateDays * 86_400_000)) })}
					</p>
				)}
			</Card>
			<Card title={words.funnel}>
				<Bars
					whole={matched}
					base={r.total_recipients}
					rows={[
						{ name: "matched", label: term("matched").name, n: matched },
						{
							name: "recipients",
							label: term("recipients").name,
							n: r.total_recipients,
							to: tab({}),
							note: fell(Object.entries(p?.excluded ?? {}).map(([reason, n]) => [reasonName(reason), n])),
						},
						{
							name: "sent",
							label: term("sent").name,
							n: r.total_sent,
							to: tab({ status: "sent,delivered,bounced" }),
							note: fell(
								p
									? [
											[words.failed, p.failed],
											[words.skipped, p.skipped],
											[words.held, p.held_back],
											[words.cancelled, p.cancelled],
											[words.waiting, p.queued],
										]
									: [],
							),
						},
						{
							name: "delivered",
							label: term("delivered").name,
							n: r.total_delivered,
							to: tab({ status: "delivered,sent" }),
							note: fell([[words.bounced, r.total_bounced]]),
						},
						{
							name: "opened",
							label: words.opened,
							n: r.verified_opened,
							to: tab({ who: "opened" }),
							note: fell([[words.notOpened, r.total_delivered - r.verified_opened]]),
						},
						{
							name: "clicked",
							label: words.clickedWord,
							n: r.total_clicked,
							to: tab({ who: "clicked" }),
							note: fell([[words.notClicked, r.verified_opened - r.total_clicked]]),
						},
					]}
				/>
			</Card>
			<Card title={words.who}>
				<Bars
					whole={r.total_recipients}
					base={r.total_recipients}
					rows={[
						{
							name: "confirmed",
							label: term("confirmed").name,
							n: r.confirmed_opened,
							to: tab({ who: "opened", level: "confirmed" }),
							note: term("confirmed").definition,
						},
						{ name: "people", label: term("people").name, n: r.total_opened, note: term("people").definition },
						{
							name: "verified",
							label: term("verified").name,
							n: r.verified_opened,
							to: tab({ who: "opened" }),
							note: term("verified").definition,
							strong: true,
						},
						{
							name: "apparent",
							label: term("apparent").name,
							n: r.apparent_opened,
							to: tab({ who: "opened", level: "apparent" }),
							note: term("apparent").definition,
						},
						{
							name: "machines",
							label: term("machines").name,
							n: r.bot_opened,
							kind: "machine",
							note: term("machines").definition,
						},
						{
							name: "pending",
							label: term("pending").name,
							n: r.pending_opened,
							kind: "pending",
							note: term("pending").definition,
						},
					]}
				/>
				<details>
					<summary>{words.whyTitle}</summary>
					<p>{words.why}</p>
				</details>
				{r.pending_opened + r.pending_clicked > 0 && next && <p className={css.muted}>{words.next({ at: next })}</p>}
			</Card>
		</>
	);
}

/** fell says how many fell away at a step, and why. */
function fell(reasons: [string, number][]): string | undefined {
	const some = reasons.filter(([, n]) => n > 0);
	const first = some[0];
	if (!first) return undefined;
	const all = some.reduce((a, [, n]) => a + n, 0);
	return words.fell({
		count: all,
		why: some.length === 1 ? first[0] : some.map(([why, n]) => `${full(n)} ${why}`).join(", "),
	});
}

/** figureRows are the figures of a report by their names in the API. */
function figureRows(r: BroadcastReport): [string, number | null, number | null][] {
	return [
		["total_recipients", r.total_recipients, null],
		["total_sent", r.total_sent, null],
		["total_delivered", r.total_delivered, null],
		["total_failed", r.total_failed, null],
		["total_bounced", r.total_bounced, r.bounce_rate],
		["confirmed_opened", r.confirmed_opened, r.confirmed_open_rate],
		["total_opened", r.total_opened, r.open_rate],
		["verified_opened", r.verified_opened, r.verified_open_rate],
		["apparent_opened", r.apparent_opened, r.apparent_open_rate],
		["bot_opened", r.bot_opened, null],
		["pending_opened", r.pending_opened, null],
		["total_clicked", r.total_clicked, r.click_rate],
		["bot_clicked", r.bot_clicked, null],
		["pending_clicked", r.pending_clicked, null],
		["total_unsubscribed", r.total_unsubscribed, null],
		["total_complained", r.total_complained, null],
	];
}

/** nextVerdict returns when opens and clicks are judged next, if that is known. */
export function nextVerdict(r: BroadcastReport): string | null {
	if (!r.classifier_last_run_at || !r.classifier_interval_ms) return null;
	return clock(new Date(new Date(r.classifier_last_run_at).getTime() + r.classifier_interval_ms));
}

type Bar = {
	name: TermName;
	label: string;
	n: number;
	to?: string;
	note?: string;
	kind?: "machine" | "pending";
	strong?: boolean;
};

/** Bars compares counts on one scale, each with a sentence; shares are of the base. */
export function Bars({ whole, base, rows }: { whole: number; base: number; rows: Bar[] }) {
	return (
		<div className={css.bars}>
			{rows.map((r) => (
				<div key={r.name} className={css.row}>
					<span className={r.strong ? css.headline : undefined}>
						<Explained name={r.label} about={{ definition: term(r.name).definition, people: r.to }} />
					</span>
					<div className={css.bar} data-kind={r.kind} aria-hidden>
						<div hidden={r.n === 0} style={{ inlineSize: `${whole ? (100 * r.n) / whole : 0}%` }} />
					</div>
					<span className={css.number}>
						{r.to ? <Link href={r.to}>{full(r.n)}</Link> : full(r.n)}
						{r.name !== "matched" && ` · ${percent(base ? r.n / base : null)}`}
					</span>
					{r.note && <span className={css.sentence}>{r.note}</span>}
				</div>
			))}
		</div>
	);
}
