import { useQueryClient } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { request, type Versioned } from "../../api/client";
import type { Sequence } from "../../api/schema";
import { EventName } from "../rules/EventParts";
import type { Group } from "../rules/groups";
import { StartEvent, startEventOf } from "../rules/startEvent";
import { Button, IconButton } from "../../ui/Button";
import { Combo } from "../../ui/Combo";
import { Checkbox, TextField } from "../../ui/Field";
import { FormFooter } from "../../ui/FormFooter";
import { FormProblems } from "../../ui/FormProblems";
import { RestoredCallout, useDraftForm } from "../../ui/draftForm";
import { Card } from "../../ui/Page";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import type { Config } from "./graph";
import { same } from "./graph";
import { RuleField } from "./fields/Rule";
import css from "./StepFields.module.css";
import { type Names, problemWords, triggerWords } from "./steps";
import { TriggerFields } from "./Trigger";
import { fieldSentence } from "../../base/words/errors";
import { ownName } from "../../base/words/fieldNames";
import { within } from "../../base/queries";
import { sequenceQuery } from "./queries";

const words = catalogue("sequences.settings", {
	name: "Name",
	nameLabel: "Sequence name",
	start: "Start",
	filter: "Who may enter",
	filterText: "Only contacts who match this rule when it starts. Without a rule, everybody.",
	filtered: "Only contacts who match a rule",
	reentry: "Re-entry",
	again: "A contact can enter again after leaving",
	againHelp: "If off, each contact goes through once.",
	exits: "Leaving early",
	exitsText: "Contacts who unsubscribe from everything, bounce, report spam or are deleted always leave.",
	exitRule: "When a contact matches a rule",
	exitEvents: "When one of these events happens",
	addEvent: "Add event",
	removeEvent: "Remove event {name}",
	removeUnnamed: "Remove unnamed event",
	exitSegment: "When a contact leaves this segment or list",
	none: "If empty, nobody leaves because of a segment.",
	save: "Save",
	saved: "Saved",
	atOnce: "Changes apply immediately to what happens from now on.",
	clean: "No changes.",
	archived: "An archived sequence is read-only.",
});

type Values = { name: string; allow_reentry: boolean; trigger_type: string; trigger_config: Config; exits: Exits };
type Exits = { definition?: Group; events?: { event_name: string; filters?: unknown }[]; on_segment_left?: string };

const valuesOf = (sequence: Sequence): Values => ({
	name: sequence.name,
	allow_reentry: sequence.allow_reentry,
	trigger_type: String(sequence.entry_trigger?.trigger_type ?? ""),
	trigger_config: (sequence.entry_trigger?.trigger_config as Config | undefined) ?? {},
	exits: (sequence.exit_conditions as Exits | null) ?? {},
});

type Props = {
	server: Versioned<Sequence>;
	names: Names;
	disabledReason?: string;
	onSaved: (saved: Versioned<Sequence>) => void;
};

