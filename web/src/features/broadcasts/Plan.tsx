import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client";
import type { BroadcastSessionView, PlanDay } from "../../api/schema";
import { useDisabledReason } from "../../base/session";
import { Button } from "../../ui/Button";
import { Card, Callout } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { dateTime, timeZone } from "../../base/words/formats";
import { explain } from "../../base/words/errors";
import { today } from "../../base/words/zone";
import { Calendar } from "./Calendar";
import css from "./Report.module.css";
import { broadcastQuery, rescheduleQuery } from "./queries";

const words = catalogue("broadcasts.plan", {
	title: "Plan",
	edit: "Change skipped days",
	editing: "Press a day to skip it or to use it again. Only future days can be changed.",
	new: "New plan",
	newText: "Not saved yet. The numbers are emails not yet sent.",
	save: "Save new plan",
	cancel: "Keep old plan",
	saved: "The plan was changed",
	finishes: "The last batch would be due {at}.",
	held: "{count, plural, one {# person would be held back.} other {# people would be held back.}}",
	none: "No changes.",
});

/** Plan shows the days of a send, and skips days to come after showing the plan without them. */
export function Plan({ broadcast, plan }: { broadcast: BroadcastSessionView; plan: PlanDay[] }) {
	const [skipped, setSkipped] = useState<string[] | null>(null);
	const disabledReason = useDisabledReason("POST /broadcasts/{broadcast_id}/reschedule");
	const can = broadcast.view_model.available_actions.includes("reschedule");
	return (
		<Card
			title={words.title}
			actions={
				can &&
				skipped === null && (
					<Button small disabledReason={disabledReason} onClick={() => setSkipped(broadcast.skipped_dates)}>
						{words.edit}
					</Button>
				)
			}
		>
			{skipped === null || !can ? (
				<Calendar
					label={words.title}
					days={plan.map((day) => ({ date: day.date, planned: day.planned, sent: day.sent, status: day.status }))}
					skipped={new Set(broadcast.skipped_dates)}
				/>
			) : (
				<Reschedule broadcast={broadcast} skipped={skipped} onChange={setSkipped} onClose={() => setSkipped(null)} />
			)}
		</Card>
	);
}

function Reschedule({
	broadcast,
	skipped,
	onChange,
	onClose,
}: {
	broadcast: BroadcastSessionView;
	skipped: string[];
	onChange: (skipped: string[]) => void;
	onClose: () => void;
}) {
	const client = useQueryClient();
	const now = today(timeZone());
	const preview = useQuery(rescheduleQuery(broadcast.id, skipped));
	const save = useMutation({
		mutationFn: () =>
			api("POST /broadcasts/{broadcast_id}/reschedule", {
				path: { broadcast_id: broadcast.id },
				body: { skipped_dates: skipped },
			}),
		onSuccess: (next) => {
			client.setQueryData(broadcastQuery(broadcast.id).queryKey, next);
			toast(words.saved);
			onClose();
		},
	});
	const forecast = preview.data;
	const changed = skipped.join() !== [...broadcast.skipped_dates].sort().join();
	const toggle = (date: string) =>
		onChange(skipped.includes(date) ? skipped.filter((day) => day !== date) : [...skipped, date].sort());
	return (
		<>
			<p>{words.editing}</p>
			{preview.isError && <Callout tone="danger">{explain(preview.error)}</Callout>}
			{save.error && <Callout tone="danger">{explain(save.error)}</Callout>}
			{preview.isPending && <Skeleton rows={4} />}
			{forecast?.plan && (
				<>
					<h3>{words.new}</h3>
					<p className={css.muted}>{words.newText}</p>
					<Calendar
						label={words.new}
						days={forecast.plan.map((day) => ({
							date: day.date,
							planned: day.planned,
							capacity: day.capacity,
							taken: day.taken_by_others,
							status: day.status,
						}))}
						skipped={new Set(skipped)}
						canToggle={(day) => day.date > now}
						onToggle={toggle}
					/>
					<p className={css.muted}>
						{[
							forecast.finishes_at && words.finishes({ at: dateTime(forecast.finishes_at) }),
							forecast.held_back > 0 && words.held({ count: forecast.held_back }),
						]
							.filter(Boolean)
							.join(" ")}
					</p>
				</>
			)}
			<div className={css.buttons}>
				<Button onClick={onClose}>{words.cancel}</Button>
				<Button
					variant="primary"
					busy={save.isPending || preview.isPlaceholderData}
					disabledReason={!changed ? words.none : preview.isError ? explain(preview.error) : undefined}
					onClick={() => save.mutate()}
				>
					{words.save}
				</Button>
			</div>
		</>
	);
}
