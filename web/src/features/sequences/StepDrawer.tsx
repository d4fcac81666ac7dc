import { Suspense } from "react";
import { Link } from "wouter";
import { lazyComponent } from "../../base/lazy";
import { ImmediateErrors } from "../../ui/errorVisibility";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Facts, Callout } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber } from "../../base/words/formats";
import { issuesOf, type View } from "./flowView";
import { type Config, type Step, targetOf, placesOf, stepOf } from "./graph";
import { detailOf, kindOf, labelOf, nameOfKind, problemWords, titleOf } from "./steps";
import { to } from "../../base/paths";

const StepFields = lazyComponent(() => import("./StepFields"));
import { problemAt } from "./problemAt";

const words = catalogue("sequences.stepDrawer", {
	done: "Done",
	close: "Close",
	remove: "Delete",
	problems: "Problems to fix",
	next: "Continues at",
	end: "The path ends",
	readOnly: "Editors can change steps while the sequence is a draft or paused.",
	does: "Settings",
	entered: "Entered",
	waiting: "Here now",
	completed: "Moved on",
	sent: "Sent",
	delivered: "Delivered",
	opened: "Opened by people",
	clicked: "Clicked by people",
	entry: "Open email in library",
});

/** Problems that begin with these paths stand at their fields. */
const shownAtField =
	/^(message_id|version|email_type_key|sending_identity_emails|from_name|reply_to|mta_config_key|tags|amount|unit|event_name|segment_key|node_id|timeout|definition|branches|stage_id|sequence_id|url|headers|body|to|subject|custom_fields|fields|field|at|time|days)\b/;

/** sentenceAt says what is wrong with a field. What is wrong inside a rule stays behind its path, for its condition. */
const sentenceAt = (messages: string[]) => (path: string) => {
	const problem = problemAt(messages)(path);
	return problem && !/^(?:definition|conditions)[\w.[\]]*: /.test(problem)
		? problemWords(`${path}: ${problem}`)
		: problem;
};

type Props = { view: View; step: Step; onChange: (config: Config) => void; onDelete: () => void; onClose: () => void };

/** StepDrawer is the drawer of a step: what it does, and its numbers. */
export function StepDrawer({ view, step, onChange, onDelete, onClose }: Props) {
	const problems = issuesOf(view, step.id);
	const others = problems.filter((problem) => !shownAtField.test(problem.message));
	const counts = view.numbers?.get(step.id);
	const message = step.config.message_id;
	return (
		<Dialog
			drawer="wide"
			title={nameOfKind(kindOf(step).id).name}
			onClose={onClose}
			footer={
				view.editable ? (
					<>
						<Button variant="quiet" onClick={onDelete}>
							{words.remove}
						</Button>
						<Button variant="primary" onClick={onClose}>
							{words.done}
						</Button>
					</>
				) : (
					<Button onClick={onClose}>{words.close}</Button>
				)
			}
		>
			{others.length > 0 && (
				<Callout tone="warning" title={words.problems}>
					<ul>
						{others.map((issue, i) => (
							<li key={i}>{problemWords(issue.message)}</li>
						))}
					</ul>
				</Callout>
			)}
			{view.editable ? (
				<Suspense fallback={<Skeleton rows={6} height={32} />}>
					<ImmediateErrors value={true}>
						<StepFields
							type={step.type}
							config={step.config}
							names={view.names}
							graph={view.graph}
							onChange={onChange}
							problem={sentenceAt(problems.map((problem) => problem.message))}
						/>
					</ImmediateErrors>
				</Suspense>
			) : (
				<>
					<Callout>{words.readOnly}</Callout>
					<Facts
						rows={[
							[
								words.does,
								[titleOf(step, view.names, view.graph), detailOf(step, view.names)].filter(Boolean).join(". "),
							],
							...placesOf(step).map((place): [string, string] => [
								labelOf(step, place.label) || words.next,
								nextOf(view, targetOf(view.graph, place)),
							]),
						]}
					/>
				</>
			)}
			{step.type === "send" && typeof message === "string" && message && (
				<p>
					<Link href={to.entry(message)}>{words.entry}</Link>
				</p>
			)}
			{counts && counts.entered > 0 && (
				<Facts
					rows={[
						[words.entered, exactNumber(counts.entered)],
						[words.waiting, exactNumber(counts.waiting)],
						[words.completed, exactNumber(counts.completed)],
						...(step.type === "send"
							? ([
									[words.sent, exactNumber(counts.sent)],
									[words.delivered, exactNumber(counts.delivered)],
									[words.opened, exactNumber(counts.opened)],
									[words.clicked, exactNumber(counts.clicked)],
								] as [string, string][])
							: []),
					]}
				/>
			)}
		</Dialog>
	);
}

function nextOf(view: View, id: string | null): string {
	const step = stepOf(view.graph, id);
	return step ? titleOf(step, view.names, view.graph) : words.end;
}
