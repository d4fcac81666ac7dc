import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Suspense, useEffect, useRef, useState } from "react";
import { Redirect, useLocation, useParams } from "wouter";
import { api, newKey, type Route } from "../../api/client";
import type { BroadcastSessionView } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { lazyComponent } from "../../base/lazy";
import { useParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { isGone, NotFound } from "../../ui/NotFound";
import { Menu } from "../../ui/Menu";
import { Card, Facts, Page } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { Tabs } from "../../ui/Tabs";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { dateTime } from "../../base/words/formats";
import { explain } from "../../base/words/errors";
import { useSegments } from "./Audience";
import { unschedule } from "./useStartPhase";
import { CancelSend } from "./CancelSend";
import { FirstResults } from "./FirstResults";
import { Ledger } from "./Ledger";
import { Links } from "./Links";
import { MakeSegment } from "./MakeSegment";
import { Overview } from "./Overview";
import { Plan } from "./Plan";
import { FailureCallout, PauseCallout } from "./StatusCallouts";
import { within } from "../../base/queries";
import { broadcastQuery } from "./queries";
import { to } from "../../base/paths";

const Bounces = lazyComponent(() => import("./Bounces"));
const Breakdown = lazyComponent(() => import("./Breakdown"));
const People = lazyComponent(() => import("./People"));
const Scheduled = lazyComponent(() => import("./Scheduled"));
const Timing = lazyComponent(() => import("./Timing"));

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
	copy: "Duplicate",
	archive: "Archive",
	unarchive: "Restore from archive",
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
	const disabledReason = useDisabledReason("POST /broadcasts/{broadcast_id}/pause");
	const [cancelling, setCancelling] = useState(false);
	const query = useQuery(broadcastQuery(id));
	const broadcast = query.data;
	const live = broadcast !== undefined && ["scheduled", "sending", "paused"].includes(broadcast.status);
	const [tab] = useParam("tab", live ? "sending" : "overview");
	const mutation = useMutation({
		mutationFn: (action: ActionName) =>
			action === "unschedule"
				? unschedule(id)
				: (api(actions[action], { path: { broadcast_id: id } }) as Promise<BroadcastSessionView>),
		onSuccess: (next, action) => {
			client.setQueryData(broadcastQuery(id).queryKey, next);
			void client.invalidateQueries(within("broadcasts"));
			void client.invalidateQueries(within("broadcast", id));
			setCancelling(false);
			if (action === "archive") toast(words.archived, { undo: () => mutation.mutate("unarchive") });
			if (action === "unschedule") navigate(to.broadcastDraft(id));
		},
		onError: (error) => {
			toast(explain(error), { tone: "danger" });
			void query.refetch();
		},
	});
	const copy = useMutation({
		mutationFn: () =>
			api("POST /broadcasts/{broadcast_id}/clone", { path: { broadcast_id: id }, body: {}, idempotencyKey: newKey() }),
		onSuccess: (created) => navigate(to.broadcastDraft(created.id)),
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	// The last figures of a report are those after the end of the send.
	const status = useRef(broadcast?.status);
	useEffect(() => {
		if (status.current && broadcast && status.current !== broadcast.status)
			void client.invalidateQueries(within("report", id));
		status.current = broadcast?.status;
	}, [broadcast, client, id]);
	const showName = broadcast !== undefined && broadcast.status !== "draft";
	const segments = useSegments(showName);
	const types = useCollection("email_types", { enabled: showName });
	const breadcrumbs = [{ name: words.broadcasts, to: to.broadcasts() }];
	if (!broadcast || isGone(query.error))
		return <NotFound query={query} list={words.broadcasts} to={to.broadcasts()} breadcrumbs={breadcrumbs} />;
	if (broadcast.status === "draft") return <Redirect to={to.broadcastDraft(id)} replace />;
	const can = (action: string) => broadcast.view_model.available_actions.includes(action);
	const progress = broadcast.view_model.delivery_progress;
	const started = broadcast.dispatch_started_at !== null;
	const failure = broadcast.view_model.failure_info;
	return (
		<Page
			title={broadcast.name}
			breadcrumbs={breadcrumbs}
			status={<StateBadge kind="broadcast" state={broadcast.status} />}
			actions={
				<>
					{can("pause") && (
						<Button disabledReason={disabledReason} busy={mutation.isPending} onClick={() => mutation.mutate("pause")}>
							{words.pause}
						</Button>
					)}
					{broadcast.status === "paused" && (
						<Button
							variant="primary"
							busy={mutation.isPending}
							disabledReason={disabledReason ?? (can("resume") ? undefined : words.cause)}
							onClick={() => mutation.mutate("resume")}
						>
							{words.resume}
						</Button>
					)}
					{broadcast.status === "scheduled" && (
						<Button
							disabledReason={disabledReason}
							busy={mutation.isPending}
							onClick={() => mutation.mutate("unschedule")}
						>
							{words.unschedule}
						</Button>
					)}
					{started && <MakeSegment id={id} name={broadcast.name} />}
					<Menu
						actions={[
							{ id: "copy", label: words.copy, disabledReason, run: () => copy.mutate() },
							can("archive") && {
								id: "archive",
								label: words.archive,
								disabledReason,
								run: () => mutation.mutate("archive"),
							},
							can("unarchive") && {
								id: "unarchive",
								label: words.unarchive,
								disabledReason,
								run: () => mutation.mutate("unarchive"),
							},
							can("cancel") && {
								id: "cancel",
								label: words.cancel,
								danger: true,
								disabledReason,
								run: () => setCancelling(true),
							},
						]}
					/>
				</>
			}
		>
			{failure && <FailureCallout id={id} failure={failure} />}
			{broadcast.status === "paused" && <PauseCallout broadcast={broadcast} />}
			{broadcast.status === "scheduled" && (
				<Suspense fallback={<Skeleton rows={8} />}>
					<Scheduled broadcast={broadcast} />
				</Suspense>
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
					<Ledger broadcast={broadcast} progress={progress} />
					{progress.plan && <Plan broadcast={broadcast} plan={progress.plan} />}
					<FirstResults id={id} />
				</>
			)}
			{started && tab === "overview" && (
				<>
					<Overview broadcast={broadcast} live={live} progress={progress} />
					{!live && progress && <Ledger broadcast={broadcast} progress={progress} />}
					{!live && progress?.plan && <Plan broadcast={broadcast} plan={progress.plan} />}
				</>
			)}
			{started && tab === "links" && <Links broadcast={broadcast} live={live} />}
			{started && (
				<Suspense fallback={<Skeleton rows={8} />}>
					{tab === "time" && <Timing broadcast={broadcast} live={live} />}
					{tab === "breakdown" && <Breakdown broadcast={broadcast} live={live} />}
					{tab === "bounces" && <Bounces broadcast={broadcast} />}
					{tab === "people" && <People broadcast={broadcast} />}
				</Suspense>
			)}
			{(started ? tab === "overview" : broadcast.status !== "scheduled") && (
				<Card title={words.details}>
					<Facts
						rows={[
							[words.subject, broadcast.content.subject],
							[
								started ? words.audience : words.to,
								broadcast.include_segment_keys
									.map((key) => segments.find((segment) => segment.segment_key === key)?.name ?? key)
									.join(", ") || null,
							],
							[
								words.type,
								types.data?.data.find((emailType) => emailType.type_key === broadcast.email_type_key)?.display_name ??
									broadcast.email_type_key,
							],
							...(started
								? ([
										[words.started, broadcast.dispatch_started_at && dateTime(broadcast.dispatch_started_at)],
										[words.completed, broadcast.completed_at && dateTime(broadcast.completed_at)],
									] as [string, string | null][])
								: []),
						]}
					/>
				</Card>
			)}
			{cancelling && (
				<CancelSend
					broadcast={broadcast}
					busy={mutation.isPending}
					onConfirm={() => mutation.mutate("cancel")}
					onClose={() => setCancelling(false)}
				/>
			)}
		</Page>
	);
}
