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
import { timeOfDay, day, exactNumber, inSentence, percent, pointsOf } from "../../base/words/formats";
import { partOf } from "../../base/words/accountTerms";
import { type TermName, term } from "../../base/words/glossary";
import { reasonName } from "./forecast";
import css from "./Report.module.css";
import { engagementQuery, metricsQuery, reportQuery } from "./queries";
import { VersionRates } from "./VersionRates";
import { to } from "../../base/paths";

const words = catalogue("broadcasts.overview", {
	figures: "Results",
	of: "of",
	funnel: "From the audience to clicks",
	versions: "Which version",
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
const maxAgeDays = 60;

/** useReport reads the figures of a broadcast; while it is live, every ten seconds. */
export function useReport(id: string, live: boolean) {
	return useQuery(reportQuery(id, live));
}

/** The earlier sends of the same type that a result is compared with. */
const compared = 5;

/** useEarlier reads the figures of the last sends of the same type before a broadcast. */
function useEarlier(broadcast: BroadcastSessionView): MetricsRow[] {
	const before = broadcast.dispatch_started_at;
	const list = useCollection("broadcasts", { enabled: before !== null && broadcast.email_type_key !== null });
	const ids = (list.data?.data ?? [])
		.filter(
			(x) =>
				x.status === "completed" &&
				x.id !== broadcast.id &&
				x.email_type_key === broadcast.email_type_key &&
				x.dispatch_started_at &&
				before &&
				x.dispatch_started_at < before,
		)
		.sort((broadcast, y) => ((broadcast.dispatch_started_at ?? "") < (y.dispatch_started_at ?? "") ? 1 : -1))
		.slice(0, compared)
		.map((broadcast) => broadcast.id);
	const metrics = useQuery({ ...metricsQuery(ids), enabled: ids.length > 0 });
	return metrics.data ?? [];
}

/** Overview shows the six figures of a broadcast, where people fell away, and who opened it. */
export function Overview({
	broadcast,
	live,
	progress,
}: {
	broadcast: BroadcastSessionView;
	live: boolean;
	progress: DeliveryProgress | null;
}) {
	const report = useReport(broadcast.id, live);
	const earlier = useEarlier(broadcast);
	const versions = useQuery({ ...engagementQuery(broadcast.id, live), enabled: (broadcast.variants?.length ?? 0) > 0 });
	if (report.isPending) return <Skeleton rows={6} />;
	if (report.isError) return <Failure error={report.error} retry={() => void report.refetch()} />;
	const r = report.data;
	const at = new Date(report.dataUpdatedAt).toISOString();
	const excludedCount = Object.values(progress?.excluded ?? {}).reduce((sum, count) => sum + count, 0);
	const matched = r.total_recipients + excludedCount;
	const tab = (parameters: { [name: string]: string }) => to.broadcast(broadcast.id, { tab: "people", ...parameters });
	const total = earlier.reduce((sum, metrics) => sum + metrics.total_recipients, 0);
	const comparison = (metric: "delivered" | "opened" | "clicked", now: number): ReactNode => {
		if (total === 0 || r.total_recipients === 0) return undefined;
		const then = earlier.reduce((sum, metrics) => sum + metrics[metric], 0) / total;
		return (
			<span className={figure.before}>
				{words.before({ rate: percent(then), count: earlier.length })} (
				{words.points({ d: pointsOf(now / r.total_recipients - then) })})
			</span>
		);
	};
	const figureOf = (name: TermName, count: number, people?: string) => ({
		definition: term(name).definition,
		sum: words.sum({ a: partOf(term(name)), b: inSentence(term("recipients").name), count, all: r.total_recipients }),
		asOf: at,
		people,
	});
	const rate = (name: TermName, count: number, people: string, more?: ReactNode) => (
		<Rate
			name={term(name).name}
			part={count}
			total={r.total_recipients}
			totalName={words.of}
			description={figureOf(name, count, people)}
			more={more}
		/>
	);
	const next = nextVerdict(r);
	return (
		<>
			<Card
				title={words.figures}
				actions={
					<CsvButton name={`${broadcast.name} figures`} header={["figure", "people", "rate"]} rows={figureRows(r)} />
				}
			>
				<Figures>
					<Figure
						name={term("recipients").name}
						value={exactNumber(r.total_recipients)}
						description={{ definition: term("recipients").definition, asOf: at, people: tab({}) }}
					/>
					{rate(
						"delivered",
						r.total_delivered,
						tab({ status: "delivered,sent" }),
						comparison("delivered", r.total_delivered),
					)}
					{rate("opened", r.verified_opened, tab({ who: "opened" }), comparison("opened", r.verified_opened))}
					{rate("clicked", r.total_clicked, tab({ who: "clicked" }), comparison("clicked", r.total_clicked))}
					{rate("unsubscribed", r.total_unsubscribed, tab({ who: "unsubscribed" }))}
					<Rate
						name={term("complained").name}
						part={r.total_complained}
						total={r.total_recipients}
						totalName={words.of}
						decimals={3}
						description={figureOf("complained", r.total_complained, tab({ who: "complained" }))}
						tone={r.total_recipients && r.total_complained / r.total_recipients > 0.001 ? "danger" : undefined}
					/>
				</Figures>
				{earlier.length > 0 && (
					<p className={css.muted}>{words.compare({ count: earlier.length, type: broadcast.email_type_key ?? "" })}</p>
				)}
				{r.last_send_at && (
					<p className={css.muted}>
						{words.late({ until: day(new Date(new Date(r.last_send_at).getTime() + maxAgeDays * 86_400_000)) })}
					</p>
				)}
			</Card>
			{versions.data && versions.data.by_variant.length > 0 && (
				<Card title={words.versions}>
					<VersionRates engagement={versions.data} />
				</Card>
			)}
			<Card title={words.funnel}>
				<Bars
					total={matched}
					base={r.total_recipients}
					rows={[
						{ name: "matched", label: term("matched").name, count: matched },
						{
							name: "recipients",
							label: term("recipients").name,
							count: r.total_recipients,
							to: tab({}),
							note: exclusionNote(
								Object.entries(progress?.excluded ?? {}).map(([reason, count]) => [reasonName(reason), count]),
							),
						},
						{
							name: "sent",
							label: term("sent").name,
							count: r.total_sent,
							to: tab({ status: "sent,delivered,bounced" }),
							note: exclusionNote(
								progress
									? [
											[words.failed, progress.failed],
											[words.skipped, progress.skipped],
											[words.held, progress.held_back],
											[words.cancelled, progress.cancelled],
											[words.waiting, progress.queued],
										]
									: [],
							),
						},
						{
							name: "delivered",
							label: term("delivered").name,
							count: r.total_delivered,
							to: tab({ status: "delivered,sent" }),
							note: exclusionNote([[words.bounced, r.total_bounced]]),
						},
						{
							name: "opened",
							label: words.opened,
							count: r.verified_opened,
							to: tab({ who: "opened" }),
							note: exclusionNote([[words.notOpened, r.total_delivered - r.verified_opened]]),
						},
						{
							name: "clicked",
							label: words.clickedWord,
							count: r.total_clicked,
							to: tab({ who: "clicked" }),
							note: exclusionNote([[words.notClicked, r.verified_opened - r.total_clicked]]),
						},
					]}
				/>
			</Card>
			<Card title={words.who}>
				<Bars
					total={r.total_recipients}
					base={r.total_recipients}
					rows={[
						{
							name: "confirmed",
							label: term("confirmed").name,
							count: r.confirmed_opened,
							to: tab({ who: "opened", level: "confirmed" }),
							note: term("confirmed").definition,
						},
						{ name: "people", label: term("people").name, count: r.total_opened, note: term("people").definition },
						{
							name: "verified",
							label: term("verified").name,
							count: r.verified_opened,
							to: tab({ who: "opened" }),
							note: term("verified").definition,
							emphasized: true,
						},
						{
							name: "apparent",
							label: term("apparent").name,
							count: r.apparent_opened,
							to: tab({ who: "opened", level: "apparent" }),
							note: term("apparent").definition,
						},
						{
							name: "machines",
							label: term("machines").name,
							count: r.bot_opened,
							kind: "machine",
							note: term("machines").definition,
						},
						{
							name: "pending",
							label: term("pending").name,
							count: r.pending_opened,
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

/** exclusionNote says how many fell away at a step, and why. */
function exclusionNote(reasons: [string, number][]): string | undefined {
	const some = reasons.filter(([, reason]) => reason > 0);
	const first = some[0];
	if (!first) return undefined;
	const all = some.reduce((sum, [, count]) => sum + count, 0);
	return words.fell({
		count: all,
		why:
			some.length === 1
				? first[0]
				: some.map(([disabledReason, n]) => `${exactNumber(n)} ${disabledReason}`).join(", "),
	});
}

/** figureRows are the figures of a report by their names in the API. */
function figureRows(report: BroadcastReport): [string, number | null, number | null][] {
	return [
		["total_recipients", report.total_recipients, null],
		["total_sent", report.total_sent, null],
		["total_delivered", report.total_delivered, null],
		["total_failed", report.total_failed, null],
		["total_bounced", report.total_bounced, report.bounce_rate],
		["confirmed_opened", report.confirmed_opened, report.confirmed_open_rate],
		["total_opened", report.total_opened, report.open_rate],
		["verified_opened", report.verified_opened, report.verified_open_rate],
		["apparent_opened", report.apparent_opened, report.apparent_open_rate],
		["bot_opened", report.bot_opened, null],
		["pending_opened", report.pending_opened, null],
		["total_clicked", report.total_clicked, report.click_rate],
		["bot_clicked", report.bot_clicked, null],
		["pending_clicked", report.pending_clicked, null],
		["total_unsubscribed", report.total_unsubscribed, null],
		["total_complained", report.total_complained, null],
	];
}

/** nextVerdict returns when opens and clicks are judged next, if that is known. */
export function nextVerdict(report: BroadcastReport): string | null {
	if (!report.classifier_last_run_at || !report.classifier_interval_ms) return null;
	return timeOfDay(new Date(new Date(report.classifier_last_run_at).getTime() + report.classifier_interval_ms));
}

type Bar = {
	name: TermName;
	label: string;
	count: number;
	to?: string;
	note?: string;
	kind?: "machine" | "pending";
	emphasized?: boolean;
};

/** Bars compares counts on one scale, each with a sentence; shares are of the base. */
export function Bars({ total, base, rows }: { total: number; base: number; rows: Bar[] }) {
	return (
		<div className={css.bars}>
			{rows.map((row) => (
				<div key={row.name} className={css.row}>
					<span className={row.emphasized ? css.headline : undefined}>
						<Explained name={row.label} description={{ definition: term(row.name).definition, people: row.to }} />
					</span>
					<div className={css.bar} data-kind={row.kind} aria-hidden>
						<div hidden={row.count === 0} style={{ inlineSize: `${total ? (100 * row.count) / total : 0}%` }} />
					</div>
					<span className={css.number}>
						{row.to ? <Link href={row.to}>{exactNumber(row.count)}</Link> : exactNumber(row.count)}
						{row.name !== "matched" && ` · ${percent(base ? row.count / base : null)}`}
					</span>
					{row.note && <span className={css.sentence}>{row.note}</span>}
				</div>
			))}
		</div>
	);
}
