import { Suspense, useState } from "react";
import type { ContentBody } from "../../api/schema";
import { lazyComponent } from "../../base/lazy";
import { useParams } from "../../base/params";
import { ImmediateErrors } from "../../ui/errorVisibility";
import { Button } from "../../ui/Button";
import { Facts, Callout } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber } from "../../base/words/formats";
import { issuesOf, type View } from "./flowView";
import { type Config, type Step, targetOf, placesOf, stepOf } from "./graph";
import { detailOf, kindOf, labelOf, nameOfKind, problemWords, titleOf } from "./steps";
import { mailOf, withMail } from "./mail/mailOfStep";
import { problemAt } from "./problemAt";
import { SidePanel } from "./SidePanel";

const StepFields = lazyComponent(() => import("./StepFields"));
const StepMail = lazyComponent(() => import("./mail/StepMail"));
const NewMail = lazyComponent(() => import("./mail/NewMail"));
const EditMail = lazyComponent(() => import("./mail/EditMail"));

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

type Props = {
	view: View;
	step: Step;
	/** The name of the sequence. */
	sequence: string;
	focus: object | null;
	onChange: (config: Config) => void;
	/** Called when a version of the mail was saved, which may have been what was wrong with the step. */
	onMailSaved: () => void;
	onDelete: () => void;
	onClose: () => void;
};

/** StepDrawer is the panel of a step: what it does, and its numbers. The mail that it sends is written there, too. */
export function StepDrawer(props: Props) {
	const { view, step } = props;
	const [params, setParams] = useParams();
	const writes = params.get("mail") ?? "";
	const [written, setWritten] = useState(writes); // what was written when it was last shown
	const [wrote, setWrote] = useState<object | null>(null);
	const message = step.type === "send" ? mailOf(step.config) : "";
	// What a mail begins with that was just made, until it is left: it is kept as unsaved work then.
	const [beginning, setBeginning] = useState<ContentBody | undefined>();
	// A mail is left by its panel or with the browser's Back.
	if (writes !== written) {
		setWritten(writes);
		if (writes === "") {
			setWrote({});
			setBeginning(undefined);
		}
	}
	const back = () => setParams({ mail: null });
	if (step.type === "send" && writes === "new" && view.editable)
		return (
			<Suspense>
				<NewMail
					onCreated={(id, content) => {
						props.onChange(withMail(step.config, id));
						setBeginning(content);
						setParams({ mail: "edit" }, { replace: true }); // Back does not make another
					}}
					onClose={back}
				/>
			</Suspense>
		);
	if (message && writes === "edit")
		return (
			<Suspense>
				<EditMail
					key={message}
					id={message}
					view={view}
					step={step}
					sequence={props.sequence}
					beginning={beginning}
					onSaved={props.onMailSaved}
					onClose={back}
				/>
			</Suspense>
		);
	return <Settings {...props} focus={wrote ?? props.focus} onWrite={(mail) => setParams({ mail })} />;
}

type SettingsProps = Props & {
	/** Opens what writes the mail of the step. */
	onWrite: (what: "new" | "edit") => void;
};

function Settings({ view, step, focus, onChange, onDelete, onClose, onWrite }: SettingsProps) {
	const problems = issuesOf(view, step.id);
	const others = problems.filter((problem) => !shownAtField.test(problem.message));
	const counts = view.numbers?.get(step.id);
	const sentence = sentenceAt(problems.map((problem) => problem.message));
	return (
		<SidePanel
			title={nameOfKind(kindOf(step).id).name}
			focus={focus}
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
			{!view.editable && <Callout>{words.readOnly}</Callout>}
			{step.type === "send" && (
				<Suspense fallback={<Skeleton rows={8} height={32} />}>
					<StepMail
						config={step.config}
						editable={view.editable}
						problem={sentence}
						onChange={onChange}
						onWrite={onWrite}
					/>
				</Suspense>
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
							problem={sentence}
						/>
					</ImmediateErrors>
				</Suspense>
			) : (
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
		</SidePanel>
	);
}

function nextOf(view: View, id: string | null): string {
	const step = stepOf(view.graph, id);
	return step ? titleOf(step, view.names, view.graph) : words.end;
}
