import { Plus, X } from "lucide-react";
import { fieldSentence } from "../../base/words/errors";
import { ownName } from "../../base/words/fieldNames";
import { catalogue } from "../../base/words/catalogue";
import { EventName } from "../rules/EventName";
import type { Group } from "../rules/groups";
import { Button, IconButton } from "../../ui/Button";
import { Combo } from "../../ui/Combo";
import { ImmediateErrors } from "../../ui/errorVisibility";
import { Checkbox } from "../../ui/Field";
import { Callout, Card, Facts } from "../../ui/Page";
import { type Exits, isOfStart, type Start } from "./draft";
import { RuleField } from "./fields/Rule";
import type { View } from "./flowView";
import type { Config } from "./graph";
import css from "./StepFields.module.css";
import { SidePanel } from "./SidePanel";
import { exitsWords, type Names, problemWords, ruleWords, triggerWords } from "./steps";
import { TriggerFields } from "./Trigger";

const words = catalogue("sequences.start", {
	title: "Start",
	start: "Trigger",
	filter: "Who may enter",
	filterText: "Only contacts who match this rule when it starts. Without a rule, everybody.",
	filtered: "Only contacts who match a rule",
	everybody: "Everybody",
	reentry: "Re-entry",
	again: "A contact can enter again after leaving",
	againHelp: "If off, each contact goes through once.",
	once: "Each contact goes through once",
	exits: "Leaving early",
	exitsText: "Contacts who unsubscribe from everything, bounce, report spam or are deleted always leave.",
	exitRule: "When a contact matches a rule",
	exitEvents: "When one of these events happens",
	addEvent: "Add event",
	removeEvent: "Remove event {name}",
	removeUnnamed: "Remove unnamed event",
	exitSegment: "When a contact leaves this segment or list",
	none: "If empty, nobody leaves because of a segment.",
	warnings: "Check whether anybody can enter",
	readOnly: "Editors can change the start while the sequence is a draft or paused.",
	done: "Done",
	close: "Close",
});

type Props = {
	view: View;
	start: Start;
	focus: object | null;
	onChange: (part: Partial<Start>) => void;
	onClose: () => void;
};

/** StartDrawer is the panel of the start: what starts a sequence, who may enter, and what ends it early. */
export default function StartDrawer({ view, start, focus, onChange, onClose }: Props) {
	return (
		<SidePanel
			focus={focus}
			title={words.title}
			onClose={onClose}
			footer={
				<Button variant={view.editable ? "primary" : undefined} onClick={onClose}>
					{view.editable ? words.done : words.close}
				</Button>
			}
		>
			{view.warnings.length > 0 && (
				<Callout tone="warning" title={words.warnings}>
					<ul>
						{view.warnings.map((issue) => (
							<li key={issue.message}>{problemWords(issue.message)}</li>
						))}
					</ul>
				</Callout>
			)}
			{view.editable ? (
				<ImmediateErrors value={true}>
					<StartFields view={view} start={start} onChange={onChange} />
				</ImmediateErrors>
			) : (
				<>
					<Callout>{words.readOnly}</Callout>
					<Facts rows={factsOf(start, view.names)} />
				</>
			)}
		</SidePanel>
	);
}

const factsOf = ({ trigger, exits, allow_reentry }: Start, names: Names): [string, string][] => [
	[words.start, triggerWords(trigger.type, { ...trigger.config, definition: undefined }, names)],
	[words.filter, trigger.config.definition ? ruleWords(trigger.config.definition, names) : words.everybody],
	[words.reentry, allow_reentry ? words.again : words.once],
	[words.exits, [words.exitsText, exitsWords(exits, names)].filter(Boolean).join(" ")],
];

/** problemsOf finds the problems of fields of the start. */
function problemsOf(view: View) {
	const problems = view.issues.filter(isOfStart).map(({ message }) => {
		const [, path = "", text = ""] = /^([\w.[\]-]+): (.*)$/s.exec(message) ?? [];
		return { path, message: text };
	});
	return {
		trigger: (path: string) => {
			const problem = problems.find(
				(problem) =>
					problem.path.startsWith(`entry_trigger.${path}`) ||
					problem.path.startsWith(`entry_trigger.trigger_config.${path}`),
			);
			return problem && fieldSentence(problem, ownName(problem.path));
		},
		/** What is wrong with a rule, behind the path of the condition that it is wrong in. */
		rule: (path: string) =>
			problems
				.map((problem) => `${problem.path}: ${problem.message}`)
				.find((text) => new RegExp(`^${path}(?:: |\\.)definition`).test(text))
				?.replace(/^.*?(?=definition)/, ""),
		exit: (path: string) => {
			const problem = problems.find(
				(problem) => problem.path === "exit_conditions" && problem.message.startsWith(path),
			);
			return problem && problemWords(problem.message);
		},
	};
}

