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
	planNone: "Everything is sent at once, as fast as the servers allow.",
	planThrottled:
		"{count, plural, one {It starts at once and is sent at up to # email an hour.} other {It starts at once and is sent at up to # emails an hour.}}",
	held: "{count, plural, one {# person does not fit and would be held back.} other {# people do not fit and would be held back.}}",
	finishes: "The last batch is due {at}.",
});

const dayMs = 86_400_000;

/** Delivery chooses when and how fast the mail leaves, and shows the plan of its days. */
export function Delivery({
	draft,
	value: broadcast,
	forecast,
}: {
	draft: Draft;
	value: BroadcastSessionView;
	forecast: Forecast;
}) {
	const answer = broadcast.include_segment_keys.length > 0 ? forecast.data : undefined;
	// A mail that leaves as fast as possible fits, unless a server has a limit for a day.
	const mayOverflow =
		broadcast.delivery_mode !== "now" || broadcast.overflow_mode === "holdback" || Boolean(answer?.plan);
	const skip = (date: string) =>
		draft.change({
			skipped_dates: broadcast.skipped_dates.includes(date)
				? broadcast.skipped_dates.filter((d) => d !== date)
				: [...broadcast.skipped_dates, date].sort(),
		});
	return (
		<>
			<Columns>
				<Start
					value={broadcast.scheduled_at}
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
					value={broadcast.throttle_per_hour === null ? "" : String(broadcast.throttle_per_hour)}
					error={draft.problem("throttle_per_hour")}
					onChange={(value) => draft.change({ throttle_per_hour: value ? Number(value) : null })}
				/>
			</Columns>
			<Radios
				label={words.mode}
				value={broadcast.delivery_mode}
				onChange={(mode) =>
					draft.change({
						delivery_mode: mode as BroadcastSessionView["delivery_mode"],
						delivery_window_days: mode === "over_days" ? (broadcast.delivery_window_days ?? 3) : null,
						delivery_window_date:
							mode === "by_date"
								? (broadcast.delivery_window_date ??
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
			{broadcast.delivery_mode === "over_days" && (
				<TextField
					label={words.howMany}
					type="number"
					min={1}
					max={60}
					path="delivery_window_days"
					value={broadcast.delivery_window_days ? String(broadcast.delivery_window_days) : ""}
					error={draft.problem("delivery_window_days")}
					onChange={(value) => draft.change({ delivery_window_days: Number(value) || 0 })}
				/>
			)}
			{broadcast.delivery_mode === "by_date" && (
				<TextField
					label={words.by}
					type="date"
					path="delivery_window_date"
					value={broadcast.delivery_window_date ?? ""}
					error={draft.problem("delivery_window_date")}
					onChange={(value) => value && draft.change({ delivery_window_date: value })}
				/>
			)}
			{mayOverflow && (
				<Radios
					label={words.overflow}
					value={broadcast.overflow_mode}
					onChange={(value) => draft.change({ overflow_mode: value as "extend" | "holdback" })}
					choices={[
						{ value: "extend", label: words.extend },
						{ value: "holdback", label: words.holdback },
					]}
				/>
			)}
			{answer && answer.held_back > 0 && <Callout tone="warning">{words.held({ count: answer.held_back })}</Callout>}
			{answer && (
				<div className={css.plan} data-path="skipped_dates">
					<h3>{words.plan}</h3>
					{answer.plan ? (
						<>
							{broadcast.delivery_mode !== "now" && <p className={css.muted}>{words.planHelp}</p>}
							<Calendar
								label={words.plan}
								days={answer.plan.map((day) => ({
									date: day.date,
									planned: day.planned,
									capacity: day.capacity,
									taken: day.taken_by_others,
									status: day.status,
								}))}
								skipped={new Set(broadcast.skipped_dates)}
								onToggle={broadcast.delivery_mode === "now" ? undefined : skip}
							/>
							{answer.finishes_at && (
								<p className={css.muted}>{words.finishes({ at: dateTime(answer.finishes_at) })}</p>
							)}
						</>
					) : (
						<p className={css.muted}>
							{broadcast.throttle_per_hour
								? words.planThrottled({ count: broadcast.throttle_per_hour })
								: words.planNone}
						</p>
					)}
				</div>
			)}
			<Seeds draft={draft} value={broadcast} forecast={answer} />
			<Switch
				label={words.tracking}
				checked={broadcast.tracking_enabled}
				onChange={(tracking_enabled) => draft.change({ tracking_enabled })}
			/>
		</>
	);
}
