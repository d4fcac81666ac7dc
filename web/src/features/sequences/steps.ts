import { choiceName } from "../rules/choiceName";
import { type FieldInfo, operatorName, shapeOf } from "../rules/fields";
import { eventSequenceWords } from "../rules/eventSequence";
import { type Condition, type Group, isGroup } from "../rules/groups";
import type { Leaf } from "../rules/leaves";
import { filterWords, type PropertyFilter } from "../rules/propertyFilters";
import { catalogue } from "../../base/words/catalogue";
import { and, dateTime, percent } from "../../base/words/formats";
import type { Exits } from "./draft";
import type { Config, Graph, Step, StepType } from "./graph";
import { fieldName } from "../../base/words/fieldNames";
import { fieldSentence, sentenceFor } from "../../base/words/errors";

// What steps are called, and what they do in words.

export const stepWords = catalogue("sequences.steps", {
	types: {
		send: "Send an email",
		wait: "Wait",
		condition: "Yes or no",
		branch: "Several paths",
		split: "Random split",
		list: "Change a list",
		tag: "Change tags",
		update_contact: "Change fields",
		stage: "Change the stage",
		subscription: "Change a subscription",
		event: "Record an event",
		webhook: "Call a webhook",
		notify: "Notify the team",
		enroll: "Start another sequence",
		goal: "Goal",
		exit: "Exit",
	},
	groups: { send: "Send", wait: "Wait", decide: "Decide", contact: "Contact", outside: "Outside", end: "End" },
	kinds: {
		send: { name: "Send an email", help: "A library email, to people who may get it" },
		duration: { name: "Wait for a time", help: "Minutes, hours, days or weeks" },
		until_time: { name: "Wait until a time of day", help: "For example 09:00 on a weekday" },
		until_date: { name: "Wait until a date", help: "Fixed, or from a contact field" },
		until_event: { name: "Wait until an event", help: "Or continue after some time" },
		until_segment: { name: "Wait until in a segment", help: "Or until not in it, or continue after some time" },
		until_engagement: {
			name: "Wait until opened or clicked",
			help: "An email in this sequence, or continue after some time",
		},
		condition: { name: "Yes or no", help: "Two paths, by a rule" },
		branch: { name: "Several paths", help: "The first matching rule decides" },
		split: { name: "Random split", help: "By share. A person always takes the same path" },
		list: { name: "Change a list", help: "Add to or remove from a list" },
		tag: { name: "Change tags", help: "Add or remove tags" },
		update_contact: { name: "Change fields", help: "Fixed values, or values with Liquid" },
		stage: { name: "Change the stage", help: "Move the contact to a stage" },
		subscription: { name: "Change a subscription", help: "Subscribe to or unsubscribe from an email type" },
		event: { name: "Record an event", help: "In the contact's timeline. It can start other sequences" },
		webhook: { name: "Call a webhook", help: "Notify another program, without waiting for an answer" },
		notify: { name: "Notify the team", help: "An email to members of this workspace" },
		enroll: { name: "Start another sequence", help: "The contact also continues here" },
		goal: { name: "Goal", help: "Contacts who match jump here from anywhere and count as converted" },
		exit: { name: "Exit", help: "The path ends here" },
	},
	units: {
		minute: "{count, plural, one {# minute} other {# minutes}}",
		hour: "{count, plural, one {# hour} other {# hours}}",
		day: "{count, plural, one {# day} other {# days}}",
		week: "{count, plural, one {# week} other {# weeks}}",
		month: "{count, plural, one {# month} other {# months}}",
		year: "{count, plural, one {# year} other {# years}}",
	},
	unitNames: { minute: "minutes", hour: "hours", day: "days", week: "weeks", month: "months", year: "years" },
	days: { 1: "Monday", 2: "Tuesday", 3: "Wednesday", 4: "Thursday", 5: "Friday", 6: "Saturday", 7: "Sunday" },
	shortDays: { 1: "Mon", 2: "Tue", 3: "Wed", 4: "Thu", 5: "Fri", 6: "Sat", 7: "Sun" },
	weekdays: "weekdays",
	everyDay: "every day",
	something: "…",
	sendTitle: "Send {mail}",
	as: "As {type}",
	window: "{days}, {start} to {end}",
	wait: "Wait {time}",
	untilTime: "Wait until {time}, {days}",
	untilAt: "Wait until {at}",
	untilField: "Wait until {field}",
	offset: {
		before: "{span} before {field}",
		after: "{span} after {field}",
	},
	untilEvent: "Wait until {name}",
	untilIn: "Wait until in {segment}",
	untilOut: "Wait until not in {segment}",
	untilEngaged: {
		opened: "Wait until {mail} is opened",
		clicked: "Wait until {mail} is clicked",
	},
	atMost: "Up to {span}",
	ifRule: "{rule}?",
	ways: "{count, plural, one {# path and everybody else} other {# paths and everybody else}}",
	shares: "Split {list}",
	addTo: "Add to {list}",
	removeFrom: "Remove from {list}",
	addTags: "Add {tags}",
	removeTags: "Remove {tags}",
	setFields: "Set {names}",
	moveTo: "Move to {stage}",
	subscribe: "Subscribe to {type}",
	unsubscribe: "Unsubscribe from {type}",
	record: "Record {event}",
	call: "Call {host}",
	notify: "Notify {who}",
	enroll: "Start {sequence}",
	goal: "Goal: {rule}",
	exit: "Exit",
	met: { until_event: "It happens", until_segment: "In time", opened: "Opened", clicked: "Clicked" },
	paths: {
		message_id: "Email",
		email_type_key: "Email type",
		segment_key: "List or segment",
		tags: "Tags",
		stage_id: "Stage",
		event_name: "Event",
		url: "URL",
		to: "To",
		subject: "Subject",
		body: "Text",
		sequence_id: "Sequence",
		node_id: "Email",
		field: "Field",
		definition: "Rule",
		timeout: "Time limit",
		amount: "How long",
		days: "Days",
		send_window: "Times",
		reply_to: "Reply to",
		branches: "Paths",
	},
	labels: { true: "Yes", false: "No", else: "Everybody else", met: "It happens" },
	timeout: "Not within {span}",
	timeoutPlain: "Not in time",
	rule: {
		none: "no condition yet",
		and: " and ",
		or: " or ",
		not: "not ({rule})",
		many: "{count, plural, one {# condition} other {# conditions}}",
		list: "list",
		segment: "segment",
		email: "email",
		broadcast: "broadcast",
		sequence_email: "email of a sequence",
		event: "event {name}",
		page: "page view",
		form: "form",
		subscription: "subscription",
		sequence: "sequence",
		suppression: "suppression list",
		trigger: "a property of its event",
		triggerWith: "its event has {filter}",
	},
	exits: {
		rule: "When it holds: {rule}.",
		events: "When one of these events happens: {events}.",
		segment: "When a contact leaves {segment}.",
	},
	triggers: {
		none: "Only manually, by an automation or through the API",
		event: "When {name} happens",
		eventWhere: "When {name} happens, where {filters}",
		segment_entered: "When a contact enters {segment}",
		segment_left: "When a contact leaves {segment}",
		list_added: "When a contact is added to {segment}",
		form_submitted: "When {form} is submitted",
		tag_added: "When the tag {tag} is added",
		stage_changed: "When the stage becomes {stage}",
		stageFrom: "When the stage changes from {from} to {to}",
		contact_created: "When a contact is created",
		contactFrom: "When a contact is created by {source}",
		field_changed: "When {field} changes",
		fieldTo: "When {field} becomes {value}",
		date: "On the day of {field}",
		dateOffset: {
			before: "{span} before {field}",
			after: "{span} after {field}",
		},
		yearly: "{what}, each year",
		opened: "When an email is opened",
		clicked: "When a link in an email is clicked",
		openedOf: "When {broadcast} is opened",
		clickedOf: "When a link in {broadcast} is clicked",
		filtered: "{trigger}, if {rule}",
	},
});

