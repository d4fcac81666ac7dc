import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Suspense, useEffect, useRef, useState } from "react";
import { Redirect, useLocation, useParams } from "wouter";
import { api, newKey, type Route } from "../../api/client";
import type { BroadcastSessionView } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { later } from "../../base/lazy";
import { useParam } from "../../base/params";
import { useWhyNot } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button, LinkButton } from "../../ui/Button";
import { isGone, Missing } from "../../ui/Missing";
import { Menu } from "../../ui/Menu";
import { Card, Facts, Callout, Page } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { Tabs } from "../../ui/Tabs";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { dateTime } from "../../base/words/formats";
import { explain } from "../../base/words/errors";
import { useSegments } from "./Audience";
import { unschedule } from "./useBegins";
import { CancelSend } from "./CancelSend";
import { Countdown } from "./Countdown";
import { FirstResults } from "./FirstResults";
import { Ledger } from "./Ledger";
import { Links } from "./Links";
import { MakeSegment } from "./MakeSegment";
import { Overview } from "./Overview";
import { Plan } from "./Plan";
import { FailureCallout, PauseCallout } from "./Stopped";
import { within } from "../../base/queries";
import { broadcastQuery } from "./queries";
import { to } from "../../base/paths";

const Bounces = later(() => import("./Bounces"));
const Breakdown = later(() => import("./Breakdown"));
const People = later(() => import("./People"));
const Timing = later(() => import("./Timing"));

const words = catalogue("broadcasts.broadcast", {
	broadcasts: "Broadcasts",
	views: "Views of the broadcast",
	sending: "Sending",
	overview: "Overview",
	links: "Links",
	time: "Time",
	breakdown: "Breakdown",
	bounces: "Bounces",
	people: "People",
	pause: "Pause",
	resume: "Resume",
	cause: "The cause of the pause is still there. See the note below.",
	cancel: "Cancel send",
	unschedule: "Unschedule",
	edit: "Edit",
	copy: "Duplicate",
	archive: "Archive",
	unarchive: "Restore from archive",
	starts: "It starts on {when}.",
	subject: "Subject",
	audience: "Sent to",
	to: "To",
	archived: "Archived",
	type: "Email type",
	started: "Started",
	completed: "Completed",
	details: "Details",
});

const actions = {
	pause: "POST /broadcasts/{broadcast_id}/pause",
	resume: "POST /broadcasts/{broadcast_id}/resume",
	cancel: "POST /broadcasts/{broadcast_id}/cancel",
	unschedule: "POST /broadcasts/{broadcast_id}/unschedule",
	archive: "POST /broadcasts/{broadcast_id}/archive",
	unarchive: "POST /broadcasts/{broadcast_id}/unarchive",
} satisfies { [action: string]: Route };

type ActionName = keyof typeof actions;

