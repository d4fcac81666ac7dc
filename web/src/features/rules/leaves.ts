import { catalogue } from "../../base/words/catalogue";
import type { Filter } from "./filters";
import type { chosenKind, PropertyFilter, PropertyKind } from "./propertyFilters";

// A rule is a tree: groups of conditions, whose leaves ask about a field, about mail, events, page views,
// lists and so on. The server checks it; here it is only edited.

export type Period = { amount: number; unit: string };
export type Window = { in_the_last?: Period; from?: string; to?: string };
export type Count = { operator: string; value: number };

/** EventMatch is one of two events that follow each other. */
export type EventMatch = { event_name?: string; filters?: PropertyFilter[] };

export type Leaf = Filter & {
	type?: string;
	segment_keys?: string[];
	event?: string;
	email_type_keys?: string[];
	broadcast_id?: string;
	link_url?: string;
	variant_id?: string;
	node_id?: string;
	event_name?: string;
	/** Of the event that started a sequence or an automation. */
	property?: string;
	[chosenKind]?: PropertyKind;
	filters?: PropertyFilter[];
	first?: EventMatch;
	then?: EventMatch;
	within?: Period;
	url?: string;
	match?: string;
	form_slug?: string;
	email_type_key?: string;
	category_id?: string;
	sequence_id?: string;
	count?: Count;
	window?: Window;
	/** When somebody was put on a list. */
	added?: Window;
	level?: string;
};

export const leafWords = catalogue("rules.leaves", {
	kinds: {
		field: "Contact field",
		list: "List member",
		segment: "Segment member",
		email: "Any email",
		broadcast: "One broadcast",
		sequence_email: "Email of a sequence",
		event: "Custom event",
		event_sequence: "Two events in order",
		page_view: "Page view",
		form: "Form",
		subscription: "Subscription",
		sequence: "Sequence",
		suppression: "Suppression list",
		trigger_event: "Event that started it",
	},
});

export type Kind = keyof typeof leafWords.kinds;

/** kindOf returns the type of a leaf. */
export const kindOf = (leaf: Leaf): Kind => (leaf.type as Kind | undefined) ?? "field";

/** The operators of each type of leaf; those of fields depend on the field. */
export const leafOperators: { [K in Exclude<Kind, "field">]: string[] } = {
	list: ["in", "not_in"],
	segment: ["in", "not_in"],
	email: ["did", "did_not"],
	broadcast: ["did", "did_not"],
	sequence_email: ["did", "did_not"],
	event: ["did", "did_not"],
	event_sequence: ["followed", "not_followed"],
	page_view: ["did", "did_not"],
	form: ["did", "did_not"],
	subscription: ["subscribed", "unsubscribed"],
	sequence: ["active", "ever", "never", "completed", "exited"],
	suppression: ["listed", "not_listed"],
	trigger_event: ["equals"],
};

/** newLeaf returns a leaf of a type with initial values. What it is about has to be chosen. */
export function newLeaf(kind: Kind): Leaf {
	if (kind === "field") return { field: "", operator: "equals" };
	const operator = leafOperators[kind][0] ?? "did";
	const month: Window = { in_the_last: { amount: 30, unit: "day" } };
	switch (kind) {
		case "list":
		case "segment":
			return { type: kind, operator, segment_keys: [] };
		case "email":
			return { type: kind, operator, event: "clicked", window: month };
		case "broadcast":
		case "sequence_email":
			return { type: kind, operator, event: "opened" };
		case "event":
			return { type: kind, operator, event_name: "", window: month };
		case "event_sequence":
			return {
				type: kind,
				operator,
				first: { event_name: "" },
				then: { event_name: "" },
				within: { amount: 7, unit: "day" },
				window: month,
			};
		case "page_view":
			return { type: kind, operator, url: "", match: "contains", window: month };
		case "trigger_event":
			return { type: kind, property: "", operator, value: "" };
		default:
			return { type: kind, operator };
	}
}

/** What leaves say of everybody to whom something does not apply. */
const negative = ["not_in", "not_equals", "did_not", "never", "unsubscribed", "not_listed", "has_none", "not_contains"];

/** isNegative reports whether a leaf matches those to whom something does not apply. */
export const isNegative = (leaf: Leaf) => negative.includes(leaf.operator ?? "");

/** The events of mails that conditions ask about. */
export type MailEvent =
	| "recipient"
	| "sent"
	| "delivered"
	| "opened"
	| "clicked"
	| "engaged"
	| "bounced"
	| "complained"
	| "unsubscribed";

const ofEachMail: MailEvent[] = ["sent", "delivered", "opened", "clicked", "bounced", "complained", "unsubscribed"];
const ofBroadcasts: MailEvent[] = [
	"recipient",
	"sent",
	"delivered",
	"opened",
	"clicked",
	"engaged",
	"bounced",
	"complained",
	"unsubscribed",
];

/** mailEvents returns the events that a type of condition on mails can ask about. */
export const mailEvents = (kind: Kind): MailEvent[] => (kind === "broadcast" ? ofBroadcasts : ofEachMail);
