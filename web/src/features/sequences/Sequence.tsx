import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { useLocation, useParams as useRoute } from "wouter";
import { ApiError, api, isConflict, newKey, request, type Versioned } from "../../api/client";
import type { GraphIssue, Sequence } from "../../api/schema";
import { lazyComponent } from "../../base/lazy";
import { StartEvent, startEventOf } from "../rules/startEvent";
import { useParams } from "../../base/params";
import { usePrefetchedCopy } from "../../base/collections";
import { useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { isGone, NotFound } from "../../ui/NotFound";
import { Menu } from "../../ui/Menu";
import { Callout, Page } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { Tabs } from "../../ui/Tabs";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { FlowEditor } from "./Flow";
import { startNode } from "./draft";
import { type Names, problemWords, triggerWords } from "./steps";
import { useNames } from "./useNames";
import { useFlow } from "./useFlow";
import { within } from "../../base/queries";
import { sequenceQuery, sequenceReportQuery } from "./queries";
import { to } from "../../base/paths";

const People = lazyComponent(() => import("./People"));
const Report = lazyComponent(() => import("./Report"));
const Rename = lazyComponent(() => import("./Rename"));
const Review = lazyComponent(() => import("./Review"));
const TestRun = lazyComponent(() => import("./TestRun"));

const words = catalogue("sequences.sequence", {
	sequences: "Sequences",
	views: "Views of the sequence",
	flow: "Flow",
	people: "People",
	report: "Report",
	rename: "Rename",
	quiet: "Check whether anybody can enter",
	openStart: "Open start",
	counts: "{inside, plural, one {# person inside} other {# people inside}}, {entered, number} entered",
	test: "Test run",
	activate: "Activate",
	activateTitle: "Activate {name}?",
	activateText: "From now on, contacts enter: {trigger}.",
	pause: "Pause to edit",
	pauseTitle: "Pause {name}?",
	pauseText:
		"{count, plural, =0 {Nobody is inside. While it is paused, nobody enters.} other {The timers of {count, plural, one {# person} other {# people}} stop until it is resumed. While it is paused, nobody enters.}}",
	pauseAction: "Pause",
	resume: "Resume",
	resumeTitle: "Resume {name}?",
	resumeText:
		"{count, plural, =0 {Nobody is inside. From now on, contacts enter.} other {{count, plural, one {# person continues} other {# people continue}} with the time that was left. {overdue, plural, =0 {Nobody is overdue.} one {# overdue, spread over 15 minutes.} other {# overdue, spread over 15 minutes.}}}}",
	review: "Review changes",
	first: "Save or discard your changes first: press Review changes.",
	problems: "{count, plural, one {Fix # problem first.} other {Fix # problems first.}}",
	noSteps: "Add a step first.",
	duplicate: "Duplicate",
	archive: "Archive",
	archiveTitle: "Archive {name}?",
	archiveText:
		"{count, plural, =0 {Nobody is inside.} one {# person is inside and will leave immediately. This cannot be undone.} other {# people are inside and will leave immediately. This cannot be undone.}}",
	unarchive: "Back to draft",
	delete: "Delete",
	deleteTitle: "Delete {name}?",
	deleteText: "It was never active, so nobody has ever been in it.",
	done: {
		activate: "Active. Contacts enter from now on.",
		pause: "Paused. Nobody enters, and timers are stopped.",
		resume: "Resumed",
		archive: "Archived",
		unarchive: "Back to draft",
	},
	paused: "Paused",
	pausedText: "Nobody enters, and timers are stopped. Changes are saved after you review them.",
});

type Move = "activate" | "pause" | "resume" | "archive" | "unarchive" | "delete";
type Pending = Move | "test" | "review" | "rename";

/** isAsked reports whether an action is asked about before it is done. */
const isAsked = (action: Pending): action is Exclude<Move, "unarchive"> =>
	!["test", "review", "rename", "unarchive"].includes(action);

/** SequencePage is a sequence: its flow, its people, its report. */
export default function SequencePage() {
	const { id = "" } = useRoute<{ id: string }>();
	const names = useNames();
	// With the names: the flow asks for its copy when the sequence is there.
	usePrefetchedCopy("sequence", id, !useDisabledReason("GET /working-copies"));
	const query = useQuery(sequenceQuery(id));
	if (!query.data || isGone(query.error))
		return (
			<NotFound query={query} list={words.sequences} to={to.sequences()} unsavedInput={{ kinds: ["sequence"], id }} />
		);
	return <Loaded key={id} server={query.data} names={names} />;
}

function Loaded({ server, names }: { server: Versioned<Sequence>; names: Names }) {
	const sequence = server.data;
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const [params, set] = useParams();
	const asked = params.get("tab") ?? "";
	const tab = asked === "people" || asked === "report" ? asked : "flow";
	const disabledReason = useDisabledReason("PUT /sequences/{id}/graph");
	const deleteDisabledReason = useDisabledReason("DELETE /sequences/{id}");
	const [pendingAction, setPendingAction] = useState<Pending | null>(null);
	const flow = useFlow(server, !disabledReason);
	const report = useQuery(sequenceReportQuery(sequence.id, sequence.status === "active"));
	const data = report.data;
	const applyResponse = (saved: Versioned<Sequence>) => {
		client.setQueryData(sequenceQuery(sequence.id).queryKey, saved);
		void client.invalidateQueries(within("sequences"));
		void client.invalidateQueries(within("sequence.report", sequence.id));
	};
	const move = useMutation({
		mutationFn: async (action: Move) => {
			const path = { id: sequence.id };
			if (action === "delete") {
				await api("DELETE /sequences/{id}", { path, revision: flow.revision() });
				return null;
			}
			if (!(await flow.flush()) && action === "activate") return null;
			return request(`POST /sequences/{id}/${action}`, { path });
		},
		onSuccess: (saved, action) => {
			setPendingAction(null);
			if (saved) {
				applyResponse(saved);
				toast(words.done[action as "pause"]);
			} else if (action === "delete") {
				void client.invalidateQueries(within("sequences"));
				navigate(to.sequences());
			}
		},
		onError: (error) => {
			if (isConflict(error)) void client.invalidateQueries(within("sequence", sequence.id));
			if (!(error instanceof ApiError) || error.code !== "INVALID_GRAPH" || !Array.isArray(error.details.issues))
				return;
			flow.show(error.details.issues as GraphIssue[]);
			set({ tab: null });
			setPendingAction(null);
		},
	});
	const duplicate = useMutation({
		mutationFn: () => api("POST /sequences/{id}/duplicate", { path: { id: sequence.id }, idempotencyKey: newKey() }),
		onSuccess: (created) => {
			void client.invalidateQueries(within("sequences"));
			navigate(to.sequence(created.id));
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const ask = (action: typeof pendingAction) => {
		move.reset();
		if (action === "activate") flow.recheck();
		setPendingAction(action);
	};
	const { trigger } = flow.start;
	const activeCount = data?.active ?? 0;
	const noSteps = flow.graph.steps.length === 0 ? words.noSteps : undefined;
	const problems = flow.issues.length > 0 ? words.problems({ count: flow.issues.length }) : undefined;
	return (
		<Page
			wide
			title={sequence.name}
			breadcrumbs={[{ name: words.sequences, to: to.sequences() }]}
			status={<StateBadge kind="sequence" state={sequence.status} />}
			description={data ? words.counts({ inside: activeCount, entered: data.enrolled }) : "\u00a0"}
			actions={
				<>
					{sequence.status !== "archived" && (
						<Button disabledReason={disabledReason ?? noSteps} onClick={() => ask("test")}>
							{words.test}
						</Button>
					)}
					{sequence.status === "draft" && (
						<Button
							variant="primary"
							disabledReason={disabledReason ?? noSteps ?? problems}
							onClick={() => ask("activate")}
						>
							{words.activate}
						</Button>
					)}
					{sequence.status === "active" && (
						<Button disabledReason={disabledReason} onClick={() => ask("pause")}>
							{words.pause}
						</Button>
					)}
					{sequence.status === "paused" && flow.dirty && (
						<Button variant="primary" onClick={() => ask("review")}>
							{words.review}
						</Button>
					)}
					{sequence.status === "paused" && (
						<Button
							variant={flow.dirty ? "default" : "primary"}
							disabledReason={disabledReason ?? (flow.dirty ? words.first : problems)}
							onClick={() => ask("resume")}
						>
							{words.resume}
						</Button>
					)}
					<Menu
						actions={[
							sequence.status !== "archived" && {
								id: "rename",
								label: words.rename,
								disabledReason,
								run: () => ask("rename"),
							},
							{ id: "duplicate", label: words.duplicate, disabledReason, run: () => duplicate.mutate() },
							sequence.status !== "archived" && {
								id: "archive",
								label: words.archive,
								disabledReason,
								run: () => ask("archive"),
							},
							sequence.status === "archived" && {
								id: "unarchive",
								label: words.unarchive,
								disabledReason,
								run: () => move.mutate("unarchive"),
							},
							sequence.status === "draft" &&
								data?.enrolled === 0 && {
									id: "delete",
									label: words.delete,
									danger: true,
									disabledReason: deleteDisabledReason,
									run: () => ask("delete"),
								},
						]}
					/>
				</>
			}
		>
			<Tabs
				label={words.views}
				current={tab}
				tabs={[
					{ id: "flow", name: words.flow },
					{ id: "people", name: words.people, count: report.isPending ? null : data?.active },
					{ id: "report", name: words.report },
				]}
			/>
			{disabledReason && <Callout>{disabledReason}</Callout>}
			{sequence.status === "paused" && tab === "flow" && (
				<Callout tone="warning" title={words.paused}>
					{words.pausedText}
				</Callout>
			)}
			{tab === "flow" && (
				<StartEvent value={startEventOf(trigger.type, trigger.config)}>
					<FlowEditor
						flow={flow}
						names={names}
						report={data}
						onPeople={(node) =>
							set({ tab: "people", at: node, node: null, status: "active,paused" }, { replace: false })
						}
					/>
				</StartEvent>
			)}
			<Suspense fallback={<Skeleton rows={8} />}>
				{tab === "people" && <People sequence={sequence} names={names} />}
				{tab === "report" &&
					(report.isError ? (
						<Failure error={report.error} retry={() => void report.refetch()} />
					) : data ? (
						<Report sequence={sequence} report={data} names={names} />
					) : (
						<Skeleton rows={8} />
					))}
				{pendingAction === "test" && (
					<TestRun
						sequence={sequence}
						names={names}
						flush={flow.flush}
						unsaved={flow.dirty}
						onClose={() => setPendingAction(null)}
					/>
				)}
				{pendingAction === "rename" && (
					<Rename
						sequence={sequence}
						flush={flow.flush}
						revision={flow.revision}
						onSaved={applyResponse}
						onClose={() => setPendingAction(null)}
					/>
				)}
				{pendingAction === "review" && (
					<Review flow={flow} names={names} activeCount={activeCount} onClose={() => setPendingAction(null)} />
				)}
			</Suspense>
			{pendingAction && isAsked(pendingAction) && (
				<Confirm
					title={words[`${pendingAction}Title`]({ name: sequence.name })}
					action={pendingAction === "pause" ? words.pauseAction : words[pendingAction]}
					danger={pendingAction === "archive" || pendingAction === "delete"}
					type={pendingAction === "archive" && activeCount > 0 ? sequence.name : undefined}
					busy={move.isPending}
					error={move.error && <p role="alert">{explain(move.error)}</p>}
					onConfirm={() => move.mutate(pendingAction)}
					onClose={() => setPendingAction(null)}
				>
					<p>
						{pendingAction === "activate"
							? words.activateText({ trigger: triggerWords(trigger.type, trigger.config, names) })
							: pendingAction === "pause"
								? words.pauseText({ count: activeCount })
								: pendingAction === "resume"
									? words.resumeText({ count: activeCount, overdue: data?.overdue ?? 0 })
									: pendingAction === "archive"
										? words.archiveText({ count: activeCount })
										: words.deleteText}
					</p>
					{pendingAction === "activate" && flow.warnings.length > 0 && (
						<Callout tone="warning" title={words.quiet}>
							<p>{flow.warnings.map((issue) => problemWords(issue.message)).join(" ")}</p>
							<Button
								small
								onClick={() => {
									setPendingAction(null);
									set({ tab: null, node: startNode });
								}}
							>
								{words.openStart}
							</Button>
						</Callout>
					)}
				</Confirm>
			)}
		</Page>
	);
}
