import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import type { OverviewDay, OverviewTotals, OverviewType, ReportsOverview } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useParams } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { LinePlot } from "../../ui/plots/LinePlot";
import { Button } from "../../ui/Button";
import { CsvButton } from "../../ui/CsvButton";
import { Select } from "../../ui/Field";
import { Figure, Figures, Rate } from "../../ui/Figure";
import figure from "../../ui/Figure.module.css";
import { List } from "../../ui/List";
import { Card, Page } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { change, exactNumber, percent, pointsOf } from "../../base/words/formats";
import { partOf } from "../../base/words/accountTerms";
import { type TermName, term } from "../../base/words/glossary";
import { LastSend } from "./LastSend";
import { DayRange, useDayRange } from "./DayRange";
import { dayName, tick } from "./range";
import css from "./Reports.module.css";
import { overviewReportQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("reports.reports", {
	title: "Reports",
	about: "All email from this workspace: broadcasts, sequences, automations and forms.",
	type: "Email type",
	allTypes: "All email types",
	unknownType: "Without a type",
	totals: "Totals",
	of: "of",
	sum: "{count, number} {what} ÷ {all, number} emails",
	before: "Before: {count}",
	points: "{d} points",
	beforeAbout: "{from} to {to}, days in {before}. “Before” is as many days before these.",
	perDay: "Per day",
	table: "As a table",
	plot: "As a plot",
	sending: "Sent and delivered",
	reading: "Opens and clicks",
	sent: "Sent",
	delivered: "Delivered",
	opened: "Opened",
	clicked: "Clicked",
	unsubscribed: "Unsubscribed",
	bounced: "Bounced",
	complained: "Spam complaints",
	failed: "Failed",
	date: "Day",
	mails: "Emails",
	mostSent: "Most was sent on {when}: {count, plural, one {# email} other {# emails}}.",
	nothingSent: "Nothing was sent on these days.",
	mostOpened: "Most people opened first on {when}: {count, number}.",
	nothingOpened: "Nobody opened for the first time on these days.",
	types: "By email type",
	name: "Email type",
	openRate: "Open rate",
	clickRate: "Click rate",
	few: "With fewer than 100 emails, rates mean little. Look at the counts.",
	noneOfType: "No emails of this type on these days",
	noType: "There is no email type {type}",
	noTypeText: "It may have been deleted. Its emails are included in the figures for all types.",
	noneOfTypeText: "Choose other days, or all types.",
	none: "No emails were sent on these days",
	noneText: "Choose other days. This was the last send:",
	never: "Nothing has been sent yet",
	neverText:
		"Once email goes out, this page shows how much was delivered, opened and clicked each day, and how that changed.",
	write: "Write a broadcast",
});

const columns = [
	"total_recipients",
	"total_sent",
	"total_delivered",
	"total_failed",
	"total_bounced",
	"total_opened",
	"verified_opened",
	"total_clicked",
	"total_unsubscribed",
	"total_complained",
	"verified_open_rate",
	"open_rate",
	"click_rate",
	"bounce_rate",
] as const;

/** isEmpty reports whether totals say that nothing happened. */
const isEmpty = (totals: OverviewTotals) =>
	totals.total_recipients +
		totals.verified_opened +
		totals.total_clicked +
		totals.total_bounced +
		totals.total_unsubscribed +
		totals.total_complained ===
	0;

/** Reports shows what became of all mail of the account in a range of days. */
export default function Reports() {
	const [params, set] = useParams();
	const [, navigate] = useLocation();
	const createDisabledReason = useDisabledReason("POST /broadcasts");
	const types = useCollection("email_types");
	const type = params.get("type") ?? "";
	const days = useDayRange();
	const { range, problem } = days;
	const query = useQuery({ ...overviewReportQuery(range.from, range.to, type), enabled: days.ready });
	const typeName = (key: string | null) =>
		types.data?.data.find((emailType) => emailType.type_key === key)?.display_name ?? key ?? words.unknownType;
	const report = query.data;
	const failed = days.account.error ?? query.error;
	const unknown =
		type !== "" && types.data !== undefined && !types.data.data.some((emailType) => emailType.type_key === type);
	const nothingOfType = (
		<Empty
			title={unknown ? words.noType({ type }) : words.noneOfType}
			action={<Button onClick={() => set({ type: null })}>{words.allTypes}</Button>}
		>
			{unknown ? words.noTypeText : words.noneOfTypeText}
		</Empty>
	);
	return (
		<Page title={words.title} description={words.about}>
			<DayRange days={days}>
				<Select
					label={words.type}
					value={type}
					onChange={(value) => set({ type: value || null })}
					choices={[
						{ value: "", label: words.allTypes },
						...(types.data?.data ?? []).map((emailType) => ({
							value: emailType.type_key,
							label: emailType.display_name,
						})),
						...(type && types.data && !types.data.data.some((emailType) => emailType.type_key === type)
							? [{ value: type, label: type }]
							: []),
					]}
				/>
			</DayRange>
			{problem ? null : unknown && query.isError ? (
				nothingOfType
			) : failed && !report ? (
				<Failure error={failed} retry={() => void (days.account.isError ? days.account.refetch() : query.refetch())} />
			) : !report ? (
				<Skeleton rows={10} />
			) : isEmpty(report.totals) && type ? (
				nothingOfType
			) : isEmpty(report.totals) ? (
				<LastSend>
					{(last) =>
						last ? (
							<Empty title={words.none} example={last}>
								{words.noneText}
							</Empty>
						) : (
							<Empty
								title={words.never}
								action={
									<Button
										variant="primary"
										disabledReason={createDisabledReason}
										onClick={() => navigate(to.newBroadcast())}
									>
										{words.write}
									</Button>
								}
							>
								{words.neverText}
							</Empty>
						)
					}
				</LastSend>
			) : (
				<>
					<Totals report={report} at={new Date(query.dataUpdatedAt).toISOString()} />
					<Days report={report} />
					{!type && <Types report={report} name={typeName} onType={(value) => set({ type: value })} />}
				</>
			)}
		</Page>
	);
}

/** Before is a figure of the days before, with the difference. */
function Before({ value, change }: { value: string; change: string }) {
	return (
		<>
			<span className={figure.before}>{words.before({ count: value })}</span>
			<span className={figure.before}>{change}</span>
		</>
	);
}

/** Totals shows the figures of the days, each with that of the days before. */
function Totals({ report, at }: { report: ReportsOverview; at: string }) {
	const now = report.totals;
	const then = report.previous;
	const rate = (
		name: TermName,
		metric:
			| "total_delivered"
			| "verified_opened"
			| "total_clicked"
			| "total_unsubscribed"
			| "total_bounced"
			| "total_complained",
		decimals?: number,
	) => {
		const [a, b] = [now[metric], then[metric]];
		const share = (count: number, all: number) => (all > 0 ? count / all : null);
		const [currentShare, previousShare] = [share(a, now.total_recipients), share(b, then.total_recipients)];
		const d =
			currentShare !== null && previousShare !== null && decimals === undefined
				? words.points({ d: pointsOf(currentShare - previousShare) })
				: change(a - b);
		const isSmallSample = then.total_recipients < 100;
		return (
			<Rate
				name={term(name).name}
				part={a}
				total={now.total_recipients}
				totalName={words.of}
				decimals={decimals}
				description={{
					definition: term(name).definition,
					sum: words.sum({ count: a, what: partOf(term(name)), all: now.total_recipients }),
					asOf: at,
				}}
				more={
					<Before
						value={isSmallSample || previousShare === null ? exactNumber(b) : percent(previousShare, decimals)}
						change={d}
					/>
				}
			/>
		);
	};
	return (
		<Card
			title={words.totals}
			actions={
				<CsvButton
					name={`report ${report.from} ${report.to} totals`}
					header={["period", ...columns]}
					rows={[
						["totals", ...columns.map((column) => now[column])],
						["previous", ...columns.map((column) => then[column])],
					]}
				/>
			}
		>
			<Figures>
				<Figure
					name={term("mails").name}
					value={exactNumber(now.total_recipients)}
					detail={
						<Before
							value={exactNumber(then.total_recipients)}
							change={change(now.total_recipients - then.total_recipients)}
						/>
					}
					description={{ definition: term("mails").definition, asOf: at }}
				/>
				{rate("mailsDelivered", "total_delivered")}
				{rate("openedThen", "verified_opened")}
				{rate("clickedThen", "total_clicked")}
				{rate("leftThen", "total_unsubscribed")}
				{rate("mailsBounced", "total_bounced")}
				{rate("complainedThen", "total_complained", 3)}
			</Figures>
			<p className={css.muted}>
				{words.beforeAbout({ from: dayName(report.from), to: dayName(report.to), before: report.timezone })}
			</p>
		</Card>
	);
}

/** Days shows what happened on each day, as plots or as a table. */
function Days({ report }: { report: ReportsOverview }) {
	const [table, setTable] = useState(false);
	const dates = report.series.map((day) => day.date);
	const top = (metric: "total_sent" | "verified_opened") =>
		report.series.reduce((day, d) => (d[metric] > day[metric] ? d : day), report.series[0] as OverviewDay);
	const values = (metric: keyof OverviewTotals) => report.series.map((day) => day[metric]);
	const [sent, peakOpened] = [top("total_sent"), top("verified_opened")];
	return (
		<Card
			title={words.perDay}
			actions={
				<>
					<Button small variant="quiet" aria-pressed={table} onClick={() => setTable(!table)}>
						{table ? words.plot : words.table}
					</Button>
					<CsvButton
						name={`report ${report.from} ${report.to} per day`}
						header={["date", ...columns]}
						rows={report.series.map((day) => [day.date, ...columns.map((column) => day[column])])}
					/>
				</>
			}
		>
			{table ? (
				<List
					label={words.perDay}
					rows={[...report.series].reverse()}
					rowKey={(day) => day.date}
					columns={[
						{ id: "date", name: words.date, cell: (day) => dayName(day.date) },
						...(
							[
								["total_sent", words.sent],
								["total_delivered", words.delivered],
								["verified_opened", words.opened],
								["total_clicked", words.clicked],
								["total_unsubscribed", words.unsubscribed],
								["total_bounced", words.bounced],
								["total_complained", words.complained],
								["total_failed", words.failed],
							] as const
						).map(([metric, name]) => ({
							id: metric,
							name,
							end: true,
							cell: (day: OverviewDay) => exactNumber(day[metric]),
						})),
					]}
				/>
			) : (
				<div className={css.charts}>
					<section aria-label={words.reading}>
						<h3>{words.reading}</h3>
						<LinePlot
							sentence={
								peakOpened.verified_opened > 0
									? words.mostOpened({ count: peakOpened.verified_opened, when: dayName(peakOpened.date) })
									: words.nothingOpened
							}
							points={dates}
							tick={tick}
							lines={[
								{ name: words.opened, color: "var(--plot-blue)", values: values("verified_opened") },
								{ name: words.clicked, color: "var(--plot-orange)", dash: "6 3", values: values("total_clicked") },
							]}
						/>
					</section>
					<section aria-label={words.sending}>
						<h3>{words.sending}</h3>
						<LinePlot
							sentence={
								sent.total_sent > 0
									? words.mostSent({ count: sent.total_sent, when: dayName(sent.date) })
									: words.nothingSent
							}
							points={dates}
							tick={tick}
							lines={[
								{ name: words.sent, color: "var(--plot-teal)", values: values("total_sent") },
								{ name: words.delivered, color: "var(--plot-grey)", dash: "2 3", values: values("total_delivered") },
							]}
						/>
					</section>
				</div>
			)}
		</Card>
	);
}

/** Types compares the email types. The name of one shows it alone. */
function Types({
	report,
	name,
	onType,
}: {
	report: ReportsOverview;
	name: (key: string | null) => string;
	onType: (key: string) => void;
}) {
	const rows = [...report.by_email_type].sort((a, b) => b.total_recipients - a.total_recipients);
	if (rows.length === 0) return null;
	const rate = (count: number, row: OverviewType) =>
		percent(row.total_recipients ? count / row.total_recipients : null);
	return (
		<Card
			title={words.types}
			actions={
				<CsvButton
					name={`report ${report.from} ${report.to} by email type`}
					header={["email_type_key", ...columns]}
					rows={rows.map((row) => [row.email_type_key, ...columns.map((column) => row[column])])}
				/>
			}
		>
			<List
				label={words.types}
				rows={rows}
				rowKey={(row) => row.email_type_key ?? row.email_type_id ?? ""}
				columns={[
					{
						id: "type",
						name: words.name,
						cell: (row) => {
							const key = row.email_type_key;
							return key ? (
								<button type="button" className={css.open} onClick={() => onType(key)}>
									{name(key)}
								</button>
							) : (
								words.unknownType
							);
						},
					},
					{
						id: "mails",
						name: words.mails,
						description: term("mails").definition,
						end: true,
						cell: (row) => exactNumber(row.total_recipients),
					},
					{
						id: "delivered",
						name: words.delivered,
						description: term("mailsDelivered").definition,
						end: true,
						cell: (row) => exactNumber(row.total_delivered),
					},
					{
						id: "opened",
						name: words.opened,
						description: term("openedThen").definition,
						end: true,
						cell: (row) => exactNumber(row.verified_opened),
					},
					{
						id: "openRate",
						name: words.openRate,
						description: term("openedThen").definition,
						end: true,
						cell: (row) => rate(row.verified_opened, row),
					},
					{
						id: "clicked",
						name: words.clicked,
						description: term("clickedThen").definition,
						end: true,
						cell: (row) => exactNumber(row.total_clicked),
					},
					{
						id: "clickRate",
						name: words.clickRate,
						description: term("clickedThen").definition,
						end: true,
						cell: (row) => rate(row.total_clicked, row),
					},
					{
						id: "unsubscribed",
						name: words.unsubscribed,
						description: term("leftThen").definition,
						end: true,
						cell: (row) => exactNumber(row.total_unsubscribed),
					},
					{
						id: "bounced",
						name: words.bounced,
						description: term("mailsBounced").definition,
						end: true,
						cell: (row) => exactNumber(row.total_bounced),
					},
				]}
			/>
			{rows.some((row) => row.total_recipients < 100) && <p className={css.muted}>{words.few}</p>}
		</Card>
	);
}
