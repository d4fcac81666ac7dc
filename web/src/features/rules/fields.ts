import type { CustomFieldRow, EmailCategoryRow, EmailTypeRow, SegmentSession, StageRow } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { stateOf } from "../../base/words/status";

// The fields of contacts that filters and rules can name, with their kinds, and the operators of each kind.

export type FieldKind =
	| "text"
	| "number"
	| "boolean"
	| "choice"
	| "date"
	| "time"
	| "tags"
	| "reference"
	| "list"
	| "subscription";
export type FieldInfo = {
	field: string;
	name: string;
	group: string;
	kind: FieldKind;
	choices?: { value: string; label: string }[];
	/** Its values are codes that have names. */
	codes?: "country";
};

const words = catalogue("rules.fields", {
	groups: {
		person: "Person",
		status: "Status",
		address: "Address",
		activity: "Activity",
		custom: "Custom fields",
		membership: "Membership",
		origin: "Origin",
		subscriptions: "Subscriptions",
		categories: "Email categories",
	},
	fields: {
		email: "Email",
		email_domain: "Email domain",
		first_name: "First name",
		last_name: "Last name",
		full_name: "Full name",
		company: "Company",
		title: "Job title",
		phone: "Phone",
		website: "Website",
		external_id: "External ID",
		source: "Source",
		tags: "Tags",
		stage: "Stage",
		global_status: "Status",
		deliverability_status: "Deliverability",
		do_not_contact: "Do not contact",
		city: "City",
		state: "State or region",
		postal_code: "Postal code",
		country: "Country",
		timezone: "Time zone",
		prospect_score: "Prospect score",
		customer_score: "Customer score",
		total_emails_sent: "Emails sent",
		total_emails_opened: "Emails opened",
		total_emails_clicked: "Emails clicked",
		last_activity_at: "Last activity",
		last_email_sent_at: "Last email",
		last_email_opened_at: "Last open",
		last_email_clicked_at: "Last click",
		created_at: "Created",
		updated_at: "Changed",
		list: "List",
		last_page_viewed_at: "Last page view",
		unsubscribed_at: "Unsubscribed",
		suppressed_at: "Deleted",
		bounce_type: "Bounce",
		first_touch_source: "First source",
		first_touch_medium: "First medium",
		first_touch_campaign: "First campaign",
		first_touch_referrer: "First referrer",
		first_touch_landing_url: "First page",
		first_touch_at: "First visit",
		last_touch_source: "Last source",
		last_touch_medium: "Last medium",
		last_touch_campaign: "Last campaign",
		last_touch_at: "Last visit",
	},
	bounces: { hard: "Hard", soft: "Soft" },
	operators: {
		equals: "is",
		not_equals: "is not",
		contains: "contains",
		not_contains: "does not contain",
		starts_with: "starts with",
		ends_with: "ends with",
		in: "is any of",
		not_in: "is none of",
		is_set: "is set",
		is_not_set: "is not set",
		greater_than: "is more than",
		greater_or_equal: "is at least",
		less_than: "is less than",
		less_or_equal: "is at most",
		between: "is between",
		is_true: "is yes",
		is_false: "is no",
		on: "is on",
		not_on: "is not on",
		before: "is before",
		after: "is after",
		on_or_before: "is on or before",
		on_or_after: "is on or after",
		in_the_last: "is in the last",
		not_in_the_last: "is not in the last",
		in_the_next: "is in the next",
		more_than_ago: "is more than … ago",
		anniversary_in_next: "has an anniversary in the next",
		has_any: "has any of",
		has_all: "has all of",
		has_none: "has none of",
		subscribed: "is subscribed",
		unsubscribed: "is not subscribed",
	},
});

export type Operator = keyof typeof words.operators;

/** operatorName returns the words of an operator. */
export const operatorName = (operator: string) => (words.operators as { [key: string]: string })[operator] ?? operator;

const text: Operator[] = [
	"equals",
	"not_equals",
	"contains",
	"not_contains",
	"starts_with",
	"ends_with",
	"in",
	"not_in",
	"is_set",
	"is_not_set",
];

