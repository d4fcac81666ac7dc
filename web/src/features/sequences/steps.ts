import { type FieldInfo, operatorName, shapeOf } from "../rules/fields";
import { type Condition, type Group, isGroup } from "../rules/groups";
import type { Leaf } from "../rules/leaves";
import { filterWords, type PropertyFilter } from "../rules/propertyFilters";
import { catalogue } from "../../base/words/catalogue";
import { and, dateTime, percent } from "../../base/words/formats";
import type { Config, Graph, Step, StepType } from "./graph";
import { fieldSentence } from "../../base/words/problems";
import { fieldName } from "../../base/words/fieldNames";
import { sentenceFor } from "../../base/words/errors";

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
		event: "event {name}",
		page: "page view",
		form: "form",
		subscription: "subscription",
		sequence: "sequence",
		suppression: "suppression list",
		trigger: "a property of its event",
		triggerWith: "its event has {filter}",
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
export const kindOf = (s: Pick<Step, "type" | "config">): Kind =>
	(kinds.find((k) => k.type === s.type && (s.type !== "wait" || k.id === s.config.mode)) ??
		kinds.find((k) => k.type === s.type) ??
		kinds[0]) as Kind;

/** nameOfKind returns the name of a kind, and what it does. */
export const nameOfKind = (id: string): { name: string; help: string } => {
	return (stepWords.kinds as { [kind: string]: { name: string; help: string } })[id] ?? { name: id, help: "" };
};

/** newId returns an id for a step. It is never used again, so that numbers and people of a step that was removed do not belong to another. */
export const newId = (type: StepType) =>
	`${type}_${[...crypto.getRandomValues(new Uint8Array(5))].map((b) => (b % 36).toString(36)).join("")}`;

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
const textOf = (v: unknown): string => (typeof v === "string" || typeof v === "number" ? String(v) : "");
const named = (map: Map<string, string>, id: unknown): string =>
	id ? (map.get(String(id)) ?? String(id)) : w.something;

/** spanWords writes a time: "2 days". */
export function spanWords(v: unknown): string {
	const s = (v ?? {}) as { amount?: number; unit?: string };
	const unit = w.units[(s.unit ?? "day") as keyof typeof w.units];
	return unit ? unit({ count: Number(s.amount ?? 0) }) : `${s.amount} ${s.unit}`;
}

/** daysWords writes days of the week. */
export function daysWords(v: unknown): string {
	const days = (Array.isArray(v) ? (v as number[]) : []).toSorted((a, b) => a - b);
	if (days.length === 7) return w.everyDay;
	if (days.join() === "1,2,3,4,5") return w.weekdays;
	if (days.length === 0) return w.something;
	return and(days.map((d) => w.shortDays[d as keyof typeof w.shortDays] ?? String(d)));
}

/** fieldWords returns the name of a field of contacts. */
export const fieldWords = (names: Names, field: unknown): string =>
	field
		? (names.fields.find((f) => f.field === field || f.field === `custom_fields.${field}`)?.name ?? String(field))
		: w.something;

const valueWords = (f: FieldInfo | undefined, v: unknown): string => {
	if (Array.isArray(v)) return v.map((x) => valueWords(f, x)).join(", ");
	if (typeof v === "object" && v !== null) return spanWords(v);
	return f?.choices?.find((c) => c.value === v)?.label ?? String(v ?? "");
};

function leafWords(l: Leaf, names: Names): string {
	const r = w.rule;
	switch (l.type ?? "field") {
		case "field": {
			const f = names.fields.find((x) => x.field === l.field);
			const value = shapeOf(l.operator ?? "") === "none" ? "" : valueWords(f, l.value);
			return [f?.name ?? l.field, operatorName(l.operator ?? ""), value].filter(Boolean).join(" ");
		}
		case "list":
		case "segment":
			return `${l.operator === "not_in" ? operatorName("not_in") : operatorName("in")} ${(l.segment_keys ?? []).map((k) => names.segments.get(k) ?? k).join(", ") || r[l.type as "list"]}`;
		case "event":
			return r.event({ name: l.event_name || w.something });
		case "page_view":
			return `${r.page} ${l.url ?? ""}`;
		case "trigger_event":
			return (l as { property?: string }).property
				? r.triggerWith({
						filter: filterWords({
							property: String((l as { property?: string }).property),
							operator: l.operator ?? "equals",
							value: l.value,
						}),
					})
				: r.trigger;
		default:
			return (r as unknown as { [t: string]: string })[l.type ?? ""] ?? String(l.type);
	}
}

