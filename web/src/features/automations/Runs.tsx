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
import { catalogue } from "../../base/words/catalogue";
import type { Tone } from "../../base/words/status";
import css from "./Runs.module.css";
import { sentenceFor } from "../../base/words/errors";
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
export default function Runs({ automation: a }: { automation: Automation }) {
	const [status, setStatus] = useParam("status");
	const found = useInfiniteQuery(runsQuery(a.id, status));
	const rows = found.data?.pages.flatMap((p) => p.data) ?? [];
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
			{found.isPending ? (
				<Skeleton rows={6} />
			) : found.isError ? (
				<Failure error={found.error} retry={() => void found.refetch()} />
			) : rows.length === 0 && status ? (
				<NoMatch
					title={words.noMatch}
					filters={[{ name: (words.states as { [s: string]: string })[status] ?? status, drop: () => setStatus("") }]}
				/>
			) : rows.length === 0 ? (
				<Empty title={words.none}>{words.noneText}</Empty>
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(r) => r.id}
					columns={[
						{
							id: "contact",
							name: words.contact,
							cell: (r) => (
								<span className={css.results}>
									<Link href={to.contact(r.contact_id)}>{r.email || r.contact_id}</Link>
									{r.trigger && (
										<small>
											{words.event} {started(r.trigger)}
										</small>
									)}
								</span>
							),
						},
						{
							id: "status",
							beside: true,
							name: words.status,
							cell: (r) => (
								<span className={css.results}>
									<Badge tone={tones[r.status] ?? "neutral"}>{words.states[r.status]}</Badge>
									{r.reason && <small>{words.reasons[r.reason]}</small>}
								</span>
							),
						},
						{ id: "actions", name: words.actions, cell: (r) => <Results run={r} /> },
						{ id: "at", name: words.at, cell: (r) => <Time at={r.created_at} /> },
					]}
				/>
			)}
			{found.hasNextPage && (
				<div>
					<Button busy={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
						{words.more}
					</Button>
				</div>
			)}
		</>
	);
}

const started = (t: NonNullable<AutomationRun["trigger"]>) => t.name ?? t.type.replaceAll("_", " ");

function Results({ run: r }: { run: AutomationRun }) {
	if (r.actions.length === 0) return <NotSet />;
	return (
		<ul className={css.results}>
			{r.actions.map((x, i) => (
				<li key={i}>
					{stepWords.types[x.type as StepType] ?? x.type}: {words.results[x.status]}
					{x.reason && <small>{sentenceFor("", x.reason)}</small>}
				</li>
			))}
		</ul>
	);
}