export type MenuGroup = keyof typeof stepWords.groups;

/** Kind is what the step menu offers: a type of step, and of waits each mode. */
export type Kind = { id: string; type: StepType; group: MenuGroup; config: () => Config };

const timeout = { amount: 3, unit: "day" };

/** definition is a rule without conditions. */
const definition = () => ({ logic: "and", conditions: [] });

export const kinds: Kind[] = [
	{ id: "send", type: "send", group: "send", config: () => ({}) },
	{
		id: "duration",
		type: "wait",
		group: "wait",
		config: () => ({ mode: "duration", amount: 1, unit: "day" }),
	},
	{
		id: "until_time",
		type: "wait",
		group: "wait",
		config: () => ({ mode: "until_time", days: [1, 2, 3, 4, 5], time: "09:00", timezone: "contact" }),
	},
	{
		id: "until_date",
		type: "wait",
		group: "wait",
		config: () => ({ mode: "until_date", field: "" }),
	},
	{
		id: "until_event",
		type: "wait",
		group: "wait",
		config: () => ({ mode: "until_event", event_name: "", timeout }),
	},
	{
		id: "until_segment",
		type: "wait",
		group: "wait",
		config: () => ({ mode: "until_segment", segment_key: "", state: "in", timeout }),
	},
	{
		id: "until_engagement",
		type: "wait",
		group: "wait",
		config: () => ({ mode: "until_engagement", node_id: "", event: "clicked", timeout }),
	},
	{
		id: "condition",
		type: "condition",
		group: "decide",
		config: () => ({ definition: definition() }),
	},
	{
		id: "branch",
		type: "branch",
		group: "decide",
		config: () => ({ branches: [{ label: "A", definition: definition() }] }),
	},
	{
		id: "split",
		type: "split",
		group: "decide",
		config: () => ({
			branches: [
				{ label: "A", weight: 50 },
				{ label: "B", weight: 50 },
			],
		}),
	},
	{ id: "list", type: "list", group: "contact", config: () => ({ action: "add", segment_key: "" }) },
	{ id: "tag", type: "tag", group: "contact", config: () => ({ action: "add", tags: [] }) },
	{ id: "update_contact", type: "update_contact", group: "contact", config: () => ({ fields: {} }) },
	{ id: "stage", type: "stage", group: "contact", config: () => ({}) },
	{
		id: "subscription",
		type: "subscription",
		group: "contact",
		config: () => ({ action: "subscribe", email_type_key: "" }),
	},
	{ id: "event", type: "event", group: "contact", config: () => ({ event_name: "" }) },
	{ id: "webhook", type: "webhook", group: "outside", config: () => ({ url: "" }) },
	{ id: "notify", type: "notify", group: "outside", config: () => ({ to: [], subject: "", body: "" }) },
	{ id: "enroll", type: "enroll", group: "outside", config: () => ({}) },
	{ id: "goal", type: "goal", group: "end", config: () => ({ definition: definition() }) },
	{ id: "exit", type: "exit", group: "end", config: () => ({}) },
];