function StartFields({ view, start, onChange }: Pick<Props, "view" | "start" | "onChange">) {
	const { names } = view;
	const { trigger, allow_reentry } = start;
	const problem = problemsOf(view);
	const rule = trigger.config.definition as Group | undefined;
	const config = (part: Config) =>
		onChange({
			trigger: {
				...trigger,
				config: Object.fromEntries(
					Object.entries({ ...trigger.config, ...part }).filter(([, value]) => value !== undefined),
				),
			},
		});
	return (
		<>
			<Card title={words.start}>
				<p className={css.sentence}>
					{triggerWords(trigger.type, { ...trigger.config, definition: undefined }, names)}
				</p>
				<TriggerFields
					type={trigger.type}
					config={trigger.config}
					names={names}
					onChange={(type, config) => onChange({ trigger: { type, config: type ? config : {} } })}
					problem={problem.trigger}
				/>
			</Card>
			{trigger.type !== "" && (
				<Card title={words.filter}>
					<p className={css.help}>{words.filterText}</p>
					<Checkbox
						label={words.filtered}
						checked={rule !== undefined}
						onChange={(checked) => config({ definition: checked ? { logic: "and", conditions: [] } : undefined })}
					/>
					{rule && (
						<RuleField
							value={rule}
							onChange={(definition) => config({ definition })}
							error={problem.rule("entry_trigger.trigger_config")}
						/>
					)}
				</Card>
			)}
			<Card title={words.reentry}>
				<Checkbox
					label={words.again}
					help={words.againHelp}
					checked={allow_reentry}
					onChange={(allow_reentry) => onChange({ allow_reentry })}
				/>
			</Card>
			<ExitFields names={names} exits={start.exits} onChange={(exits) => onChange({ exits })} problem={problem} />
		</>
	);
}

type ExitProps = {
	names: Names;
	exits: Exits;
	onChange: (exits: Exits) => void;
	problem: ReturnType<typeof problemsOf>;
};

function ExitFields({ names, exits, onChange, problem }: ExitProps) {
	const events = exits.events ?? [];
	const set = (part: Partial<Exits>) =>
		onChange(
			Object.fromEntries(
				Object.entries({ ...exits, ...part }).filter(
					([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
				),
			) as Exits,
		);
	return (
		<Card title={words.exits}>
			<p className={css.help}>{words.exitsText}</p>
			<Checkbox
				label={words.exitRule}
				checked={exits.definition !== undefined}
				onChange={(checked) => set({ definition: checked ? { logic: "and", conditions: [] } : undefined })}
			/>
			{exits.definition && (
				<RuleField
					value={exits.definition}
					onChange={(definition) => set({ definition })}
					error={problem.rule("exit_conditions")}
				/>
			)}
			<fieldset className={css.bare}>
				<legend className={css.legend}>{words.exitEvents}</legend>
				{events.map((event, i) => (
					<div key={i} className={css.line}>
						<EventName
							leaf={{ event_name: event.event_name }}
							set={(part) =>
								set({
									events: events.map((event, j) => (j === i ? { ...event, event_name: part.event_name ?? "" } : event)),
								})
							}
							error={problem.exit(`events[${i}]`)}
						/>
						<IconButton
							label={event.event_name ? words.removeEvent({ name: event.event_name }) : words.removeUnnamed}
							icon={<X aria-hidden />}
							onClick={() => set({ events: events.filter((_, j) => j !== i) })}
						/>
					</div>
				))}
				<div>
					<Button
						small
						variant="quiet"
						icon={<Plus aria-hidden />}
						onClick={() => set({ events: [...events, { event_name: "" }] })}
					>
						{words.addEvent}
					</Button>
				</div>
			</fieldset>
			<Combo
				label={words.exitSegment}
				help={words.none}
				options={[...names.segments].map(([id, label]) => ({ id, label }))}
				value={exits.on_segment_left ?? null}
				onChange={(value) => set({ on_segment_left: value ?? undefined })}
				error={problem.exit("on_segment_left")}
			/>
		</Card>
	);
}
