import { catalogue } from "../../base/words/catalogue";

// The kinds of activity that the feed is filtered by. Each stands for types of the API.

const names = catalogue("activity.kinds", {
	opens: "Opens",
	clicks: "Clicks",
	trouble: "Failed or bounced email",
	unsubscribed: "Unsubscribes and changes",
	events: "Custom events",
	website: "Page views",
	forms: "Forms",
	sequences: "Sequences",
	contacts: "Contact changes",
});

export type Kind = keyof typeof names;

const types: { [K in Kind]: string[] } = {
	opens: ["email_opened"],
	clicks: ["email_clicked"],
	trouble: ["email_bounced", "email_failed", "email_complained"],
	unsubscribed: ["email_unsubscribed", "subscription_changed", "suppression_added", "suppression_removed"],
	events: ["event"],
	website: ["page_viewed"],
	forms: ["form_submitted", "opt_in_requested", "opt_in_confirmed"],
	sequences: ["sequence_enrolled", "sequence_completed", "sequence_exited"],
	contacts: [
		"contact_created",
		"contact_updated",
		"contact_deleted",
		"contact_restored",
		"contact_anonymized",
		"tag_added",
		"tag_removed",
		"stage_changed",
	],
};

/** kinds returns all kinds with their names. */
export const kinds = () =>
	(Object.keys(names) as Kind[]).map((name) => ({ value: name as string, label: names[name] }));

/** typesOf returns the types of a kind as the API takes them; undefined for all. */
export const typesOf = (kind: string): string | undefined =>
	Object.hasOwn(types, kind) ? types[kind as Kind].join() : undefined;