/** operators are those of each kind of field. */
export const operators: { [K in FieldKind]: Operator[] } = {
	text,
	number: [
		"equals",
		"not_equals",
		"greater_than",
		"greater_or_equal",
		"less_than",
		"less_or_equal",
		"between",
		"in",
		"not_in",
		"is_set",
		"is_not_set",
	],
	boolean: ["is_true", "is_false", "equals", "is_set", "is_not_set"],
	choice: ["in", "not_in", "equals", "not_equals", "is_set", "is_not_set"],
	date: [
		"in_the_last",
		"not_in_the_last",
		"in_the_next",
		"more_than_ago",
		"on",
		"not_on",
		"before",
		"after",
		"on_or_before",
		"on_or_after",
		"between",
		"anniversary_in_next",
		"is_set",
		"is_not_set",
	],
	time: ["equals", "before", "after", "between", "is_set", "is_not_set"],
	tags: ["has_any", "has_all", "has_none", "is_set", "is_not_set"],
	reference: ["equals", "not_equals", "is_set", "is_not_set"],
	list: ["in", "not_in"],
	subscription: ["subscribed", "unsubscribed"],
};

/** shapeOf returns what value an operator takes. */
export function shapeOf(operator: string): "none" | "one" | "many" | "two" | "period" {
	if (["is_set", "is_not_set", "is_true", "is_false", "subscribed", "unsubscribed"].includes(operator)) return "none";
	if (["in", "not_in", "has_any", "has_all", "has_none"].includes(operator)) return "many";
	if (operator === "between") return "two";
	if (["in_the_last", "not_in_the_last", "in_the_next", "more_than_ago", "anniversary_in_next"].includes(operator))
		return "period";
	return "one";
}

/** initialValue returns a value of the shape that an operator takes. */
export function initialValue(operator: string, kind: FieldKind): unknown {
	switch (shapeOf(operator)) {
		case "none":
			return undefined;
		case "many":
			return [];
		case "two":
			return kind === "number" ? [0, 0] : ["", ""];
		case "period":
			return { amount: 30, unit: "day" };
		default:
			return kind === "number" ? 0 : kind === "boolean" ? true : "";
	}
}

const statuses = (kind: "contact" | "deliverability", all: string[]) =>
	all.map((value) => ({ value, label: stateOf(kind, value).word }));

const g = words.groups;
const field = (
	field: keyof typeof words.fields,
	group: string,
	kind: FieldKind,
	choices?: FieldInfo["choices"],
): FieldInfo => ({ field, name: words.fields[field], group, kind, choices });

/** recorded are the fields that the program writes: rules can ask about them, but nobody sets them. */
const recorded = (): FieldInfo[] => [
	field(
		"bounce_type",
		g.status,
		"choice",
		Object.entries(words.bounces).map(([value, label]) => ({ value, label })),
	),
	field("unsubscribed_at", g.status, "date"),
	field("suppressed_at", g.status, "date"),
	field("last_page_viewed_at", g.activity, "date"),
	field("first_touch_source", g.origin, "text"),
	field("first_touch_medium", g.origin, "text"),
	field("first_touch_campaign", g.origin, "text"),
	field("first_touch_referrer", g.origin, "text"),
	field("first_touch_landing_url", g.origin, "text"),
	field("first_touch_at", g.origin, "date"),
	field("last_touch_source", g.origin, "text"),
	field("last_touch_medium", g.origin, "text"),
	field("last_touch_campaign", g.origin, "text"),
	field("last_touch_at", g.origin, "date"),
];

