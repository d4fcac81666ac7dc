import type { MtaWarmup } from "../../api/schema";
import { LinePlot } from "../../ui/plots/LinePlot";
import { List } from "../../ui/List";
import { Card } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { calendarDay, full } from "../../base/words/formats";

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
export function Warmup({ warmup: w }: { warmup: MtaWarmup }) {
	const days = w.days ?? [];
	const today = days.find((d) => d.limit !== null);
	if (!w.enabled || !today) return null;
	const limit = today.limit ?? 0;
	return (
		<Card title={words.title}>
			<p>{words.about({ start: w.start_per_day, growth: w.growth_pct })}</p>
			<LinePlot
				sentence={
					limit < today.planned ? words.held({ count: limit, planned: today.planned }) : words.earned({ count: limit })
				}
				points={days.map((d) => d.date)}
				tick={(d) => calendarDay(d, "short")}
				mark={today.date}
				lines={[
					{ name: words.planned, color: "var(--plot-grey)", dash: "4 4", values: days.map((d) => d.planned) },
					{ name: words.limit, color: "var(--plot-blue)", values: days.map((d) => d.limit) },
				]}
			/>
			{w.sources && w.sources.length > 1 && (
				<List
					label={words.address}
					rows={w.sources}
					rowKey={(s) => s.ip}
					columns={[
						{ id: "ip", name: words.address, cell: (s) => <code>{s.ip}</code> },
						{ id: "since", name: words.began, cell: (s) => calendarDay(s.started_on, "short") },
						{ id: "day", name: words.perDay, end: true, cell: (s) => full(s.per_day) },
					]}
				/>
			)}
		</Card>
	);
}
