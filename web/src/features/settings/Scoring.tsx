import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { ApiError, api, type FieldProblem, request } from "../../api/client";
import type { ScoringView } from "../../api/schema";
import { useDisabledReason, useWorkspace } from "../../base/session";
import { useShortcuts } from "../../base/shortcuts";
import { EventName } from "../rules/EventName";
import { filterWords, type PropertyFilter } from "../rules/propertyFilters";
import { Properties } from "../rules/Properties";
import { Button, IconButton } from "../../ui/Button";
import { Columns, NumberField, Select, Switch, TextField } from "../../ui/Field";
import { RestoredCallout, useDraftForm } from "../../ui/draftForm";
import { Card, Callout, Page } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { and } from "../../base/words/formats";
import { explain, fieldSentence } from "../../base/words/errors";
import css from "./Settings.module.css";
import { ownName } from "../../base/words/fieldNames";
import { scoringQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("settings.scoring", {
	title: "Scoring",
	settings: "Settings",
	about:
		"Points for what people do. A prospect's points count toward the prospect score, a customer's toward the customer score. When a contact changes from one to the other, the score starts at 0.",
	save: "Save",
	saved: "Saved. Points already given stay.",
	clean: "No changes.",
	problems: "{count, plural, one {Not saved: one field needs attention.} other {Not saved: # fields need attention.}}",
	on: "Scoring is on",
	onHelp: "When off, scores stay as they are and no points are given or taken.",
	rules: "Rules",
	none: "No rules",
	noneText: "A rule gives points for something people do, such as 5 for a click.",
	add: "Add rule",
	edit: "Edit rule: {sentence}",
	done: "Done",
	change: "Edit",
	remove: "Remove rule: {sentence}",
	trigger: "What happened",
	event: "Custom event",
	eventAny: "Any custom event if empty",
	eventType: "Or event type",
	eventTypeHelp: "Counts events whose name or type is this.",
	points: "Points",
	pointsHelp: "Negative to take points away.",
	cap: "Times a day at most",
	capHelp: "No limit if empty.",
	gives:
		"{what}{filtered, select, true { where {conditions}} other {}} gives {points, plural, one {# point} other {# points}}{count, plural, =0 {} one {, at most once a day} other {, at most # times a day}}",
	takes:
		"{what}{filtered, select, true { where {conditions}} other {}} takes {points, plural, one {# point} other {# points}}{count, plural, =0 {} one {, at most once a day} other {, at most # times a day}}",
	bounds: "Limits",
	boundsText:
		"A score always stays between {min, number} and {max, number}. A score outside this range stays until it next changes.",
	min: "Minimum",
	max: "Maximum",
	decay: "Decay",
	percent: "Percent lost",
	days: "After days without activity",
	example:
		"For example, {from, number} points become {a, number} after {daysA, number} days without activity, and {b, number} after {daysB, number}.",
	noDecay: "Scores do not decay.",
	triggers: {
		email_delivered: "An email is delivered",
		email_opened: "An email is opened by a person",
		email_clicked: "A person clicks a link",
		email_bounced: "An email bounces",
		email_complained: "A spam complaint",
		email_unsubscribed: "An unsubscribe",
		page_viewed: "A page view",
		form_submitted: "A form submission",
		event: "A custom event",
		contact_created: "A new contact",
		tag_added: "A tag is added",
		tag_removed: "A tag is removed",
		list_added: "Joining a list",
		list_removed: "Leaving a list",
		subscription_changed: "A subscription changes",
		stage_changed: "The stage changes",
		sequence_enrolled: "Entering a sequence",
		sequence_completed: "Completing a sequence",
		sequence_exited: "Leaving a sequence early",
	},
	named: "The event {name}",
});

type Rule = ScoringView["rules"][number];

const triggerName = (trigger: string) => (words.triggers as { [key: string]: string })[trigger] ?? trigger;

/** sentenceOf writes a rule as people say it: "A verified open gives 1 point, at most 3 times a day". */
function sentenceOf(r: Rule): string {
	const name = r.match.event_name || r.match.type;
	const triggerText = r.trigger === "event" && name ? words.named({ name }) : triggerName(r.trigger);
	const filters = (r.match.filters ?? []) as PropertyFilter[];
	const points = r.points || 0;
	return (points < 0 ? words.takes : words.gives)({
		what: triggerText,
		filtered: filters.length > 0,
		conditions: and(filters.map(filterWords)),
		points: Math.abs(points),
		count: r.daily_cap || 0,
	});
}

/** What the server reports of a field that has no number. */
const noNumber = "must be a number";

/** emptyIn returns the fields that have no number. */
function emptyIn({ rules, min, max, decay }: ScoringView): FieldProblem[] {
	const numbers: [string, number][] = [
		...rules.map((rule, i): [string, number] => [`rules[${i}].points`, rule.points]),
		["min", min],
		["max", max],
		["decay.percent", decay.percent],
		["decay.after_days", decay.after_days],
	];
	return numbers.filter(([, number]) => Number.isNaN(number)).map(([path]) => ({ path, message: noNumber }));
}

/** Scoring is the page of the rules that give points to contacts. */
export default function Scoring() {
	const scoring = useQuery(scoringQuery());
	if (scoring.isPending || scoring.isError) {
		return (
			<Page title={words.title} breadcrumbs={[{ name: words.settings, to: to.settings() }]} description={words.about}>
				{scoring.isPending ? (
					<Skeleton rows={8} />
				) : (
					<Failure error={scoring.error} retry={() => void scoring.refetch()} />
				)}
			</Page>
		);
	}
	return <Form saved={scoring.data} />;
}

function Form({ saved }: { saved: ScoringView }) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("PUT /settings/scoring");
	const workspace = useWorkspace();
	const form = useDraftForm(saved, {
		kind: "scoring",
		id: workspace?.tenant_id,
		title: words.title,
		canEdit: !disabledReason,
		read: async () => {
			const response = await request("GET /settings/scoring", {});
			return { values: response.data, revision: response.revision };
		},
		names: { enabled: words.on, rules: words.rules, min: words.min, max: words.max, decay: words.decay },
	});
	const { values: now, dirty, busy } = form;
	const [open, setOpen] = useState<number | null>(null);
	const [problems, setProblems] = useState<FieldProblem[]>([]);
	const [error, setError] = useState("");
	const set = (changes: Partial<ScoringView>) => {
		setProblems((previous) =>
			previous.filter((problem) => !Object.keys(changes).some((part) => problem.path.startsWith(part))),
		);
		form.set(changes);
	};
	const setRules = (rules: Rule[]) => set({ rules });
	const errorOf = (path: string) => {
		const problem = problems.find((problem) => problem.path === path);
		return problem && fieldSentence(problem, ownName(path));
	};
	const refuse = (fields: FieldProblem[], text: string) => {
		setProblems(fields);
		setError(text);
		const match = /^rules\[(\d+)\]/.exec(fields[0]?.path ?? "");
		if (match) setOpen(Number(match[1]));
	};
	const save = async () => {
		setError("");
		setProblems([]);
		const empty = emptyIn(now);
		if (empty.length > 0) return refuse(empty, words.problems({ count: empty.length }));
		await form.submit(async (values, revision) => {
			try {
				const rules = values.rules.map((rule) => ({ ...rule, id: rule.id || undefined }));
				client.setQueryData(
					scoringQuery().queryKey,
					await api("PUT /settings/scoring", { body: { ...values, rules }, revision }),
				);
				toast(words.saved);
			} catch (error) {
				if (error instanceof ApiError && error.code === "REVISION_CONFLICT") throw error; // the form joins both changes
				const fields = error instanceof ApiError ? error.fields : [];
				refuse(fields, fields.length > 0 ? words.problems({ count: fields.length }) : explain(error));
				throw error;
			}
		});
	};
	useShortcuts({ "mod+s": () => dirty && !disabledReason && !busy && void save() });
	const { after_days: days, percent } = now.decay;
	const decayOnce = (score: number) => Math.floor((score * (100 - percent)) / 100);
	const example = Math.min(500, now.max);
	const decays = percent > 0 && percent <= 100 && days >= 1 && example > 0;
	return (
		<Page
			title={words.title}
			breadcrumbs={[{ name: words.settings, to: to.settings() }]}
			description={words.about}
			actions={
				<Button
					variant="primary"
					busy={busy}
					disabledReason={disabledReason ?? (dirty ? undefined : words.clean)}
					onClick={() => void save()}
				>
					{words.save}
				</Button>
			}
		>
			<RestoredCallout form={form} />
			{error && <Callout tone="danger" title={error} />}
			<Card>
				<Switch
					label={words.on}
					help={words.onHelp}
					disabledReason={disabledReason}
					checked={now.enabled}
					onChange={(enabled) => set({ enabled })}
				/>
			</Card>
			<Card
				title={words.rules}
				actions={
					<Button
						small
						icon={<Plus aria-hidden />}
						disabledReason={disabledReason}
						onClick={() => {
							setRules([...now.rules, { id: "", trigger: "email_clicked", match: {}, points: 5 }]);
							setOpen(now.rules.length);
						}}
					>
						{words.add}
					</Button>
				}
			>
				{now.rules.length === 0 ? (
					<Empty title={words.none}>{words.noneText}</Empty>
				) : (
					<ol className={css.sentences}>
						{now.rules.map((rule, i) => {
							const sentence = sentenceOf(rule);
							return (
								<li key={rule.id || i}>
									<p>
										<span>{sentence}.</span>
										<Button
											small
											variant="quiet"
											disabledReason={disabledReason}
											aria-expanded={open === i}
											aria-label={words.edit({ sentence })}
											onClick={() => setOpen(open === i ? null : i)}
										>
											{open === i ? words.done : words.change}
										</Button>
										<IconButton
											small
											label={words.remove({ sentence })}
											icon={<Trash2 aria-hidden />}
											disabledReason={disabledReason}
											onClick={() => {
												const before = now.rules;
												setOpen(null);
												setRules(now.rules.filter((_, j) => j !== i));
												toast(sentence, { undo: () => setRules(before) });
											}}
										/>
									</p>
									{open === i && (
										<RuleEditor
											rule={rule}
											onChange={(next) => setRules(now.rules.map((old, j) => (j === i ? next : old)))}
											errorOf={(part) => errorOf(`rules[${i}].${part}`)}
										/>
									)}
								</li>
							);
						})}
					</ol>
				)}
			</Card>
			<Card title={words.bounds}>
				{now.min < now.max && <p className={css.muted}>{words.boundsText({ min: now.min, max: now.max })}</p>}
				<Columns>
					<NumberField
						label={words.min}
						readOnly={Boolean(disabledReason)}
						value={now.min}
						onChange={(min) => set({ min })}
						error={errorOf("min")}
					/>
					<NumberField
						label={words.max}
						readOnly={Boolean(disabledReason)}
						value={now.max}
						onChange={(max) => set({ max })}
						error={errorOf("max")}
					/>
				</Columns>
			</Card>
			<Card title={words.decay}>
				<p className={css.muted} role="status">
					{decays
						? words.example({
								from: example,
								a: decayOnce(example),
								daysA: days,
								b: decayOnce(decayOnce(example)),
								daysB: 2 * days,
							})
						: percent === 0
							? words.noDecay
							: null}
				</p>
				<Columns>
					<NumberField
						label={words.percent}
						min={0}
						max={100}
						readOnly={Boolean(disabledReason)}
						value={percent}
						onChange={(value) => set({ decay: { after_days: days, percent: value } })}
						error={errorOf("decay.percent")}
					/>
					<NumberField
						label={words.days}
						min={1}
						readOnly={Boolean(disabledReason)}
						value={days}
						onChange={(value) => set({ decay: { after_days: value, percent } })}
						error={errorOf("decay.after_days")}
					/>
				</Columns>
			</Card>
		</Page>
	);
}

