import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Sequence, SequenceDay } from "../../api/schema";
import { LinePlot } from "../../ui/plots/LinePlot";
import { DayRange, useDayRange } from "../reports/DayRange";
import { dayName, tick } from "../reports/range";
import { Button } from "../../ui/Button";
import { CsvButton } from "../../ui/CsvButton";
import { List } from "../../ui/List";
import { Card } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber } from "../../base/words/formats";
import css from "./Report.module.css";
import { sequenceDaysQuery } from "./queries";

const words = catalogue("sequences.reportDays", {
	title: "Per day",
	table: "As a table",
	plot: "As a plot",
	people: "People in this sequence",
	reading: "Opens and clicks",
	sending: "Sent and delivered",
	date: "Day",
	entered: "Entered",
	completed: "Completed",
	converted: "Converted",
	exited: "Left",
	failed: "Failed",
	sent: "Sent",
	delivered: "Delivered",
	opened: "Opened",
	clicked: "Clicked",
	bounced: "Bounced",
	unsubscribed: "Unsubscribed",
	mostEntered: "Most entered on {when}: {count, plural, one {# person} other {# people}}.",
	noneEntered: "Nobody entered on these days.",
	mostOpened: "Most people opened for the first time on {when}: {count, number}.",
	noneOpened: "Nobody opened for the first time on these days.",
	mostSent: "Most was sent on {when}: {count, plural, one {# email} other {# emails}}.",
	noneSent: "Nothing was sent on these days.",
	about:
		"Days in {zone}. People count on the day they entered and on the day they reached an end. “Left” includes people who reached a goal. Opens and clicks by people count on the day of the first one in an email. Emails from steps that have since been removed are included.",
});

const columns = [
	"entered",
	"completed",
	"converted",
	"exited",
	"failed",
	"sent",
	"delivered",
	"opened",
	"clicked",
	"bounced",
	"unsubscribed",
] as const;

/** ReportDays shows what happened in a sequence on each day of a range, as plots or as a table. */
export function ReportDays({ sequence }: { sequence: Sequence }) {
	const [table, setTable] = useState(false);
	const days = useDayRange();
	const { from, to } = days.range;
	const query = useQuery({ ...sequenceDaysQuery(sequence.id, from, to), enabled: days.ready });
	const timing = query.data;
	const failed = days.account.error ?? query.error;
	return (
		<Card
			title={words.title}
			actions={
				timing && (
					<>
						<Button small variant="quiet" aria-pressed={table} onClick={() => setTable(!table)}>
							{table ? words.plot : words.table}
						</Button>
						<CsvButton
							name={`${sequence.name} ${timing.from} ${timing.to}`}
							header={["date", ...columns]}
							rows={timing.series.map((day) => [day.date, ...columns.map((column) => day[column])])}
						/>
					</>
				)
			}
		>
			<DayRange days={days} />
			{days.problem ? null : failed && !timing ? (
				<Failure error={failed} retry={() => void (days.account.isError ? days.account.refetch() : query.refetch())} />
			) : !timing ? (
				<Skeleton rows={6} />
			) : (
				<>
					{table ? (
						<List
							label={words.title}
							rows={[...timing.series].reverse()}
							rowKey={(day) => day.date}
							columns={[
								{ id: "date", name: words.date, cell: (day) => dayName(day.date) },
								...columns.map((column) => ({
									id: column,
									name: words[column],
									end: true,
									cell: (day: SequenceDay) => exactNumber(day[column]),
								})),
							]}
						/>
					) : (
						<Plots series={timing.series} />
					)}
					<p className={css.muted}>{words.about({ zone: timing.timezone })}</p>
				</>
			)}
		</Card>
	);
}

function Plots({ series }: { series: SequenceDay[] }) {
	const dates = series.map((day) => day.date);
	const values = (metric: (typeof columns)[number]) => series.map((day) => day[metric]);
	const sentence = (
		metric: (typeof columns)[number],
		peakSentence: (value: number, when: string) => string,
		emptySentence: string,
	) => {
		const top = series.reduce((day, d) => (d[metric] > day[metric] ? d : day), series[0] as SequenceDay);
		return top[metric] > 0 ? peakSentence(top[metric], dayName(top.date)) : emptySentence;
	};
	return (
		<div className={css.charts}>
			<section aria-label={words.people}>
				<h3>{words.people}</h3>
				<LinePlot
					sentence={sentence("entered", (count, when) => words.mostEntered({ count, when }), words.noneEntered)}
					points={dates}
					tick={tick}
					lines={[
						{ name: words.entered, color: "var(--plot-blue)", values: values("entered") },
						{ name: words.completed, color: "var(--plot-teal)", dash: "2 3", values: values("completed") },
						{ name: words.converted, color: "var(--plot-olive)", dash: "8 3 2 3", values: values("converted") },
						{ name: words.exited, color: "var(--plot-magenta)", dash: "6 3", values: values("exited") },
					]}
				/>
			</section>
			<section aria-label={words.reading}>
				<h3>{words.reading}</h3>
				<LinePlot
					sentence={sentence("opened", (count, when) => words.mostOpened({ count, when }), words.noneOpened)}
					points={dates}
					tick={tick}
					lines={[
						{ name: words.opened, color: "var(--plot-blue)", values: values("opened") },
						{ name: words.clicked, color: "var(--plot-orange)", dash: "6 3", values: values("clicked") },
					]}
				/>
			</section>
			<section aria-label={words.sending}>
				<h3>{words.sending}</h3>
				<LinePlot
					sentence={sentence("sent", (count, when) => words.mostSent({ count, when }), words.noneSent)}
					points={dates}
					tick={tick}
					lines={[
						{ name: words.sent, color: "var(--plot-teal)", values: values("sent") },
						{ name: words.delivered, color: "var(--plot-grey)", dash: "2 3", values: values("delivered") },
					]}
				/>
			</section>
		</div>
	);
}
