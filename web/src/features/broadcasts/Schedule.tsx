import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { ApiError, request } from "../../api/client";
import type { BroadcastSessionView } from "../../api/schema";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Diff } from "../../ui/Diff";
import { TextField } from "../../ui/Field";
import { Callout } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { dateTime } from "../../base/words/formats";
import { explain } from "../../base/words/errors";
import { useSegments } from "./Audience";
import { undoDelay } from "./startPhase";
import type { Draft } from "./draft";
import { useForecast } from "./forecast";
import { Readiness } from "./Readiness";
import { SendSummary } from "./SendSummary";
import { unschedule, useStartPhase } from "./useStartPhase";
import { within } from "../../base/queries";
import { broadcastQuery } from "./queries";

const words = catalogue("broadcasts.schedule", {
	title: "Send {name}?",
	notReady: "It cannot be sent yet",
	send: "{count, plural, one {Send to # person} other {Send to # people}}",
	schedule: "{count, plural, one {Schedule for # person} other {Schedule for # people}}",
	sendPlain: "Send",
	schedulePlain: "Schedule",
	cancel: "Not yet",
	larger:
		"This is more than twice your largest send in the last 90 days ({largest, number}). Type {count, number} to confirm.",
	everybody: "This goes to “{name}” with no exclusions. Type {count, number} to confirm.",
	type: "Number of recipients",
	undone: "Unscheduled. Nothing was sent.",
	done: "Scheduled for {when}",
	starts: "It starts in a minute",
	changed:
		"The content has changed since you checked it: its template was edited. Check the differences, then send it.",
	differences: "Differences in the content",
	became: "Subject: “{was}” became “{now}”.",
	again: "Try again",
	noForecast: "The number of recipients is not known yet",
	waiting: "Your changes are not saved yet: {problem} Saving is retried shortly.",
	unsaved: "Some changes are not saved. Correct or undo them first.",
});

/** Schedule states exactly what will happen, and starts it. */
export function Schedule({
	draft,
	saved: broadcast,
	onClose,
	onDone,
}: {
	draft: Draft;
	saved: BroadcastSessionView;
	onClose: () => void;
	onDone: () => void;
}) {
	const client = useQueryClient();
	const segments = useSegments();
	const [busy, setBusy] = useState(false);
	const [error, setError] = useState("");
	const [text, setText] = useState("");
	const [changed, setChanged] = useState<{ before: BroadcastSessionView; now: BroadcastSessionView } | null>(null);
	const reviewed = useRef(broadcast);
	const unsaved = draft.problems;
	const reasons = broadcast.view_model.schedule_readiness?.reasons ?? [];
	const start = useStartPhase(broadcast.scheduled_at);
	const blocked = reasons.length > 0 || start === "over" || draft.status.kind !== "saved";
	const sum = useForecast(broadcast, !blocked);
	const forecast = sum.data;
	const isLater = start === "later";
	const n = forecast?.recipients ?? 0;
	const isUnusuallyLarge = forecast?.largest_recent ? n > 2 * forecast.largest_recent : false;
	// Where there is nothing but system segments to choose, choosing one is not unusual.
	const system =
		segments.some((segment) => !segment.system_key) && broadcast.exclude_segment_keys.length === 0
			? segments.find((segment) => segment.system_key && broadcast.include_segment_keys.includes(segment.segment_key))
			: undefined;
	const sizeWarning = isUnusuallyLarge
		? words.larger({ count: n, largest: forecast?.largest_recent ?? 0 })
		: system
			? words.everybody({ count: n, name: system.name })
			: undefined;

	const send = async () => {
		setBusy(true);
		setError("");
		const path = { broadcast_id: broadcast.id };
		try {
			let revision = draft.newest();
			if (!isLater) {
				const response = await request("PUT /broadcasts/{broadcast_id}", {
					path,
					body: { scheduled_at: new Date(Date.now() + undoDelay).toISOString() },
					revision,
				});
				revision = response.revision ?? undefined;
				if (response.data.content_version !== reviewed.current.content_version) {
					setChanged({ before: reviewed.current, now: response.data });
					reviewed.current = response.data;
					await draft.query.refetch();
					return;
				}
			}
			const { data } = await request("POST /broadcasts/{broadcast_id}/schedule", { path, revision });
			client.setQueryData(broadcastQuery(broadcast.id).queryKey, data);
			void client.invalidateQueries(within("broadcasts"));
			void client.invalidateQueries(within("broadcast", broadcast.id));
			toast(isLater && data.scheduled_at ? words.done({ when: dateTime(data.scheduled_at) }) : words.starts, {
				undo: () =>
					void unschedule(broadcast.id).then(
						() => {
							void client.invalidateQueries(within("broadcast", broadcast.id));
							void client.invalidateQueries(within("broadcasts"));
							toast(words.undone);
						},
						(error) => toast(explain(error), { tone: "danger" }),
					),
			});
			onDone();
		} catch (error) {
			setError(error instanceof ApiError ? explain(error) : String(error));
			void draft.query.refetch();
		} finally {
			setBusy(false);
		}
	};
	if (blocked) {
		return (
			<Dialog title={words.notReady} onClose={onClose} footer={<Button onClick={onClose}>{words.cancel}</Button>}>
				{unsaved.length > 0 && <Callout tone="warning">{words.unsaved}</Callout>}
				{draft.status.kind === "offline" && (
					<Callout tone="warning">
						{words.waiting({ problem: explain(draft.status.error) })}{" "}
						<Button small onClick={() => void draft.flush()}>
							{words.again}
						</Button>
					</Callout>
				)}
				<Readiness saved={broadcast} unsaved={unsaved} onLeave={onClose} onChanged={() => void draft.query.refetch()} />
			</Dialog>
		);
	}
	const confirmed = !sizeWarning || text.replace(/\D/g, "") === String(n);
	return (
		<Dialog
			wide
			title={words.title({ name: broadcast.name })}
			onClose={onClose}
			onSubmit={() => confirmed && forecast && void send()}
			submit={{
				label: forecast
					? isLater
						? words.schedule({ count: n })
						: words.send({ count: n })
					: isLater
						? words.schedulePlain
						: words.sendPlain,
				busy: busy || sum.isPending,
				disabledReason: !forecast ? words.noForecast : confirmed ? undefined : sizeWarning,
			}}
		>
			{sum.isPending && <Skeleton rows={4} />}
			{sum.isError && (
				<Callout tone="danger">
					{explain(sum.error)}{" "}
					<Button small onClick={() => void sum.refetch()}>
						{words.again}
					</Button>
				</Callout>
			)}
			{forecast && <SendSummary broadcast={broadcast} forecast={forecast} />}
			{changed && (
				<Callout tone="warning" title={words.changed}>
					{changed.before.content.subject !== changed.now.content.subject && (
						<p>{words.became({ was: changed.before.content.subject ?? "", now: changed.now.content.subject ?? "" })}</p>
					)}
					<Diff
						label={words.differences}
						before={changed.before.content.body_html ?? ""}
						after={changed.now.content.body_html ?? ""}
					/>
				</Callout>
			)}
			<Readiness saved={broadcast} onLeave={onClose} onChanged={() => void draft.query.refetch()} />
			{sizeWarning && forecast && (
				<TextField
					label={words.type}
					help={sizeWarning}
					value={text}
					onChange={setText}
					inputMode="numeric"
					autoComplete="off"
				/>
			)}
			{error && <Callout tone="danger">{error}</Callout>}
		</Dialog>
	);
}
