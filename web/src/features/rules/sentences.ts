import { catalogue } from "../../base/words/catalogue";
import { fill, joinAs, tidy } from "../../base/words/fill";
import { and } from "../../base/words/formats";
import { anyOf, comparison } from "./comparison";
import type { FieldInfo } from "./fields";
import { periodText } from "./filters";
import { type EventMatch, type Kind, kindOf, type Leaf } from "./leaves";
import { joint, part, type Piece } from "./pieces";
import { propertyKind, type PropertyFilter } from "./propertyFilters";
import { countText, windowText } from "./occurrence";

// Conditions as sentences. The messages decide in which order the parts of a condition stand; a place of something that a
// condition does not ask for is empty.

export const sentenceWords = catalogue("rules.sentences", {
	list: "{operator} list {lists} {added}",
	segment: "{operator} segment {segments}",
	email: "{event} {types} {end} {count} {window} {level}",
	broadcast: "{event} {broadcast} {end} {link} {version} {level}",
	sequence_email: "{event} {step} sequence {sequence} {end} {level}",
	event: "{name} {operator} {count} {window} {where}",
	event_sequence: "Did {first} {window} {where}, {operator} {next} {nextWhere} within {within}",
	page_view: "{operator} a page whose URL {match} {url} {count} {window}",
	form: "{operator} the form {form} {window}",
	subscription: "{operator} {type}",
	sequence: "{operator} sequence {sequence} {window}",
	suppression: "{operator} the suppression list",
	trigger_event: "In the event that started it, {property}",
	where: "where {filters}",
	link: "through the link {link}",
	version: "in one version",
	step: "one email of",
	anyStep: "an email of",
	level: ", {level}",
	added: "added {window}",
	anyEmail: "any email",
	emailOf: "an email of the type {types}",
	missing: "(deleted)",
	operators: {
		list: { in: "Is in", not_in: "Is not in" },
		segment: { in: "Is in", not_in: "Is not in" },
		event: { did: "happened", did_not: "did not happen" },
		event_sequence: { followed: "then", not_followed: "but not" },
		page_view: { did: "Visited", did_not: "Did not visit" },
		form: { did: "Submitted", did_not: "Did not submit" },
		subscription: { subscribed: "Is subscribed to", unsubscribed: "Is not subscribed to" },
		sequence: {
			active: "Is in",
			ever: "Was ever in",
			never: "Was never in",
			completed: "Completed",
			exited: "Left early from",
		},
		suppression: { listed: "Is on", not_listed: "Is not on" },
	},
	events: {
		did: {
			recipient: "Was a recipient of",
			sent: "Was sent",
			delivered: "Received",
			opened: "Opened",
			clicked: "Clicked in",
			engaged: "Opened or clicked in",
			bounced: "Had … bounce",
			complained: "Reported … as spam",
			unsubscribed: "Unsubscribed in",
		},
		did_not: {
			recipient: "Was not a recipient of",
			sent: "Was not sent",
			delivered: "Did not receive",
			opened: "Did not open",
			clicked: "Did not click in",
			engaged: "Did not open or click in",
			bounced: "Did not have … bounce",
			complained: "Did not report … as spam",
			unsubscribed: "Did not unsubscribe in",
		},
	},
	levels: { verified: "only by people", confirmed: "only confirmed ones", apparent: "including machines" },
	matches: { equals: "is", contains: "contains", starts_with: "starts with" },
	choose: {
		field: "choose a field",
		list: "choose a list",
		segment: "choose a segment",
		broadcast: "choose a broadcast",
		sequence: "choose a sequence",
		form: "choose a form",
		event: "choose an event",
		nextEvent: "choose the next event",
		type: "choose an email type",
		property: "choose a property",
		url: "enter a URL",
		link: "enter a link",
		often: "how often",
		long: "how long",
		when: "when",
	},
});

/** Known are the names of the records that conditions refer to, by their keys; those that are not loaded yet are missing. */
export type Known = {
	fields: FieldInfo[];
	segments?: Map<string, string>;
	types?: Map<string, string>;
	categories?: Map<string, string>;
	broadcasts?: Map<string, string>;
	sequences?: Map<string, string>;
	forms?: Map<string, string>;
};

const w = sentenceWords;

/** nameIn returns the name of a record that was chosen. A deleted one is called by its key, if that is one for people. */
function nameIn(names: Map<string, string> | undefined, key: string | undefined): string | undefined {
	if (!key) return undefined;
	return names?.get(key) ?? (/^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(key) ? (names ? w.missing : "…") : key);
}

/** operatorOf returns the words of an operator of a type of condition. */
const operatorOf = (kind: keyof typeof w.operators, { operator = "" }: Leaf) =>
	joint("operator", (w.operators[kind] as { [operator: string]: string })[operator] ?? operator);

/** whatHappened returns the words of what happened, or did not happen, to a mail: those before the mail, and those after it. */
function whatHappened({ operator, event = "" }: Leaf) {
	const happened = w.events[operator === "did_not" ? "did_not" : "did"] as { [event: string]: string };
	const [before = "", end = ""] = (happened[event] ?? event).split("…").map((text) => text.trim());
	return { event: joint("event", before), end };
}

const namesIn = (names: Map<string, string> | undefined, keys: string[] = []) =>
	keys.length > 0 ? anyOf(keys.map((key) => nameIn(names, key) ?? key)) : undefined;

const countOf = ({ count }: Leaf) => (count ? part("count", countText(count), w.choose.often) : []);

const windowOf = ({ window }: Leaf) => (window ? part("window", windowText(window), w.choose.when) : []);

const levelOf = ({ level }: Leaf): Piece[] =>
	level
		? fill(w.level, {
				level: joint("level", (w.levels as { [level: string]: string })[level] ?? level),
			})
		: [];