/** kindOf returns the kind of a step. */
export const kindOf = (step: Pick<Step, "type" | "config">): Kind =>
	(kinds.find((kind) => kind.type === step.type && (step.type !== "wait" || kind.id === step.config.mode)) ??
		kinds.find((kind) => kind.type === step.type) ??
		kinds[0]) as Kind;

/** nameOfKind returns the name of a kind, and what it does. */
export const nameOfKind = (id: string): { name: string; help: string } => {
	return (stepWords.kinds as { [kind: string]: { name: string; help: string } })[id] ?? { name: id, help: "" };
};

/** newId returns an id for a step. It is never used again, so that numbers and people of a step that was removed do not belong to another. */
export const newId = (type: StepType) =>
	`${type}_${[...crypto.getRandomValues(new Uint8Array(5))].map((byte) => (byte % 36).toString(36)).join("")}`;

/** Names are the names of records that steps refer to. */
export type Names = {
	messages: Map<string, string>;
	types: Map<string, string>;
	segments: Map<string, string>;
	stages: Map<string, string>;
	sequences: Map<string, string>;
	forms: Map<string, string>;
	fields: FieldInfo[];
};

const w = stepWords;
const textOf = (value: unknown): string =>
	typeof value === "string" || typeof value === "number" ? String(value) : "";