/** BroadcastPage shows a broadcast from its schedule to its report. */
export default function BroadcastPage() {
	const { id = "" } = useParams<{ id: string }>();
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const why = useWhyNot("POST /broadcasts/{broadcast_id}/pause");
	const [cancelling, setCancelling] = useState(false);
	const found = useQuery(broadcastQuery(id));
	const b = found.data;
	const live = b !== undefined && ["scheduled", "sending", "paused"].includes(b.status);
	const [tab] = useParam("tab", live ? "sending" : "overview");
	const act = useMutation({
		mutationFn: (action: ActionName) =>
			action === "unschedule"
				? unschedule(id)
				: (api(actions[action], { path: { broadcast_id: id } }) as Promise<BroadcastSessionView>),
		onSuccess: (next, action) => {
			client.setQueryData(broadcastQuery(id).queryKey, next);
			void client.invalidateQueries(within("broadcasts"));
			void client.invalidateQueries(within("broadcast", id));
			setCancelling(false);
			if (action === "archive") toast(words.archived, { undo: () => act.mutate("unarchive") });
			if (action === "unschedule") navigate(to.broadcastDraft(id));
		},
		onError: (e) => {
			toast(explain(e), { tone: "danger" });
			void found.refetch();
		},
	});
	const copy = useMutation({
		mutationFn: () =>
			api("POST /broadcasts/{broadcast_id}/clone", { path: { broadcast_id: id }, body: {}, idempotencyKey: newKey() }),
		onSuccess: (made) => navigate(to.broadcastDraft(made.id)),
		onError: (e) => toast(explain(e), { tone: "danger" }),
	});
	// The last figures of a report are those after the end of the send.
	const status = useRef(b?.status);
	useEffect(() => {
		if (status.current && b && status.current !== b.status) void client.invalidateQueries(within("report", id));
		status.current = b?.status;
	}, [b, client, id]);
	const named = b !== undefined && b.status !== "draft";
	const segments = useSegments(named);
	const types = useCollection("email_types", { enabled: named });
	const trail = [{ name: words.broadcasts, to: to.broadcasts() }];
	if (!b || isGone(found.error))
		return <Missing query={found} list={words.broadcasts} to={to.broadcasts()} trail={trail} />;
	if (b.status === "draft") return <Redirect to={to.broadcastDraft(id)} replace />;
	const can = (action: string) => b.view_model.available_actions.includes(action);
	const progress = b.view_model.delivery_progress;
	const started = b.dispatch_started_at !== null;
	const failure = b.view_model.failure_info;
	return (
		<Page
			title={b.name}
			trail={trail}
			status={<StateBadge kind="broadcast" state={b.status} />}
			actions={
				<>
					{can("pause") && (
						<Button why={why} busy={act.isPending} onClick={() => act.mutate("pause")}>
							{words.pause}
						</Button>
					)}
					{b.status === "paused" && (
						<Button
							look="primary"
							busy={act.isPending}
							why={why ?? (can("resume") ? undefined : words.cause)}
							onClick={() => act.mutate("resume")}
						>
							{words.resume}
						</Button>
					)}
					{b.status === "scheduled" && (
						<Button why={why} busy={act.isPending} onClick={() => act.mutate("unschedule")}>
							{words.unschedule}
						</Button>
					)}
					{started && <MakeSegment id={id} name={b.name} />}
					<Menu
						actions={[
							{ id: "copy", label: words.copy, why, run: () => copy.mutate() },
							can("archive") && { id: "archive", label: words.archive, why, run: () => act.mutate("archive") },
							can("unarchive") && { id: "unarchive", label: words.unarchive, why, run: () => act.mutate("unarchive") },
							can("cancel") && { id: "cancel", label: words.cancel, danger: true, why, run: () => setCancelling(true) },
						]}
					/>
				</>
			}
		>
			{failure && <FailureCallout id={id} failure={failure} />}
			{b.status === "paused" && <PauseCallout broadcast={b} />}
			{b.status === "scheduled" && b.scheduled_at && (
				<Callout tone="progress" title={words.starts({ when: dateTime(b.scheduled_at) })}>
					<p>
						<Countdown to={b.scheduled_at} />
					</p>
					<LinkButton small to={to.broadcastDraft(id)}>
						{words.edit}
					</LinkButton>
				</Callout>
			)}
			{started && (
				<Tabs
					label={words.views}
					current={tab}
					tabs={[
						...(live ? [{ id: "sending", name: words.sending }] : []),
						{ id: "overview", name: words.overview },
						{ id: "links", name: words.links },
						{ id: "time", name: words.time },
						{ id: "breakdown", name: words.breakdown },
						{ id: "bounces", name: words.bounces },
						{ id: "people", name: words.people },
					]}
				/>
			)}
			{started && tab === "sending" && progress && (
				<>
					<Ledger broadcast={b} progress={progress} />
					{progress.plan && <Plan broadcast={b} plan={progress.plan} />}
					<FirstResults id={id} />
				</>
			)}
			{started && tab === "overview" && (
				<>
					<Overview broadcast={b} live={live} progress={progress} />
					{!live && progress && <Ledger broadcast={b} progress={progress} />}
					{!live && progress?.plan && <Plan broadcast={b} plan={progress.plan} />}
				</>
			)}
			{started && tab === "links" && <Links broadcast={b} live={live} />}
			{started && (
				<Suspense fallback={<Skeleton rows={8} />}>
					{tab === "time" && <Timing broadcast={b} live={live} />}
					{tab === "breakdown" && <Breakdown broadcast={b} live={live} />}
					{tab === "bounces" && <Bounces broadcast={b} />}
					{tab === "people" && <People broadcast={b} />}
				</Suspense>
			)}
			{(!started || tab === "overview") && (
				<Card title={words.details}>
					<Facts
						rows={[
							[words.subject, b.content.subject],
							[
								started ? words.audience : words.to,
								b.include_segment_keys.map((k) => segments.find((s) => s.segment_key === k)?.name ?? k).join(", ") ||
									null,
							],
							[
								words.type,
								types.data?.data.find((t) => t.type_key === b.email_type_key)?.display_name ?? b.email_type_key,
							],
							...(started
								? ([
										[words.started, b.dispatch_started_at && dateTime(b.dispatch_started_at)],
										[words.completed, b.completed_at && dateTime(b.completed_at)],
									] as [string, string | null][])
								: []),
						]}
					/>
				</Card>
			)}
			{cancelling && (
				<CancelSend
					broadcast={b}
					busy={act.isPending}
					onConfirm={() => act.mutate("cancel")}
					onClose={() => setCancelling(false)}
				/>
			)}
		</Page>
	);
}
