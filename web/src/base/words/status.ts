import { catalogue } from "./catalogue";

// Words, tones and sentences of every state of the API. A state that is not here is shown as it is.

export type Tone = "neutral" | "progress" | "success" | "warning" | "danger";
export type State = { word: string; tone: Tone; sentence?: string };

const words = catalogue("shell.status", {
	broadcast: {
		draft: { word: "Draft", sentence: "Not scheduled yet." },
		scheduled: { word: "Scheduled", sentence: "It starts automatically at the scheduled time." },
		sending: { word: "Sending", sentence: "Emails are being given to servers." },
		paused: { word: "Paused", sentence: "Nothing is sent until it is resumed." },
		completed: { word: "Completed", sentence: "Every recipient has been processed." },
		failed: { word: "Failed", sentence: "It could not be sent. Open it to see the reason." },
		cancelled: { word: "Cancelled", sentence: "It was stopped before it finished." },
	},
	phase: {
		preparing: { word: "Preparing" },
		sending: { word: "Sending" },
		waiting: { word: "Waiting for the next batch" },
		waiting_for_next_batch: { word: "Waiting for the next batch" },
		paused: { word: "Paused" },
		done: { word: "Done" },
	},
	day: {
		done: { word: "Done" },
		today: { word: "Today" },
		planned: { word: "Planned" },
		skipped: { word: "Skipped" },
	},
	pause: {
		user: { word: "Paused by hand", sentence: "It continues when somebody presses Resume." },
		capacity_collapsed: { word: "No sending server up", sentence: "None of its sending servers accepts mail." },
		domain_paused: { word: "Domain paused", sentence: "Its sending domain is paused." },
		tenant_paused: { word: "Workspace paused", sentence: "The whole workspace is paused." },
	},
	domainPause: {
		complaint_rate: {
			word: "Paused: many spam complaints",
			sentence: "Too many recipients reported its email as spam.",
		},
		bounce_rate: {
			word: "Paused: many bounces",
			sentence: "Too many addresses that were sent email from this domain do not exist.",
		},
		dns_lost: {
			word: "Paused: DNS records are missing",
			sentence: "Its DNS records have been missing for some time. Resume it when they are back.",
		},
		operator: { word: "Paused by the operator", sentence: "The operator of this installation has paused it." },
	},
	recipient: {
		pending: { word: "Waiting", sentence: "Not yet queued." },
		queued: { word: "Queued", sentence: "Next to be sent." },
		sent: { word: "Sent", sentence: "Given to a server that has not confirmed delivery." },
		delivered: { word: "Delivered", sentence: "Accepted by the next server." },
		deferred: { word: "Deferred", sentence: "The server asked to try again later." },
		bounced: { word: "Bounced", sentence: "A server refused or returned it." },
		failed: { word: "Failed", sentence: "It could not be given to a server." },
		skipped: { word: "Skipped", sentence: "Not mailed. The row gives the reason." },
		held_back: { word: "Held back", sentence: "The plan had no room for it." },
		cancelled: { word: "Cancelled", sentence: "The send was stopped first." },
	},
	contact: {
		active: { word: "Active" },
		pending: { word: "Pending", sentence: "Has not confirmed the subscription yet." },
		unsubscribed: { word: "Unsubscribed" },
		bounced: { word: "Bounced" },
		complained: { word: "Complained" },
		suppressed: { word: "Deleted" },
	},
	deliverability: {
		healthy: { word: "Healthy" },
		watch: { word: "Watch" },
		at_risk: { word: "At risk" },
		suppressed: { word: "Cannot be mailed" },
	},
	hit: {
		human: { word: "Person" },
		privacy: { word: "Privacy proxy" },
		bot: { word: "Machine" },
		pending: { word: "Not yet classified" },
	},
	sequence: {
		draft: { word: "Draft" },
		active: { word: "Active" },
		paused: { word: "Paused" },
		archived: { word: "Archived" },
	},
	enrollment: {
		active: { word: "Active" },
		paused: { word: "Paused" },
		completed: { word: "Completed" },
		exited: { word: "Left early" },
		failed: { word: "Failed" },
	},
	outcome: {
		in_progress: { word: "In progress" },
		completed: { word: "Completed" },
		converted: { word: "Converted" },
		unsubscribed: { word: "Unsubscribed" },
		exited_early: { word: "Left early" },
		failed: { word: "Failed" },
	},
	message: {
		draft: { word: "Draft" },
		published: { word: "Published" },
		archived: { word: "Archived" },
	},
	form: {
		draft: { word: "Draft" },
		published: { word: "Published" },
		archived: { word: "Archived" },
	},
	submission: {
		accepted: { word: "Accepted", sentence: "The contact was added or updated." },
		awaiting_confirmation: { word: "To be confirmed", sentence: "An email asks whether the address is theirs." },
		confirmed: { word: "Confirmed", sentence: "The link in the email was opened." },
		spam: { word: "Spam", sentence: "Sent by a program. Nothing was changed. Deleted after 30 days." },
	},
	automation: {
		active: { word: "Active" },
		paused: { word: "Paused" },
		archived: { word: "Archived" },
	},
	domain: {
		pending: { word: "Waiting for DNS", sentence: "Not all of its records are published yet." },
		verified: { word: "Verified" },
		failed: { word: "Failed", sentence: "Its records are missing or wrong." },
	},
	record: {
		missing: { word: "Missing" },
		invalid: { word: "Differs" },
		ok: { word: "Found" },
	},
	tracking: {
		pending: { word: "Waiting for DNS" },
		live: { word: "Live" },
		failed: { word: "Failed" },
	},
	mta: {
		healthy: { word: "Healthy" },
		degraded: { word: "Degraded" },
		down: { word: "Down" },
		off: { word: "Off" },
	},
	job: {
		queued: { word: "Queued" },
		running: { word: "Running" },
		completed: { word: "Completed" },
		failed: { word: "Failed" },
		cancelled: { word: "Cancelled" },
	},
	webhook: {
		healthy: { word: "Healthy" },
		failing: { word: "Failing" },
		disabled: { word: "Disabled" },
	},
	delivery: {
		pending: { word: "Waiting", sentence: "It will be sent in a moment." },
		retrying: { word: "Retrying", sentence: "An attempt failed. Another one follows." },
		delivered: { word: "Delivered" },
		failed: { word: "Failed", sentence: "All attempts failed. You can replay it." },
	},
	key: {
		active: { word: "Active" },
		expired: { word: "Expired" },
		revoked: { word: "Revoked" },
	},
	member: {
		invited: { word: "Invited" },
		active: { word: "Active" },
		disabled: { word: "Disabled" },
	},
	seed: {
		active: { word: "Active" },
		paused: { word: "Paused" },
		retired: { word: "Retired" },
		conflict: { word: "Is a contact" },
	},
	freshness: {
		never_synced: { word: "Never updated" },
		no_rotation: { word: "No rotation" },
		fresh: { word: "Fresh" },
		due_soon: { word: "Due soon" },
		grace: { word: "Overdue" },
		stale: { word: "Stale" },
	},
});