function standard(stages: Pick<StageRow, "slug" | "name">[], lists: { value: string; label: string }[]): FieldInfo[] {
	return [
		field("email", g.person, "text"),
		field("email_domain", g.person, "text"),
		field("first_name", g.person, "text"),
		field("last_name", g.person, "text"),
		field("full_name", g.person, "text"),
		field("company", g.person, "text"),
		field("title", g.person, "text"),
		field("phone", g.person, "text"),
		field("website", g.person, "text"),
		field("external_id", g.person, "text"),
		field("source", g.person, "text"),
		field("tags", g.membership, "tags"),
		field("list", g.membership, "list", lists),
		field(
			"stage",
			g.membership,
			"choice",
			stages.map((stage) => ({ value: stage.slug, label: stage.name })),
		),
		field(
			"global_status",
			g.status,
			"choice",
			statuses("contact", ["active", "pending", "unsubscribed", "bounced", "complained", "suppressed"]),
		),
		field(
			"deliverability_status",
			g.status,
			"choice",
			statuses("deliverability", ["healthy", "watch", "at_risk", "suppressed"]),
		),
		field("do_not_contact", g.status, "boolean"),
		field("city", g.address, "text"),
		field("state", g.address, "text"),
		field("postal_code", g.address, "text"),
		{ ...field("country", g.address, "choice"), codes: "country" },
		field("timezone", g.address, "choice"),
		field("prospect_score", g.activity, "number"),
		field("customer_score", g.activity, "number"),
		field("total_emails_sent", g.activity, "number"),
		field("total_emails_opened", g.activity, "number"),
		field("total_emails_clicked", g.activity, "number"),
		field("last_activity_at", g.activity, "date"),
		field("last_email_sent_at", g.activity, "date"),
		field("last_email_opened_at", g.activity, "date"),
		field("last_email_clicked_at", g.activity, "date"),
		field("created_at", g.activity, "date"),
		field("updated_at", g.activity, "date"),
	];
}

const kinds: { [T in CustomFieldRow["field_type"]]: FieldKind } = {
	string: "text",
	email: "text",
	url: "text",
	number: "number",
	currency: "number",
	boolean: "boolean",
	date: "date",
	datetime: "date",
	time: "time",
	enum: "choice",
	tags: "tags",
	timezone: "choice",
	country: "choice",
	contact: "reference",
};

/** fieldsOf returns the fields of a workspace's contacts: those that all have, and its own. */
export function fieldsOf(
	custom: Pick<CustomFieldRow, "field_key" | "name" | "field_type" | "enum_values">[],
	stages: Pick<StageRow, "slug" | "name">[],
	segments: Pick<SegmentSession, "segment_key" | "name" | "type">[],
): FieldInfo[] {
	const lists = segments
		.filter((segment) => segment.type === "static")
		.map((segment) => ({ value: segment.segment_key, label: segment.name }));
	const own = custom.map(
		(field): FieldInfo => ({
			field: `custom_fields.${field.field_key}`,
			name: field.name,
			group: words.groups.custom,
			kind: kinds[field.field_type],
			choices: field.enum_values?.map((value) => ({ value, label: value })),
			codes: field.field_type === "country" ? "country" : undefined,
		}),
	);
	return [...standard(stages, lists), ...own];
}

/** ruleFieldsOf returns all that filters and rules can ask about, group by group: the fields of contacts, what is recorded of them, and what they subscribe to. */
export function ruleFieldsOf(
	contactFields: FieldInfo[],
	types: Pick<EmailTypeRow, "type_key" | "display_name" | "category_id">[],
	categories: Pick<EmailCategoryRow, "id" | "name">[],
): FieldInfo[] {
	const consents = [
		// A type with a category follows the category.
		...types
			.filter((type) => type.category_id === null)
			.map((type) => ({
				field: `subscriptions.${type.type_key}`,
				name: type.display_name,
				group: words.groups.subscriptions,
			})),
		...categories.map((category) => ({
			field: `category_subscriptions.${category.id}`,
			name: category.name,
			group: words.groups.categories,
		})),
	].map((consent): FieldInfo => ({ ...consent, kind: "subscription" }));
	const groups = Object.values(words.groups);
	return [...contactFields, ...recorded(), ...consents].sort(
		(a, b) => groups.indexOf(a.group) - groups.indexOf(b.group),
	);
}