/** onProperty writes a condition on a property: "value is more than 60". Its parts begin with a prefix. */
export function onProperty(prefix: string, filter: PropertyFilter): Piece[] {
	const subject = part(`${prefix}property`, filter.property, w.choose.property);
	return filter.property ? comparison(prefix, subject, filter, { kind: propertyKind(filter) }) : subject;
}

/** whereOf writes the conditions on the properties of an event. The parts begin with the path of the event. */
const whereOf = (path: string, { filters = [] }: EventMatch): Piece[] =>
	filters.length === 0
		? []
		: fill(w.where, {
				filters: joinAs(
					and,
					filters.map((filter, i) => onProperty(`${path}filters[${i}].`, filter)),
				),
			});

const eventName = (path: string, match: EventMatch = {}, placeholder: string = w.choose.event) =>
	part(`${path}event_name`, match.event_name, placeholder);

function fieldSentence(leaf: Leaf, { fields }: Known): Piece[] {
	const field = fields.find((field) => field.field === leaf.field);
	const subject = part("field", field?.name ?? leaf.field, w.choose.field);
	return leaf.field ? comparison("", subject, leaf, field) : subject;
}

const writers: { [K in Kind]: (leaf: Leaf, known: Known) => Piece[] } = {
	field: fieldSentence,
	list: (leaf, { segments }) =>
		fill(w.list, {
			operator: operatorOf("list", leaf),
			lists: part("segment_keys", namesIn(segments, leaf.segment_keys), w.choose.list),
			added: leaf.added ? fill(w.added, { window: part("added", windowText(leaf.added), w.choose.when) }) : "",
		}),
	segment: (leaf, { segments }) =>
		fill(w.segment, {
			operator: operatorOf("segment", leaf),
			segments: part("segment_keys", namesIn(segments, leaf.segment_keys), w.choose.segment),
		}),
	email: (leaf, { types }) =>
		fill(w.email, {
			...whatHappened(leaf),
			types: part(
				"email_type_keys",
				leaf.email_type_keys?.length ? w.emailOf({ types: namesIn(types, leaf.email_type_keys) ?? "" }) : w.anyEmail,
				"",
			),
			count: countOf(leaf),
			window: windowOf(leaf),
			level: levelOf(leaf),
		}),
	broadcast: (leaf, { broadcasts }) =>
		fill(w.broadcast, {
			...whatHappened(leaf),
			broadcast: part("broadcast_id", nameIn(broadcasts, leaf.broadcast_id), w.choose.broadcast),
			link: leaf.link_url === undefined ? "" : fill(w.link, { link: part("link_url", leaf.link_url, w.choose.link) }),
			version: leaf.variant_id ? part("variant_id", w.version, "") : "",
			level: levelOf(leaf),
		}),
	sequence_email: (leaf, { sequences }) =>
		fill(w.sequence_email, {
			...whatHappened(leaf),
			step: leaf.node_id ? part("node_id", w.step, "") : w.anyStep,
			sequence: part("sequence_id", nameIn(sequences, leaf.sequence_id), w.choose.sequence),
			level: levelOf(leaf),
		}),
	event: (leaf) =>
		fill(w.event, {
			name: eventName("", leaf),
			operator: operatorOf("event", leaf),
			count: countOf(leaf),
			window: windowOf(leaf),
			where: whereOf("", leaf),
		}),
	event_sequence: (leaf) => {
		const { amount = 0, unit = "day" } = leaf.within ?? {};
		return fill(w.event_sequence, {
			first: eventName("first.", leaf.first),
			where: whereOf("first.", leaf.first ?? {}),
			window: windowOf(leaf),
			operator: operatorOf("event_sequence", leaf),
			next: eventName("then.", leaf.then, w.choose.nextEvent),
			nextWhere: whereOf("then.", leaf.then ?? {}),
			within: part("within", amount > 0 ? periodText({ amount, unit }) : undefined, w.choose.long),
		});
	},
	page_view: (leaf) =>
		fill(w.page_view, {
			operator: operatorOf("page_view", leaf),
			match: joint("match", (w.matches as { [match: string]: string })[leaf.match ?? "equals"] ?? String(leaf.match)),
			url: part("url", leaf.url, w.choose.url),
			count: countOf(leaf),
			window: windowOf(leaf),
		}),
	form: (leaf, { forms }) =>
		fill(w.form, {
			operator: operatorOf("form", leaf),
			form: part("form_slug", nameIn(forms, leaf.form_slug), w.choose.form),
			window: windowOf(leaf),
		}),
	subscription: (leaf, { types, categories }) =>
		fill(w.subscription, {
			operator: operatorOf("subscription", leaf),
			type: part(
				"email_type_key",
				leaf.category_id ? nameIn(categories, leaf.category_id) : nameIn(types, leaf.email_type_key),
				w.choose.type,
			),
		}),
	sequence: (leaf, { sequences }) =>
		fill(w.sequence, {
			operator: operatorOf("sequence", leaf),
			sequence: part("sequence_id", nameIn(sequences, leaf.sequence_id), w.choose.sequence),
			window: windowOf(leaf),
		}),
	suppression: (leaf) => fill(w.suppression, { operator: operatorOf("suppression", leaf) }),
	trigger_event: (leaf) =>
		fill(w.trigger_event, {
			property: onProperty("", {
				property: leaf.property ?? "",
				operator: leaf.operator ?? "equals",
				value: leaf.value,
			}),
		}),
};

/** sentenceOf writes a condition as a sentence of texts and parts. */
export const sentenceOf = (leaf: Leaf, known: Known): Piece[] =>
	tidy((writers[kindOf(leaf)] ?? fieldSentence)(leaf, known));