/** ruleWords writes a short rule in words, and counts the conditions of a long one. */
export function ruleWords(v: unknown, names: Names): string {
	const g = v as Group | undefined;
	if (!g || !Array.isArray(g.conditions) || g.conditions.length === 0) return w.rule.none;
	const leaves = (c: Condition): number => (isGroup(c) ? c.conditions.reduce((n, x) => n + leaves(x), 0) : 1);
	const simple = g.conditions.length <= 2 && g.conditions.every((c) => !isGroup(c));
	const text = simple
		? g.conditions.map((c) => leafWords(c as Leaf, names)).join(g.logic === "or" ? w.rule.or : w.rule.and)
		: w.rule.many({ count: leaves(g) });
	return g.negate ? w.rule.not({ rule: text }) : text;
}

const dated = (
	c: Config,
	names: Names,
	plainly: (values: { field: string }) => string,
	offset: { [D in "before" | "after"]: (values: { span: string; field: string }) => string },
) => {
	const o = c.offset as { amount?: number; unit?: string; direction?: "before" | "after" } | undefined;
	const field = fieldWords(names, c.field);
	return o?.amount ? offset[o.direction ?? "before"]({ span: spanWords(o), field }) : plainly({ field });
};

function waitTitle(c: Config, names: Names, g?: Graph): string {
	switch (c.mode) {
		case "until_time":
			return w.untilTime({ time: textOf(c.time), days: daysWords(c.days) });
		case "until_date":
			if (typeof c.at === "string") return w.untilAt({ at: c.at ? dateTime(c.at) : w.something });
			return dated(c, names, w.untilField, {
				before: (values) => w.untilField({ field: w.offset.before(values) }),
				after: (values) => w.untilField({ field: w.offset.after(values) }),
			});
		case "until_event":
			return w.untilEvent({ name: textOf(c.event_name) || w.something });
		case "until_segment":
			return (c.state === "not_in" ? w.untilOut : w.untilIn)({ segment: named(names.segments, c.segment_key) });
		case "until_engagement": {
			const send = g?.steps.find((s) => s.id === c.node_id);
			return w.untilEngaged[c.event === "opened" ? "opened" : "clicked"]({
				mail: send ? named(names.messages, send.config.message_id) : w.something,
			});
		}
		default:
			return w.wait({ time: spanWords(c) });
	}
}