function RuleEditor({
	rule,
	onChange,
	errorOf,
}: {
	rule: Rule;
	onChange: (rule: Rule) => void;
	errorOf: (part: string) => string | undefined;
}) {
	const match = (changes: Partial<Rule["match"]>) => onChange({ ...rule, match: { ...rule.match, ...changes } });
	const event = rule.trigger === "event";
	return (
		<div className={css.ruleEditor}>
			<Columns>
				<Select
					label={words.trigger}
					value={rule.trigger}
					onChange={(trigger) =>
						onChange({ ...rule, trigger, match: trigger === "event" ? rule.match : { filters: rule.match.filters } })
					}
					choices={Object.entries(words.triggers).map(([value, label]) => ({ value, label }))}
					error={errorOf("trigger")}
				/>
				<NumberField
					label={words.points}
					help={words.pointsHelp}
					value={rule.points}
					onChange={(points) => onChange({ ...rule, points })}
					error={errorOf("points")}
				/>
				<NumberField
					label={words.cap}
					min={1}
					help={words.capHelp}
					value={rule.daily_cap}
					onChange={(value) => onChange({ ...rule, daily_cap: Number.isNaN(value) ? undefined : value })}
					error={errorOf("daily_cap")}
				/>
			</Columns>
			{event && (
				<Columns>
					<EventName
						leaf={{ event_name: rule.match.event_name ?? "" }}
						set={({ event_name }) => match({ event_name: event_name || undefined })}
						error={errorOf("match.event_name")}
					/>
					<TextField
						label={words.eventType}
						help={words.eventTypeHelp}
						value={rule.match.type ?? ""}
						onChange={(type) => match({ type: type || undefined })}
						error={errorOf("match.type")}
					/>
				</Columns>
			)}
			<Properties
				eventName={event ? rule.match.event_name : undefined}
				filters={(rule.match.filters ?? []) as PropertyFilter[]}
				onChange={(filters) => match({ filters: filters as Rule["match"]["filters"] })}
				errorOf={(i) =>
					errorOf(`match.filters[${i}]`) ??
					["property", "operator", "value"].map((part) => errorOf(`match.filters[${i}].${part}`)).find(Boolean)
				}
			/>
		</div>
	);
}
