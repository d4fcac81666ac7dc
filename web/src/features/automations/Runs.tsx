import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { Automation, AutomationRun } from "../../api/schema";
import { useParam } from "../../base/params";
import type { StepType } from "../sequences/graph";
import { stepWords } from "../sequences/steps";
import rowsCss from "../../ui/Rows.module.css";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Select } from "../../ui/Field";
import { List } from "../../ui/List";
import { NotSet } from "../../ui/Page";
import { Empty, Failure, NoMatch, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { activityType } from "../../base/words/activityTitles";
import { catalogue } from "../../base/words/catalogue";
import type { Tone } from "../../base/words/status";
import css from "./Runs.module.css";
import { quoted } from "../../base/words/forms";
import { clauseSentence } from "../../base/words/errors";
import { runsQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("automations.runs", {
	title: "Runs",
	status: "State",
	all: "All runs",
	states: { pending: "Pending", completed: "Completed", failed: "Failed", skipped: "Skipped" },
	results: { completed: "Done", skipped: "Nothing to do", failed: "Failed" },
	reasons: {
		too_many_runs: "More than 100 runs for this contact within an hour",
		contact_deleted: "The contact was deleted",
		automation_not_active: "The automation was paused or archived in the meantime",
		action_failed: "At least one action failed",
		error: "It could not be saved",
	},
	contact: "Contact",
	event: "started by",
	actions: "Actions",
	at: "When",
	none: "No runs yet",
	noneText: "Each time it starts for a contact, a run appears here with the result of each action.",
	noMatch: "No run matches",
	more: "Show more",
});

const tones: { [status: string]: Tone } = {
	pending: "progress",
	completed: "success",
	failed: "danger",
	skipped: "neutral",
};

/** Runs lists the runs of an automation with the result of each action. */
export default function Runs({ automation }: { automation: Automation }) {
	const [status, setStatus] = useParam("status");
	const query = useInfiniteQuery(runsQuery(automation.id, status));
	const rows = query.data?.pages.flatMap((page) => page.data) ?? [];
	return (
		<>
			<div className={rowsCss.tools}>
				<Select
					label={words.status}
					hideLabel
					value={status}
					onChange={setStatus}
					choices={[
						{ value: "", label: words.all },
						...Object.entries(words.states).map(([value, label]) => ({ value, label })),
					]}
				/>
			</div>
			{query.isPending ? (
				<Skeleton rows={6} />
			) : query.isError ? (
				<Failure error={query.error} retry={() => void query.refetch()} />
			) : rows.length === 0 && status ? (
				<NoMatch
					title={words.noMatch}
					filters={[
						{ name: (words.states as { [key: string]: string })[status] ?? status, remove: () => setStatus("") },
					]}
				/>
			) : rows.length === 0 ? (
				<Empty title={words.none}>{words.noneText}</Empty>
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(run) => run.id}
					columns={[
						{
							id: "contact",
							name: words.contact,
							cell: (run) => (
								<span className={css.results}>
									<Link href={to.contact(run.contact_id)}>{run.email || run.contact_id}</Link>
									{run.trigger && (
										<small>
											{words.event} {started(run.trigger)}
										</small>
									)}
								</span>
							),
						},
						{
							id: "status",
							beside: true,
							name: words.status,
							cell: (run) => (
								<span className={css.results}>
									<Badge tone={tones[run.status] ?? "neutral"}>{words.states[run.status]}</Badge>
									{run.reason && <small>{words.reasons[run.reason]}</small>}
								</span>
							),
						},
						{ id: "actions", name: words.actions, cell: (run) => <Results run={run} /> },
						{ id: "at", name: words.at, cell: (run) => <Time at={run.created_at} /> },
					]}
				/>
			)}
			{query.hasNextPage && (
				<div>
					<Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
						{words.more}
					</Button>
				</div>
			)}
		</>
	);
}

const started = (event: NonNullable<AutomationRun["trigger"]>) => event.name ?? activityType(event.type);

function Results({ run }: { run: AutomationRun }) {
	if (run.actions.length === 0) return <NotSet />;
	return (
		<ul className={css.results}>
			{run.actions.map((action, i) => (
				<li key={i}>
					{stepWords.types[action.type as StepType] ?? action.type}: {words.results[action.status]}
					{action.reason && <small>{clauseSentence(action.reason) ?? quoted(action.reason)}</small>}
				</li>
			))}
		</ul>
	);
}
