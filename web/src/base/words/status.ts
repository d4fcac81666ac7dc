import { catalogue, text } from "./catalogue";

// Words, tones and sentences of every state of the API. A state that is not here is shown as it is.

export type Tone = "neutral" | "progress" | "success" | "warning" | "danger";
export type State = { word: string; tone: Tone; sentence?: string };

const s = (word: string, tone: Tone, sentence?: string): State => ({
	word: text(word),
	tone,
	sentence: sentence && text(sentence),
});

const words = {
	broadcast: {
		draft: s("Draft", "neutral", "Not scheduled. Only its authors see it."),
		scheduled: s("Scheduled", "progress", "It starts by itself at its time."),
		sending: s("Sending", "progress", "Mail is being handed to servers."),
		paused: s("Paused", "warning", "Nothing is sent until it is resumed."),
		completed: s("Completed", "success", "Every recipient has been handled."),
		failed: s("Failed", "danger", "It could not be sent; the reason is on its page."),
		cancelled: s("Cancelled", "neutral", "It was stopped before its end."),
	},
	phase: {
		preparing: s("Preparing", "progress"),
		sending: s("Sending", "progress"),
		waiting: s("Waiting for the next batch", "progress"),
		waiting_for_next_batch: s("Waiting for the next batch", "progress"),
		paused: s("Paused", "warning"),
		done: s("Done", "success"),
	},
	day: {
		done: s("Done", "success"),
		today: s("Today", "progress"),
		planned: s("Planned", "neutral"),
		skipped: s("Skipped", "warning"),
	},
	pause: {
		user: s("Paused by hand", "warning", "It goes on when somebody presses Resume."),
		capacity_collapsed: s("No MTA config up", "warning", "None of its MTA configs takes mail."),
		domain_paused: s("Domain paused", "warning", "Its sending domain is paused."),
		tenant_paused: s("Workspace paused", "warning", "The whole workspace is paused."),
	},
	domainPause: {
		complaint_rate: s("Paused: many complaints", "danger", "Too many recipients complained of its mail."),
		bounce_rate: s("Paused: many bounces", "danger", "Too many addresses that got its mail do not exist."),
		dns_lost: s(
			"Paused: DNS records are missing",
			"danger",
			"Its DNS records have not been found for some time. It can be resumed when they are there again.",
		),
		operator: s("Paused by the operator", "danger", "The operator of this installation has paused it."),
	},
	recipient: {
		pending: s("Waiting", "neutral", "Not yet queued."),
		queued: s("Queued", "progress", "Next to be sent."),
		sent: s("Sent", "progress", "Handed to a server that has not confirmed delivery."),
		delivered: s("Delivered", "success", "Accepted by the next server."),
		deferred: s("To be tried again", "warning", "The server asked to try again later."),
		bounced: s("Bounced", "danger", "The server returned it."),
		failed: s("Failed", "danger", "It could not be handed over."),
		skipped: s("Skipped", "neutral", "Not mailed, for a reason that its row gives."),
		held_back: s("Held back", "warning", "Beyond the end of the plan."),
		cancelled: s("Cancelled", "neutral", "The send was stopped first."),
	},
	contact: {
		active: s("Active", "success"),
		pending: s("Pending", "neutral", "Has not confirmed the subscription yet."),
		unsubscribed: s("Unsubscribed", "neutral"),
		bounced: s("Bounced", "danger"),
		complained: s("Complained", "danger"),
		suppressed: s("Deleted", "neutral"),
	},
	deliverability: {
		healthy: s("Healthy", "success"),
		watch: s("Watch", "warning"),
		at_risk: s("At risk", "warning"),
		suppressed: s("Cannot be mailed", "danger"),
	},
	hit: {
		human: s("Person", "success"),
		privacy: s("Privacy proxy", "neutral"),
		bot: s("Machine", "neutral"),
		pending: s("Not yet judged", "progress"),
	},
	sequence: {
		draft: s("Draft", "neutral"),
		active: s("Active", "success"),
		paused: s("Paused", "warning"),
		archived: s("Archived", "neutral"),
	},
	enrollment: {
		active: s("Active", "progress"),
		paused: s("Paused", "warning"),
		completed: s("Completed", "success"),
		exited: s("Exited", "neutral"),
		failed: s("Failed", "danger"),
	},
	outcome: {
		in_progress: s("In progress", "progress"),
		completed: s("Completed", "success"),
		converted: s("Converted", "success"),
		unsubscribed: s("Unsubscribed", "neutral"),
		exited_early: s("Left early", "neutral"),
		failed: s("Failed", "danger"),
	},
	message: {
		draft: s("Draft", "neutral"),
		published: s("Published", "success"),
		archived: s("Archived", "neutral"),
	},
	form: {
		draft: s("Draft", "neutral"),
		published: s("Published", "success"),
		archived: s("Archived", "neutral"),
	},
	submission: {
		accepted: s("Accepted", "success", "The contact was added or filled in."),
		awaiting_confirmation: s("To be confirmed", "progress", "A mail asks whether the address is theirs."),
		confirmed: s("Confirmed", "success", "The link of the mail was followed."),
		spam: s("Spam", "neutral", "Sent by a program; nothing was changed. Deleted after 30 days."),
	},
	automation: {
		active: s("Active", "success"),
		paused: s("Paused", "warning"),
		archived: s("Archived", "neutral"),
	},
	domain: {
		pending: s("Waiting for DNS", "progress", "Its records are not all published yet."),
		verified: s("Verified", "success"),
		failed: s("Failed", "danger", "Its records are gone or wrong."),
	},
	record: {
		missing: s("Missing", "warning"),
		invalid: s("Differs", "danger"),
		ok: s("Found", "success"),
	},
	tracking: {
		pending: s("Pending", "progress"),
		live: s("Live", "success"),
		failed: s("Failed", "danger"),
	},
	mta: {
		healthy: s("Healthy", "success"),
		degraded: s("Degraded", "warning"),
		down: s("Down", "danger"),
		off: s("Off", "neutral"),
	},
	job: {
		queued: s("Queued", "neutral"),
		running: s("Running", "progress"),
		completed: s("Completed", "success"),
		failed: s("Failed", "danger"),
		cancelled: s("Cancelled", "neutral"),
	},
	webhook: {
		healthy: s("Healthy", "success"),
		failing: s("Failing", "warning"),
		disabled: s("Disabled", "danger"),
	},
	delivery: {
		pending: s("Waiting", "progress", "It is sent in a moment."),
		retrying: s("Retrying", "warning", "An attempt failed; another follows."),
		delivered: s("Delivered", "success"),
		failed: s("Failed", "danger", "All attempts failed. It can be replayed."),
	},
	key: {
		active: s("Active", "success"),
		expired: s("Expired", "neutral"),
		revoked: s("Revoked", "neutral"),
	},
	member: {
		invited: s("Invited", "progress"),
		active: s("Active", "success"),
		disabled: s("Disabled", "neutral"),
	},
	seed: {
		active: s("Active", "success"),
		paused: s("Paused", "neutral"),
		retired: s("Retired", "neutral"),
		conflict: s("Is a contact", "warning"),
	},
	freshness: {
		never_synced: s("Never updated", "neutral"),
		no_rotation: s("No rotation", "neutral"),
		fresh: s("Fresh", "success"),
		due_soon: s("Due soon", "warning"),
		grace: s("Grace", "warning"),
		stale: s("Stale", "danger"),
	},
} satisfies { [kind: string]: { [state: string]: State } };

export type Kind = keyof typeof words;

/** stateOf returns the word, tone and sentence of a state; unknown ones are shown as they are. */
export function stateOf(kind: Kind, state: string): State {
	const known = (words[kind] as { [state: string]: State })[state];
	return known ?? { word: state.replaceAll("_", " "), tone: "neutral" };
}

/** knows reports whether a state has words. */
export const knows = (kind: Kind, state: string) => Object.hasOwn(words[kind], state);

export const toneNames = catalogue({
	neutral: "neutral",
	progress: "in progress",
	success: "good",
	warning: "warning",
	danger: "problem",
});
