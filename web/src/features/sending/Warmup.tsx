import type { MtaWarmup } from "../../api/schema";
import { LinePlot } from "../../ui/plots/LinePlot";
import { List } from "../../ui/List";
import { Card } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { calendarDay, exactNumber } from "../../base/words/formats";

const words = catalogue("sending.warmup", {
	title: "Warm-up",
	about:
		"It started with {start, number} emails a day. The limit grows by {growth, number} % after each day with sends on which few emails were refused, deferred or reported as spam.",
	earned: "Today's limit: {count, number} emails, as planned.",
	held: "Today's limit: {count, number} emails, below the planned {planned, number}. The limit does not grow after a day without sends or with poor health.",
	planned: "Planned",
	limit: "Limit",
	address: "Address",
	began: "Since",
	perDay: "Emails per day",
});

/** Warmup shows how the daily limit of a new MTA config grows: what was planned, and what is earned. */
export function Warmup({ warmup }: { warmup: MtaWarmup }) {
	const days = warmup.days ?? [];
	const today = days.find((day) => day.limit !== null);
	if (!warmup.enabled || !today) return null;
	const limit = today.limit ?? 0;
	return (
		<Card title={words.title}>
			<p>{words.about({ start: warmup.start_per_day, growth: warmup.growth_pct })}</p>
			<LinePlot
				sentence={
					limit < today.planned ? words.held({ count: limit, planned: today.planned }) : words.earned({ count: limit })
				}
				points={days.map((day) => day.date)}
				tick={(day) => calendarDay(day, "short")}
				highlighted={today.date}
				lines={[
					{ name: words.planned, color: "var(--plot-grey)", dash: "4 4", values: days.map((day) => day.planned) },
					{ name: words.limit, color: "var(--plot-blue)", values: days.map((day) => day.limit) },
				]}
			/>
			{warmup.sources && warmup.sources.length > 1 && (
				<List
					label={words.address}
					rows={warmup.sources}
					rowKey={(source) => source.ip}
					columns={[
						{ id: "ip", name: words.address, cell: (source) => <code>{source.ip}</code> },
						{ id: "since", name: words.began, cell: (source) => calendarDay(source.started_on, "short") },
						{ id: "day", name: words.perDay, end: true, cell: (source) => exactNumber(source.per_day) },
					]}
				/>
			)}
		</Card>
	);
}