export type Kind = keyof typeof words;

/** The tones of the states that words has. */
const tones: { [K in Kind]: { [S in keyof (typeof words)[K]]: Tone } } = {
	broadcast: {
		draft: "neutral",
		scheduled: "progress",
		sending: "progress",
		paused: "warning",
		completed: "success",
		failed: "danger",
		cancelled: "neutral",
	},
	phase: {
		preparing: "progress",
		sending: "progress",
		waiting: "progress",
		waiting_for_next_batch: "progress",
		paused: "warning",
		done: "success",
	},
	day: { done: "success", today: "progress", planned: "neutral", skipped: "warning" },
	pause: { user: "warning", capacity_collapsed: "warning", domain_paused: "warning", tenant_paused: "warning" },
	domainPause: { complaint_rate: "danger", bounce_rate: "danger", dns_lost: "danger", operator: "danger" },
	recipient: {
		pending: "neutral",
		queued: "progress",
		sent: "progress",
		delivered: "success",
		deferred: "warning",
		bounced: "danger",
		failed: "danger",
		skipped: "neutral",
		held_back: "warning",
		cancelled: "neutral",
	},
	contact: {
		active: "success",
		pending: "neutral",
		unsubscribed: "neutral",
		bounced: "danger",
		complained: "danger",
		suppressed: "neutral",
	},
	deliverability: { healthy: "success", watch: "warning", at_risk: "warning", suppressed: "danger" },
	hit: { human: "success", privacy: "neutral", bot: "neutral", pending: "progress" },
	sequence: { draft: "neutral", active: "success", paused: "warning", archived: "neutral" },
	enrollment: { active: "progress", paused: "warning", completed: "success", exited: "neutral", failed: "danger" },
	outcome: {
		in_progress: "progress",
		completed: "success",
		converted: "success",
		unsubscribed: "neutral",
		exited_early: "neutral",
		failed: "danger",
	},
	message: { draft: "neutral", published: "success", archived: "neutral" },
	form: { draft: "neutral", published: "success", archived: "neutral" },
	submission: { accepted: "success", awaiting_confirmation: "progress", confirmed: "success", spam: "neutral" },
	automation: { active: "success", paused: "warning", archived: "neutral" },
	domain: { pending: "progress", verified: "success", failed: "danger" },
	record: { missing: "warning", invalid: "danger", ok: "success" },
	tracking: { pending: "progress", live: "success", failed: "danger" },
	mta: { healthy: "success", degraded: "warning", down: "danger", off: "neutral" },
	job: { queued: "neutral", running: "progress", completed: "success", failed: "danger", cancelled: "neutral" },
	webhook: { healthy: "success", failing: "warning", disabled: "danger" },
	delivery: { pending: "progress", retrying: "warning", delivered: "success", failed: "danger" },
	key: { active: "success", expired: "neutral", revoked: "neutral" },
	member: { invited: "progress", active: "success", disabled: "neutral" },
	seed: { active: "success", paused: "neutral", retired: "neutral", conflict: "warning" },
	freshness: {
		never_synced: "neutral",
		no_rotation: "neutral",
		fresh: "success",
		due_soon: "warning",
		grace: "warning",
		stale: "danger",
	},
};

/** stateOf returns the word, tone and sentence of a state; unknown ones are shown as they are. */
export function stateOf(kind: Kind, state: string): State {
	const known = (words[kind] as { [state: string]: { word: string; sentence?: string } })[state];
	const tone = (tones[kind] as { [state: string]: Tone })[state];
	if (!known || !tone) return { word: state.replaceAll("_", " "), tone: "neutral" };
	return { word: known.word, tone, sentence: known.sentence };
}

/** knows reports whether a state has words. */
export const knows = (kind: Kind, state: string) => Object.hasOwn(words[kind], state);

export const toneNames = catalogue("shell.status.toneNames", {
	neutral: "neutral",
	progress: "in progress",
	success: "good",
	warning: "warning",
	danger: "problem",
});