/** problemWords writes a problem of the server with the name of the field instead of its path. */
export function problemWords(message: string): string {
	const [, path = "", colon = "", rest = ""] =
		/^(\w+[\w.[\]-]*)(:?) ((?:must|is|has|cannot|names|needs|required|at most|no |there is) ?.*)$/s.exec(message) ?? [];
	const name = (w.paths as { [path: string]: string })[path];
	if (!path || (!name && !colon && !/[_.[]/.test(path))) return sentenceFor("INVALID_GRAPH", message);
	return fieldSentence({ path, message: rest }, name ?? fieldName(path));
}

/** titleOf says what a step does. */
export function titleOf(s: Pick<Step, "type" | "config">, names: Names, g?: Graph): string {
	const c = s.config;
	const words = (v: unknown) => (Array.isArray(v) && v.length > 0 ? and(v.map(String)) : w.something);
	switch (s.type) {
		case "send":
			return w.sendTitle({ mail: named(names.messages, c.message_id) });
		case "wait":
			return waitTitle(c, names, g);
		case "condition":
			return w.ifRule({ rule: ruleWords(c.definition, names) });
		case "branch":
			return w.ways({ count: Array.isArray(c.branches) ? c.branches.length : 0 });
		case "split": {
			const list = (Array.isArray(c.branches) ? c.branches : []) as { label: string; weight: number }[];
			const sum = list.reduce((n, b) => n + (Number(b.weight) || 0), 0) || 1;
			return w.shares({
				list: list.map((b) => percent((Number(b.weight) || 0) / sum, 0)).join(" / "),
			});
		}
		case "list":
			return (c.action === "remove" ? w.removeFrom : w.addTo)({ list: named(names.segments, c.segment_key) });
		case "tag":
			return (c.action === "remove" ? w.removeTags : w.addTags)({ tags: words(c.tags) });
		case "update_contact": {
			const all = [...Object.keys((c.fields as object) ?? {}), ...Object.keys((c.custom_fields as object) ?? {})];
			return w.setFields({ names: all.length > 0 ? and(all.map((f) => fieldWords(names, f))) : w.something });
		}
		case "stage":
			return w.moveTo({ stage: named(names.stages, c.stage_id) });
		case "subscription":
			return (c.action === "unsubscribe" ? w.unsubscribe : w.subscribe)({ type: named(names.types, c.email_type_key) });
		case "event":
			return w.record({ event: textOf(c.event_name) || w.something });
		case "webhook": {
			let host = textOf(c.url) || w.something;
			try {
				host = new URL(host).host;
			} catch {
				// Not an address yet.
			}
			return w.call({ host });
		}
		case "notify":
			return w.notify({ who: words(c.to) });
		case "enroll":
			return w.enroll({ sequence: named(names.sequences, c.sequence_id) });
		case "goal":
			return w.goal({ rule: ruleWords(c.definition, names) });
		default:
			return w.exit;
	}
}

/** detailOf adds what the title of a step leaves out; may be empty. */
export function detailOf(s: Pick<Step, "type" | "config">, names: Names): string {
	const c = s.config;
	if (s.type === "send") {
		const window = c.send_window as { days?: number[]; start?: string; end?: string } | undefined;
		return [
			c.email_type_key ? w.as({ type: named(names.types, c.email_type_key) }) : "",
			window ? w.window({ days: daysWords(window.days), start: window.start ?? "", end: window.end ?? "" }) : "",
		]
			.filter(Boolean)
			.join(" · ");
	}
	return c.timeout ? w.atMost({ span: spanWords(c.timeout) }) : "";
}

/** labelOf writes the label of a way out of a step. */
export function labelOf(s: Step, label: string | null): string {
	if (label === null) return "";
	if (s.type === "wait" && label === "timeout")
		return s.config.timeout ? w.timeout({ span: spanWords(s.config.timeout) }) : w.timeoutPlain;
	if (s.type === "wait" && label === "met")
		return (
			w.met[(s.config.mode === "until_engagement" ? s.config.event : s.config.mode) as keyof typeof w.met] ??
			w.labels.met
		);
	const fixed = s.type === "split" ? undefined : (w.labels as { [l: string]: string })[label];
	return fixed ?? label;
}

/** triggerWords writes a trigger as a sentence. */
export function triggerWords(type: string | null | undefined, config: Config, names: Names): string {
	const t = w.triggers;
	const c = config;
	const base = (): string => {
		switch (type) {
			case "event": {
				const filters = (c.filters ?? []) as PropertyFilter[];
				const name = textOf(c.event_name) || w.something;
				return filters.length > 0 ? t.eventWhere({ name, filters: and(filters.map(filterWords)) }) : t.event({ name });
			}
			case "segment_entered":
			case "segment_left":
			case "list_added":
				return t[type]({ segment: named(names.segments, c.segment_key) });
			case "form_submitted":
				return t.form_submitted({ form: named(names.forms, c.form_slug) });
			case "tag_added":
				return t.tag_added({ tag: textOf(c.tag) || w.something });
			case "stage_changed":
				return c.from_stage_id
					? t.stageFrom({ from: named(names.stages, c.from_stage_id), to: named(names.stages, c.to_stage_id) })
					: t.stage_changed({ stage: named(names.stages, c.to_stage_id) });
			case "contact_created":
				return c.source ? t.contactFrom({ source: textOf(c.source) }) : t.contact_created;
			case "field_changed":
				return c.to === undefined || c.to === null || c.to === ""
					? t.field_changed({ field: fieldWords(names, c.field) })
					: t.fieldTo({ field: fieldWords(names, c.field), value: String(c.to) });
			case "date": {
				const when = dated(c, names, t.date, t.dateOffset);
				return c.repeat === "yearly" ? t.yearly({ what: when }) : when;
			}
			case "email_engagement":
				return c.event === "opened" ? t.opened : t.clicked;
			default:
				return t.none;
		}
	};
	const rule = c.definition as Group | undefined;
	return rule?.conditions?.length ? t.filtered({ trigger: base(), rule: ruleWords(rule, names) }) : base();
}
