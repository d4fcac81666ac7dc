import type { BroadcastSessionView } from "../../api/schema";
import { Columns, Radios, Switch, TextField } from "../../ui/Field";
import { Callout } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { dateTime, timeZone } from "../../base/words/formats";
import { today } from "../../base/words/zone";
import { Calendar } from "./Calendar";
import css from "./Composer.module.css";
import type { Draft } from "./draft";
import type { Forecast } from "./forecast";
import { Seeds } from "./Seeds";
import { Start } from "./Start";

const words = catalogue("broadcasts.delivery", {
	mode: "How fast",
	now: "As fast as the servers allow",
	days: "Spread over days",
	date: "Finish by a date",
	howMany: "Days",
	by: "Last day",
	overflow: "If not everything fits",
	extend: "Continue after the last day",
	holdback: "Hold the rest back",
	throttle: "Limit per hour",
	throttleHelp: "For this broadcast. Empty: as many as the sending servers allow.",
	tracking: "Track opens and clicks",
	plan: "Plan",
	planHelp: "Press a day to skip it. Its emails move to the other days.",
	planNone: "No days are planned.",
	held: "{count, plural, one {# person does not fit and would be held back.} other {# people do not fit and would be held back.}}",
	finishes: "The last batch is due {at}.",
});

const dayMs = 86_400_000;

/** Delivery chooses when and how fast the mail leaves, and shows the plan of its days. */
export function Delivery({
	draft,
	value: b,
	forecast,
}: {
	draft: Draft;
	value: BroadcastSessionView;
	forecast: Forecast;
}) {
	const p = b.include_segment_keys.length > 0 ? forecast.data : undefined;
	const skip = (date: string) =>
		draft.change({
			skipped_dates: b.skipped_dates.includes(date)
				? b.skipped_dates.filter((d) => d !== date)
				: [...b.skipped_dates, date].sort(),
		});
	return (
		<>
			<Columns>
				<Start
					value={b.scheduled_at}
					onChange={(scheduled_at) => draft.change({ scheduled_at })}
					error={draft.problem("scheduled_at")}
				/>
				<TextField
					label={words.throttle}
					optional
					type="number"
					min={1}
					help={words.throttleHelp}
					path="throttle_per_hour"
					value={b.throttle_per_hour === null ? "" : String(b.throttle_per_hour)}
					error={draft.problem("throttle_per_hour")}
					onChange={(v) => draft.change({ throttle_per_hour: v ? Number(v) : null })}
				/>
			</Columns>
			<Radios
				label={words.mode}
				value={b.delivery_mode}
				onChange={(mode) =>
					draft.change({
						delivery_mode: mode as BroadcastSessionView["delivery_mode"],
						delivery_window_days: mode === "over_days" ? (b.delivery_window_days ?? 3) : null,
						delivery_window_date:
							mode === "by_date"
								? (b.delivery_window_date ??
									new Date(Date.parse(today(timeZone())) + 7 * dayMs).toISOString().slice(0, 10))
								: null,
					})
				}
				choices={[
					{ value: "now", label: words.now },
					{ value: "over_days", label: words.days },
					{ value: "by_date", label: words.date },
				]}
			/>
			{b.delivery_mode === "over_days" && (
				<TextField
					label={words.howMany}
					type="number"
					min={1}
					max={60}
					path="delivery_window_days"
					value={b.delivery_window_days ? String(b.delivery_window_days) : ""}
					error={draft.problem("delivery_window_days")}
					onChange={(v) => draft.change({ delivery_window_days: Number(v) || 0 })}
				/>
			)}
			{b.delivery_mode === "by_date" && (
				<TextField
					label={words.by}
					type="date"
					path="delivery_window_date"
					value={b.delivery_window_date ?? ""}
					error={draft.problem("delivery_window_date")}
					onChange={(v) => v && draft.change({ delivery_window_date: v })}
				/>
			)}
			<Radios
				label={words.overflow}
				value={b.overflow_mode}
				onChange={(o) => draft.change({ overflow_mode: o as "extend" | "holdback" })}
				choices={[
					{ value: "extend", label: words.extend },
					{ value: "holdback", label: words.holdback },
				]}
			/>
			{p && p.held_back > 0 && <Callout tone="warning">{words.held({ count: p.held_back })}</Callout>}
			{p && (
				<div className={css.plan} data-path="skipped_dates">
					<h3>{words.plan}</h3>
					{p.plan ? (
						<>
							{b.delivery_mode !== "now" && <p className={css.muted}>{words.planHelp}</p>}
							<Calendar
								label={words.plan}
								days={p.plan.map((d) => ({
									date: d.date,
									planned: d.planned,
									capacity: d.capacity,
									taken: d.taken_by_others,
									status: d.status,
								}))}
								skipped={new Set(b.skipped_dates)}
								onToggle={b.delivery_mode === "now" ? undefined : skip}
							/>
							{p.finishes_at && <p className={css.muted}>{words.finishes({ at: dateTime(p.finishes_at) })}</p>}
						</>
					) : (
						<p className={css.muted}>{words.planNone}</p>
					)}
				</div>
			)}
			<Seeds draft={draft} value={b} forecast={p} />
			<Switch
				label={words.tracking}
				checked={b.tracking_enabled}
				onChange={(tracking_enabled) => draft.change({ tracking_enabled })}
			/>
		</>
	);
}