const nameIn = (map: Map<string, string>, id: unknown): string =>
	id ? (map.get(String(id)) ?? String(id)) : w.something;

/** spanWords writes a time: "2 days". */
export function spanWords(value: unknown): string {
	const span = (value ?? {}) as { amount?: number; unit?: string };
	const unit = w.units[(span.unit ?? "day") as keyof typeof w.units];
	return unit ? unit({ count: Number(span.amount ?? 0) }) : `${span.amount} ${span.unit}`;
}

/** daysWords writes days of the week. */
export function daysWords(value: unknown): string {
	const days = (Array.isArray(value) ? (value as number[]) : []).toSorted((a, b) => a - b);
	if (days.length === 7) return w.everyDay;
	if (days.join() === "1,2,3,4,5") return w.weekdays;
	if (days.length === 0) return w.something;
	return and(days.map((day) => w.shortDays[day as keyof typeof w.shortDays] ?? String(day)));
}

/** fieldWords returns the name of a field of contacts. */
export const fieldWords = (names: Names, field: unknown): string =>
	field
		? (names.fields.find((f) => f.field === field || f.field === `custom_fields.${field}`)?.name ?? String(field))
		: w.something;

const valueWords = (field: FieldInfo | undefined, value: unknown): string => {
	if (Array.isArray(value)) return value.map((item) => valueWords(field, item)).join(", ");
	if (typeof value === "object" && value !== null) return spanWords(value);
	return choiceName(field, String(value ?? ""));
};

function leafWords(leaf: Leaf, names: Names): string {
	const catalogue = w.rule;
	switch (leaf.type ?? "field") {
		case "field": {
			const field = names.fields.find((field) => field.field === leaf.field);
			const value = shapeOf(leaf.operator ?? "") === "none" ? "" : valueWords(field, leaf.value);
			return [field?.name ?? leaf.field, operatorName(leaf.operator ?? ""), value].filter(Boolean).join(" ");
		}
		case "list":
		case "segment":
			return `${leaf.operator === "not_in" ? operatorName("not_in") : operatorName("in")} ${(leaf.segment_keys ?? []).map((key) => names.segments.get(key) ?? key).join(", ") || catalogue[leaf.type as "list"]}`;
		case "event":
			return catalogue.event({ name: leaf.event_name || w.something });
		case "event_sequence":
			return eventSequenceWords(leaf);
		case "page_view":
			return `${catalogue.page} ${leaf.url ?? ""}`;
		case "trigger_event":
			return (leaf as { property?: string }).property
				? catalogue.triggerWith({
						filter: filterWords({
							property: String((leaf as { property?: string }).property),
							operator: leaf.operator ?? "equals",
							value: leaf.value,
						}),
					})
				: catalogue.trigger;
		default:
			return (catalogue as unknown as { [key: string]: string })[leaf.type ?? ""] ?? String(leaf.type);
	}
}

/** ruleWords writes a short rule in words, and counts the conditions of a long one. */
export function ruleWords(value: unknown, names: Names): string {
	const group = value as Group | undefined;
	if (!group || !Array.isArray(group.conditions) || group.conditions.length === 0) return w.rule.none;
	const leaves = (condition: Condition): number =>
		isGroup(condition) ? condition.conditions.reduce((sum, condition) => sum + leaves(condition), 0) : 1;
	const isShort = group.conditions.length <= 2 && group.conditions.every((condition) => !isGroup(condition));
	const text = isShort
		? group.conditions
				.map((condition) => leafWords(condition as Leaf, names))
				.join(group.logic === "or" ? w.rule.or : w.rule.and)
		: w.rule.many({ count: leaves(group) });
	return group.negate ? w.rule.not({ rule: text }) : text;
}

const dateText = (
	config: Config,
	names: Names,
	withoutOffset: (values: { field: string }) => string,
	offset: { [D in "before" | "after"]: (values: { span: string; field: string }) => string },
) => {
	const o = config.offset as { amount?: number; unit?: string; direction?: "before" | "after" } | undefined;
	const field = fieldWords(names, config.field);
	return o?.amount ? offset[o.direction ?? "before"]({ span: spanWords(o), field }) : withoutOffset({ field });
};

