import { catalogue } from "../../base/words/catalogue";
import { dates, exactNumber } from "../../base/words/formats";
import { stateOf } from "../../base/words/status";
import css from "./Calendar.module.css";

const words = catalogue("broadcasts.calendar", {
	planned: "{count, number} planned",
	sent: "{count, number} sent",
	room: "room for {count, number}",
	taken: "{count, number} taken by other sends",
	skip: "Press to skip this day.",
	unskip: "Press to use this day.",
});

/** CalendarDay is a day of a plan. */
export type CalendarDay = {
	date: string;
	planned: number;
	sent?: number;
	capacity?: number | null;
	taken?: number;
	status: string;
};

const weekday = () => dates({ weekday: "short", timeZone: "UTC" });
const dayOfMonth = () => dates({ day: "numeric", month: "short", timeZone: "UTC" });
const fullDate = () => dates({ weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

const utc = (date: string) => new Date(`${date}T00:00:00Z`);

/** dayName writes a day of a plan, such as "Monday 9 May 2026". */
export const dayName = (date: string) => fullDate().format(utc(date));

type Props = {
	label: string;
	days: CalendarDay[];
	/** Called with a day that is pressed; days it does not apply to have no button. */
	onToggle?: (date: string) => void;
	canToggle?: (day: CalendarDay) => boolean;
	/** All days that are skipped, also those after the last day of the plan. */
	skipped?: ReadonlySet<string>;
};

/** Calendar shows the days of a plan: how much is planned, how much room there is, and what others take of it. */
export function Calendar({ label, days: planned, onToggle, canToggle, skipped }: Props) {
	const first = planned[0]?.date ?? "";
	const added = [...(skipped ?? [])]
		.filter((date) => date > first && !planned.some((day) => day.date === date))
		.map((date): CalendarDay => ({ date, planned: 0, status: "skipped" }));
	const days = [...planned, ...added].sort((a, b) => (a.date < b.date ? -1 : 1));
	const max = Math.max(1, ...days.map((day) => Math.max(day.planned, day.sent ?? 0) + (day.taken ?? 0)));
	const monday = days[0] ? (utc(days[0].date).getUTCDay() + 6) % 7 : 0;
	return (
		<figure className={css.figure} aria-label={label}>
			<ol className={css.days} style={{ "--first": monday + 1 } as React.CSSProperties}>
				{days.map((day) => {
					const off = skipped ? skipped.has(day.date) : day.status === "skipped";
					const status = stateOf("day", off ? "skipped" : day.status === "skipped" ? "planned" : day.status);
					const scale = day.capacity ? Math.max(day.capacity, day.planned + (day.taken ?? 0)) : max;
					const facts = [
						status.word,
						words.planned({ count: day.planned }),
						day.sent !== undefined && day.sent > 0 && words.sent({ count: day.sent }),
						day.capacity !== null && day.capacity !== undefined && words.room({ count: day.capacity }),
						day.taken !== undefined && day.taken > 0 && words.taken({ count: day.taken }),
					].filter(Boolean);
					const content = (
						<>
							<span className={css.date}>
								<span>{weekday().format(utc(day.date))}</span> {dayOfMonth().format(utc(day.date))}
							</span>
							<b className={css.number}>{off ? status.word : exactNumber(day.planned || (day.sent ?? 0))}</b>
							<span className={css.bar} aria-hidden>
								<span style={{ inlineSize: `${(100 * Math.max(day.planned, day.sent ?? 0)) / scale}%` }} />
								<span data-others style={{ inlineSize: `${(100 * (day.taken ?? 0)) / scale}%` }} />
							</span>
							<span className={css.small}>
								{day.taken
									? words.taken({ count: day.taken })
									: day.capacity !== null && day.capacity !== undefined
										? words.room({ count: day.capacity })
										: day.sent
											? words.sent({ count: day.sent })
											: status.word}
							</span>
						</>
					);
					const can = onToggle && (canToggle?.(day) ?? true);
					return (
						<li key={day.date} data-status={off ? "skipped" : day.status}>
							{can ? (
								<button
									type="button"
									className={css.day}
									aria-pressed={off}
									aria-label={`${dayName(day.date)}: ${facts.join(", ")}. ${off ? words.unskip : words.skip}`}
									title={off ? words.unskip : words.skip}
									onClick={() => onToggle(day.date)}
								>
									{content}
								</button>
							) : (
								<div className={css.day}>
									{content}
									<span className="visually-hidden">{facts.join(", ")}</span>
								</div>
							)}
						</li>
					);
				})}
			</ol>
		</figure>
	);
}