/** SettingsForm edits what starts a sequence, who may enter, and what ends it early. */
export default function SettingsForm({ server, names, disabledReason: role, onSaved }: Props) {
	const client = useQueryClient();
	const sequence = server.data;
	const disabledReason = role ?? (sequence.status === "archived" ? words.archived : undefined);
	const form = useDraftForm<Values>(valuesOf(sequence), {
		kind: "sequence_settings",
		id: sequence.id,
		title: sequence.name,
		canEdit: !disabledReason,
		read: async () => {
			const response = await request("GET /sequences/{id}", { path: { id: sequence.id } });
			client.setQueryData(sequenceQuery(sequence.id).queryKey, response);
			return { values: valuesOf(response.data), revision: response.revision };
		},
		names: {
			name: words.nameLabel,
			allow_reentry: words.again,
			trigger_type: words.start,
			trigger_config: words.start,
			exits: words.exits,
		},
	});
	const values = form.values;
	const dirty = !same(values, valuesOf(sequence));
	const problems = form.problems.answered ?? [];
	const problemOf = (path: string) => {
		const problem = problems.find(
			(problem) =>
				problem.path.startsWith(`entry_trigger.${path}`) ||
				problem.path.startsWith(`entry_trigger.trigger_config.${path}`),
		);
		return problem && fieldSentence(problem, ownName(problem.path));
	};
	/** What is wrong with a rule, behind the path of the condition that it is wrong in. */
	const ruleProblem = (path: string) => {
		const texts = problems.map((problem) => `${problem.path}: ${problem.message}`);
		return texts
			.find((text) => new RegExp(`^${path}(?:: |\\.)definition`).test(text))
			?.replace(/^.*?(?=definition)/, "");
	};
	const exitProblem = (path: string) => {
		const problem = problems.find(
			(problem) =>
				problem.path.startsWith(`exit_conditions.${path}`) ||
				(problem.path === "exit_conditions" && problem.message.startsWith(path)),
		);
		return (
			problem &&
			(problem.path === "exit_conditions"
				? problemWords(problem.message)
				: fieldSentence(problem, ownName(problem.path)))
		);
	};
	const exits = (part: Partial<Exits>) => {
		const next = { ...values.exits, ...part };
		form.set({
			exits: Object.fromEntries(
				Object.entries(next).filter(
					([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
				),
			) as Exits,
		});
	};
	const save = () =>
		form.submit(async (values, revision) => {
			const response = await request("PUT /sequences/{id}", {
				path: { id: sequence.id },
				revision,
				body: {
					name: values.name,
					allow_reentry: values.allow_reentry,
					entry_trigger: values.trigger_type
						? { trigger_type: values.trigger_type, trigger_config: values.trigger_config }
						: null,
					exit_conditions: Object.keys(values.exits).length > 0 ? { ...values.exits } : null,
				},
			});
			void client.invalidateQueries(within("sequences"));
			onSaved(response);
			toast(words.saved);
		});
	const rule = values.trigger_config.definition as Group | undefined;
	const config = (part: Config) =>
		form.set({
			trigger_config: Object.fromEntries(
				Object.entries({ ...values.trigger_config, ...part }).filter(([, value]) => value !== undefined),
			),
		});
	return (
		<StartEvent value={startEventOf(values.trigger_type, values.trigger_config)}>
			<form
				className={css.form}
				onSubmit={(event) => {
					event.preventDefault();
					if (!disabledReason && dirty) void save();
				}}
			>
				<RestoredCallout form={form} />
				<FormProblems problems={form.problems} />
				<fieldset disabled={disabledReason !== undefined} className={css.bare}>
					<Card title={words.name}>
						<TextField
							label={words.nameLabel}
							hideLabel
							path="name"
							value={values.name}
							onChange={(name) => form.set({ name })}
							error={form.problems.byPath.name}
						/>
					</Card>
					<Card title={words.start}>
						<p className={css.sentence}>
							{triggerWords(values.trigger_type, { ...values.trigger_config, definition: undefined }, names)}
						</p>
						<TriggerFields
							type={values.trigger_type}
							config={values.trigger_config}
							names={names}
							onChange={(trigger_type, trigger_config) =>
								form.set({ trigger_type, trigger_config: trigger_type ? trigger_config : {} })
							}
							problem={problemOf}
						/>
					</Card>
					{values.trigger_type !== "" && (
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
									error={ruleProblem("entry_trigger.trigger_config")}
								/>
							)}
						</Card>
					)}
					<Card title={words.reentry}>
						<Checkbox
							label={words.again}
							help={words.againHelp}
							checked={values.allow_reentry}
							onChange={(allow_reentry) => form.set({ allow_reentry })}
						/>
					</Card>
					<Card title={words.exits}>
						<p className={css.help}>{words.exitsText}</p>
						<Checkbox
							label={words.exitRule}
							checked={values.exits.definition !== undefined}
							onChange={(checked) => exits({ definition: checked ? { logic: "and", conditions: [] } : undefined })}
						/>
						{values.exits.definition && (
							<RuleField
								value={values.exits.definition}
								onChange={(definition) => exits({ definition })}
								error={ruleProblem("exit_conditions")}
							/>
						)}
						<fieldset className={css.bare}>
							<legend className={css.legend}>{words.exitEvents}</legend>
							{(values.exits.events ?? []).map((event, i) => (
								<div key={i} className={css.line}>
									<EventName
										leaf={{ event_name: event.event_name }}
										set={(part) =>
											exits({
												events: (values.exits.events ?? []).map((event, j) =>
													j === i ? { ...event, event_name: part.event_name ?? "" } : event,
												),
											})
										}
										error={exitProblem(`events[${i}]`)}
									/>
									<IconButton
										label={event.event_name ? words.removeEvent({ name: event.event_name }) : words.removeUnnamed}
										icon={<X aria-hidden />}
										onClick={() => exits({ events: (values.exits.events ?? []).filter((_, j) => j !== i) })}
									/>
								</div>
							))}
							<div>
								<Button
									small
									variant="quiet"
									icon={<Plus aria-hidden />}
									onClick={() => exits({ events: [...(values.exits.events ?? []), { event_name: "" }] })}
								>
									{words.addEvent}
								</Button>
							</div>
						</fieldset>
						<Combo
							label={words.exitSegment}
							help={words.none}
							options={[...names.segments].map(([id, label]) => ({ id, label }))}
							value={values.exits.on_segment_left ?? null}
							onChange={(value) => exits({ on_segment_left: value ?? undefined })}
							error={exitProblem("on_segment_left")}
						/>
					</Card>
				</fieldset>
				<FormFooter>
					<Button
						type="submit"
						variant="primary"
						busy={form.busy}
						disabledReason={disabledReason ?? (dirty ? undefined : words.clean)}
					>
						{words.save}
					</Button>
					<span className={css.help}>{words.atOnce}</span>
				</FormFooter>
			</form>
		</StartEvent>
	);
}