function waitTitle(config: Config, names: Names, graph?: Graph): string {
	switch (config.mode) {
		case "until_time":
			return w.untilTime({ time: textOf(config.time), days: daysWords(config.days) });
		case "until_date":
			if (typeof config.at === "string") return w.untilAt({ at: config.at ? dateTime(config.at) : w.something });
			return dateText(config, names, w.untilField, {
				before: (values) => w.untilField({ field: w.offset.before(values) }),
				after: (values) => w.untilField({ field: w.offset.after(values) }),
			});
		case "until_event":
			return w.untilEvent({ name: textOf(config.event_name) || w.something });
		case "until_segment":
			return (config.state === "not_in" ? w.untilOut : w.untilIn)({
				segment: nameIn(names.segments, config.segment_key),
			});
		case "until_engagement": {
			const send = graph?.steps.find((step) => step.id === config.node_id);
			return w.untilEngaged[config.event === "opened" ? "opened" : "clicked"]({
				mail: send ? nameIn(names.messages, send.config.message_id) : w.something,
			});
		}
		default:
			return w.wait({ time: spanWords(config) });
	}
}

/** problemWords writes a problem of the server with the name of the field instead of its path. */
export function problemWords(message: string): string {
	const [, path = "", separator = "", rest = ""] =
		/^(\w+[\w.[\]-]*)(:?) ((?:must|is|has|cannot|names|needs|required|at most|no |there is) ?.*)$/s.exec(message) ?? [];
	const name = (w.paths as { [path: string]: string })[path];
	if (!path || (!name && !separator && !/[_.[]/.test(path))) return sentenceFor("INVALID_GRAPH", message);
	return fieldSentence({ path, message: rest }, name ?? fieldName(path));
}

/** titleOf says what a step does. */
export function titleOf(step: Pick<Step, "type" | "config">, names: Names, graph?: Graph): string {
	const config = step.config;
	const words = (value: unknown) => (Array.isArray(value) && value.length > 0 ? and(value.map(String)) : w.something);
	switch (step.type) {
		case "send":
			return w.sendTitle({ mail: nameIn(names.messages, config.message_id) });
		case "wait":
			return waitTitle(config, names, graph);
		case "condition":
			return w.ifRule({ rule: ruleWords(config.definition, names) });
		case "branch":
			return w.ways({ count: Array.isArray(config.branches) ? config.branches.length : 0 });
		case "split": {
			const list = (Array.isArray(config.branches) ? config.branches : []) as { label: string; weight: number }[];
			const sum = list.reduce((sum, branch) => sum + (Number(branch.weight) || 0), 0) || 1;
			return w.shares({
				list: list.map((branch) => percent((Number(branch.weight) || 0) / sum, 0)).join(" / "),
			});
		}
		case "list":
			return (config.action === "remove" ? w.removeFrom : w.addTo)({
				list: nameIn(names.segments, config.segment_key),
			});
		case "tag":
			return (config.action === "remove" ? w.removeTags : w.addTags)({ tags: words(config.tags) });
		case "update_contact": {
			const all = [
				...Object.keys((config.fields as object) ?? {}),
				...Object.keys((config.custom_fields as object) ?? {}),
			];
			return w.setFields({ names: all.length > 0 ? and(all.map((field) => fieldWords(names, field))) : w.something });
		}
		case "stage":
			return w.moveTo({ stage: nameIn(names.stages, config.stage_id) });
		case "subscription":
			return (config.action === "unsubscribe" ? w.unsubscribe : w.subscribe)({
				type: nameIn(names.types, config.email_type_key),
			});
		case "event":
			return w.record({ event: textOf(config.event_name) || w.something });
		case "webhook": {
			let host = textOf(config.url) || w.something;
			try {
				host = new URL(host).host;
			} catch {
				// Not an address yet.
			}
			return w.call({ host });
		}
		case "notify":
			return w.notify({ who: words(config.to) });
		case "enroll":
			return w.enroll({ sequence: nameIn(names.sequences, config.sequence_id) });
		case "goal":
			return w.goal({ rule: ruleWords(config.definition, names) });
		default:
			return w.exit;
	}
}

/** detailOf adds what the title of a step leaves out; may be empty. */
export function detailOf(step: Pick<Step, "type" | "config">, names: Names): string {
	const config = step.config;
	if (step.type === "send") {
		const window = config.send_window as { days?: number[]; start?: string; end?: string } | undefined;
		return [
			config.email_type_key ? w.as({ type: nameIn(names.types, config.email_type_key) }) : "",
			window ? w.window({ days: daysWords(window.days), start: window.start ?? "", end: window.end ?? "" }) : "",
		]
			.filter(Boolean)
			.join(" · ");
	}
	return config.timeout ? w.atMost({ span: spanWords(config.timeout) }) : "";
}

/** labelOf writes the label of an outgoing edge of a step. */
export function labelOf(step: Step, label: string | null): string {
	if (label === null) return "";
	if (step.type === "wait" && label === "timeout")
		return step.config.timeout ? w.timeout({ span: spanWords(step.config.timeout) }) : w.timeoutPlain;
	if (step.type === "wait" && label === "met")
		return (
			w.met[(step.config.mode === "until_engagement" ? step.config.event : step.config.mode) as keyof typeof w.met] ??
			w.labels.met
		);
	const fixed = step.type === "split" ? undefined : (w.labels as { [key: string]: string })[label];
	return fixed ?? label;
}

/** exitsWords writes what ends a sequence early, besides what always does; empty if nothing else does. */
export function exitsWords(exits: Exits, names: Names): string {
	const events = (exits.events ?? []).map((event) => event.event_name || w.something);
	return [
		exits.definition && w.exits.rule({ rule: ruleWords(exits.definition, names) }),
		events.length > 0 && w.exits.events({ events: and(events) }),
		exits.on_segment_left && w.exits.segment({ segment: nameIn(names.segments, exits.on_segment_left) }),
	]
		.filter(Boolean)
		.join(" ");
}

/** triggerWords writes a trigger as a sentence. */
export function triggerWords(type: string | null | undefined, config: Config, names: Names): string {
	const catalogue = w.triggers;
	const c = config;
	const base = (): string => {
		switch (type) {
			case "event": {
				const filters = (c.filters ?? []) as PropertyFilter[];
				const name = textOf(c.event_name) || w.something;
				return filters.length > 0
					? catalogue.eventWhere({ name, filters: and(filters.map(filterWords)) })
					: catalogue.event({ name });
			}
			case "segment_entered":
			case "segment_left":
			case "list_added":
				return catalogue[type]({ segment: nameIn(names.segments, c.segment_key) });
			case "form_submitted":
				return catalogue.form_submitted({ form: nameIn(names.forms, c.form_slug) });
			case "tag_added":
				return catalogue.tag_added({ tag: textOf(c.tag) || w.something });
			case "stage_changed":
				return c.from_stage_id
					? catalogue.stageFrom({
							from: nameIn(names.stages, c.from_stage_id),
							to: nameIn(names.stages, c.to_stage_id),
						})
					: catalogue.stage_changed({ stage: nameIn(names.stages, c.to_stage_id) });
			case "contact_created":
				return c.source ? catalogue.contactFrom({ source: textOf(c.source) }) : catalogue.contact_created;
			case "field_changed":
				return c.to === undefined || c.to === null || c.to === ""
					? catalogue.field_changed({ field: fieldWords(names, c.field) })
					: catalogue.fieldTo({ field: fieldWords(names, c.field), value: String(c.to) });
			case "date": {
				const when = dateText(c, names, catalogue.date, catalogue.dateOffset);
				return c.repeat === "yearly" ? catalogue.yearly({ what: when }) : when;
			}
			case "email_engagement":
				return c.event === "opened" ? catalogue.opened : catalogue.clicked;
			default:
				return catalogue.none;
		}
	};
	const rule = c.definition as Group | undefined;
	return rule?.conditions?.length ? catalogue.filtered({ trigger: base(), rule: ruleWords(rule, names) }) : base();
}
