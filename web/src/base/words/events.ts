import type { DeliveryRow } from "../../api/schema";
import { catalogue } from "./catalogue";

/** EventType is the kind of an event that is sent to endpoints; "*" stands for all. */
export type EventType = DeliveryRow["event_type"];

/** What each event says. The compiler wants all that the API has. */
export const eventNames: { [T in EventType]: string } = catalogue("shell.events.eventNames", {
	"*": "All events",
	"contact.created": "A contact was created",
	"contact.updated": "A contact's fields changed",
	"contact.deleted": "A contact was deleted or anonymised",
	"contact.subscribed": "A contact subscribed",
	"contact.unsubscribed": "A contact unsubscribed",
	"email.sent": "A server accepted an email",
	"email.delivered": "An email was delivered",
	"email.deferred": "A server asked to try again later",
	"email.opened": "A person opened an email",
	"email.clicked": "A person clicked a link",
	"email.bounced": "An email bounced",
	"email.complained": "A recipient reported an email as spam",
	"email.failed": "An email could not be sent",
	"broadcast.scheduled": "A broadcast was scheduled",
	"broadcast.started": "A broadcast started sending",
	"broadcast.paused": "A broadcast was paused",
	"broadcast.resumed": "A broadcast was resumed",
	"broadcast.completed": "A broadcast was completed",
	"broadcast.failed": "A broadcast failed",
	"broadcast.cancelled": "A broadcast was cancelled",
	"sequence.enrolled": "A contact entered a sequence",
	"sequence.completed": "A contact completed a sequence",
	"sequence.exited": "A contact left a sequence early",
	"form.submitted": "A form was submitted",
	"event.recorded": "A custom event was recorded",
	"list.member_added": "A contact was added to a list",
	"list.member_removed": "A contact was removed from a list",
	"suppression.added": "An address was added to the suppression list",
	"suppression.removed": "An address was removed from the suppression list",
	"domain.verified": "A domain was verified",
	"domain.failed": "A domain's DNS records are missing",
	"domain.paused": "A domain was paused",
	"mta.down": "A sending server went down",
	"mta.recovered": "A sending server is up again",
	"import.completed": "An import was completed",
	"webhook.test": "Test event",
});

const groupNames = catalogue("shell.events.groupNames", {
	contact: "Contacts",
	email: "Email",
	broadcast: "Broadcasts",
	sequence: "Sequences",
	form: "Forms",
	event: "Custom events",
	list: "Lists",
	suppression: "Suppression list",
	domain: "Sending domains",
	mta: "Sending servers",
	import: "Imports",
});

/** eventGroups are the events that endpoints can choose, by what they are about. */
export const eventGroups = (): { name: string; events: EventType[] }[] =>
	Object.entries(groupNames).map(([prefix, name]) => ({
		name,
		events: (Object.keys(eventNames) as EventType[]).filter((eventName) => eventName.startsWith(`${prefix}.`)),
	}));
