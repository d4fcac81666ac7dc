import type { ActivityRow } from "../../api/schema";
import { catalogue } from "./catalogue";

const words = catalogue("shell.activityTitles", {
	named: "{title}: {name}",
	viewed: "Viewed {name}",
	submitted: "Submitted the form {name}",
	requested: "Opt-in requested by the form {name}",
	confirmed: "Opt-in confirmed by the form {name}",
	types: {
		email_sent: "Email sent",
		email_delivered: "Email delivered",
		email_deferred: "Email deferred",
		email_bounced: "Email bounced",
		email_failed: "Email failed",
		email_opened: "Email opened",
		email_clicked: "Email clicked",
		email_complained: "Email reported as spam",
		email_unsubscribed: "Unsubscribed by an email",
		contact_created: "Contact created",
		contact_updated: "Contact updated",
		contact_deleted: "Contact deleted",
		contact_restored: "Contact restored",
		contact_anonymized: "Contact anonymised",
		tag_added: "Tag added",
		tag_removed: "Tag removed",
		score_changed: "Score changed",
		subscription_changed: "Subscription changed",
		stage_changed: "Stage changed",
		list_added: "List added",
		list_removed: "List removed",
		segment_entered: "Segment entered",
		segment_left: "Segment left",
		date_reached: "Date reached",
		suppression_added: "Added to the suppression list",
		suppression_removed: "Removed from the suppression list",
		bounce_applied: "Bounce applied",
		bounce_withdrawn: "Bounce withdrawn",
		sequence_enrolled: "Sequence entered",
		sequence_completed: "Sequence completed",
		sequence_exited: "Sequence left early",
		page_viewed: "Page viewed",
		form_submitted: "Form submitted",
		opt_in_requested: "Opt-in requested",
		opt_in_confirmed: "Opt-in confirmed",
	},
});

const ofForms = { form_submitted: "submitted", opt_in_requested: "requested", opt_in_confirmed: "confirmed" } as const;

/** activityType returns the words for a kind of event, or else its name in the API. */
export const activityType = (type: string) => (words.types as { [type: string]: string })[type] ?? type;

/**
 * activityTitle writes what happened. name is what it happened with: a sequence, a list, a form or a tag. The name of a
 * broadcast is in the title of the server. Custom events have names of their own.
 */
export function activityTitle(row: Pick<ActivityRow, "type" | "title" | "broadcast_id">, name?: string): string {
	if (row.type === "page_viewed" && name) return words.viewed({ name });
	if (Object.hasOwn(ofForms, row.type) && name) return words[ofForms[row.type as keyof typeof ofForms]]({ name });
	const title = (words.types as { [type: string]: string })[row.type];
	if (!title) return row.title;
	const named = name ?? (row.broadcast_id ? row.title.split(/: (.*)/s)[1] : undefined);
	return named ? words.named({ title, name: named }) : title;
}
