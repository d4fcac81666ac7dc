import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { BroadcastSessionView, TimingPeriod } from "../../api/schema";
import { useParam } from "../../base/params";
import { LinePlot } from "../../ui/plots/LinePlot";
import { withSteps } from "../../ui/plots/steps";
import { Button } from "../../ui/Button";
import { CsvButton } from "../../ui/CsvButton";
import { Select } from "../../ui/Field";
import { Figure, Figures } from "../../ui/Figure";
import { List } from "../../ui/List";
import { Card } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { timeOfDay, dateTime, day, dayTime, exactNumber } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import { timesOf, wallTime } from "../../base/words/zone";
import css from "./Report.module.css";
import { timingQuery } from "./queries";

const words = catalogue("broadcasts.timing", {
	title: "Over time",
	none: "Nothing has happened yet",
	opened: "Opened",
	clicked: "Clicked",
	delivered: "Delivered",
	sent: "Sent",
	bounced: "Bounced",
	unsubscribed: "Unsubscribed",
	at: "Time",
	table: "As a table",
	plot: "As a plot",
	period: "Period",
	hour: "Per hour",
	day: "Per day",
	reading: "Opens and clicks",
	sending: "Sent and delivered",
	openSentence: "Most people opened for the first time in one period: {count, number}, {when}.",
	noOpens: "Nobody has opened it yet.",
	sendSentence: "Most was sent in one period: {count, number}, {when}.",
	zone: "Times in {zone}.",
	never: "–",
	minutes: "{count, plural, one {# minute} other {# minutes}}",
	hours: "{count, plural, one {# hour} other {# hours}}",
	days: "{count, plural, one {# day} other {# days}}",
});

function duration(seconds: number | null): string {
	if (seconds === null) return words.never;
	if (seconds < 5400) return words.minutes({ count: Math.max(1, Math.round(seconds / 60)) });
	return seconds < 2 * 86_400
		? words.hours({ count: Math.round(seconds / 3600) })
		: words.days({ count: Math.round(seconds / 86_400) });
}

const columns = ["sent", "delivered", "opened", "clicked", "bounced", "unsubscribed"] as const;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** emptyPeriod is a period in which nothing happened; the server leaves those out. */
const emptyPeriod = (time: Date): TimingPeriod => ({
	at: time.toISOString(),
	sent: 0,
	delivered: 0,
	opened: 0,
	clicked: 0,
	bounced: 0,
	unsubscribed: 0,
});

/** Timing shows sent, delivered, opened and clicked over time. */
export default function Timing({ broadcast, live }: { broadcast: BroadcastSessionView; live: boolean }) {
	const [table, setTable] = useState(false);
	const [interval, setInterval] = useParam("per");
	const timing = useQuery(timingQuery(broadcast.id, interval, live));
	if (timing.isPending) return <Skeleton rows={6} />;
	if (timing.isError) return <Failure error={timing.error} retry={() => void timing.refetch()} />;
	const data = timing.data;
	if (data.series.length === 0) return <Empty title={words.none} />;
	const name = (time: string) => (data.interval === "day" ? day(time) : dateTime(time));
	const daily = data.interval === "day";
	// The day of a time in the account's zone, as a number to count with.
	const dayOf = (time: string) => Date.parse(wallTime(new Date(time), data.timezone).slice(0, 10));
	const series = daily
		? withSteps(
				data.series,
				(period) => dayOf(period.at),
				dayMs,
				(time) =>
					emptyPeriod(
						timesOf(`${new Date(time).toISOString().slice(0, 10)}T12:00`, data.timezone)[0] ?? new Date(time),
					),
			)
		: withSteps(
				data.series,
				(period) => Date.parse(period.at),
				hourMs,
				(time) => emptyPeriod(new Date(time)),
			);
	const tick = (time: string, after?: string) =>
		daily ? day(time) : after && dayOf(time) === dayOf(after) ? timeOfDay(time) : dayTime(time);
	const top = (metric: "opened" | "sent") =>
		data.series.reduce((period, p) => (p[metric] > period[metric] ? p : period));
	const points = series.map((period) => period.at);
	const values = (metric: keyof Omit<TimingPeriod, "at">) => series.map((period) => period[metric]);
	return (
		<Card
			title={words.title}
			actions={
				<>
					<Select
						label={words.period}
						hideLabel
						value={daily ? "day" : ""}
						onChange={setInterval}
						choices={[
							{ value: "", label: words.hour },
							{ value: "day", label: words.day },
						]}
					/>
					<Button small variant="quiet" aria-pressed={table} onClick={() => setTable(!table)}>
						{table ? words.plot : words.table}
					</Button>
					<CsvButton
						name={`${broadcast.name} over time`}
						header={["at", ...columns]}
						rows={data.series.map((period) => [period.at, ...columns.map((column) => period[column])])}
					/>
				</>
			}
		>
			<Figures>
				<Figure
					name={term("medianOpen").name}
					value={duration(data.median_seconds_to_open)}
					description={{ definition: term("medianOpen").definition }}
				/>
				<Figure
					name={term("medianClick").name}
					value={duration(data.median_seconds_to_click)}
					description={{ definition: term("medianClick").definition }}
				/>
			</Figures>
			<p className={css.muted}>{words.zone({ zone: data.timezone })}</p>
			{table ? (
				<List
					label={words.title}
					rows={data.series}
					rowKey={(period) => period.at}
					columns={[
						{ id: "at", name: words.at, cell: (period) => name(period.at) },
						...columns.map((column) => ({
							id: column,
							name: words[column],
							end: true,
							cell: (period: TimingPeriod) => exactNumber(period[column]),
						})),
					]}
				/>
			) : (
				<div className={css.charts}>
					<section aria-label={words.reading}>
						<h3>{words.reading}</h3>
						<LinePlot
							sentence={
								top("opened").opened > 0
									? words.openSentence({ count: top("opened").opened, when: name(top("opened").at) })
									: words.noOpens
							}
							points={points}
							tick={tick}
							tickWidth={88}
							lines={[
								{ name: words.opened, color: "var(--plot-blue)", values: values("opened") },
								{ name: words.clicked, color: "var(--plot-orange)", dash: "6 3", values: values("clicked") },
							]}
						/>
					</section>
					<section aria-label={words.sending}>
						<h3>{words.sending}</h3>
						<LinePlot
							sentence={words.sendSentence({ count: top("sent").sent, when: name(top("sent").at) })}
							points={points}
							tick={tick}
							tickWidth={88}
							lines={[
								{ name: words.sent, color: "var(--plot-teal)", values: values("sent") },
								{ name: words.delivered, color: "var(--plot-grey)", dash: "2 3", values: values("delivered") },
							]}
						/>
					</section>
				</div>
			)}
		</Card>
	);
}
