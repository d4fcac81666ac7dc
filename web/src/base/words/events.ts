import type { DeliveryRow } from "../../api/schema";
import { catalogue } from "./catalogue";

/** EventType is the kind of an event that is sent to endpoints; "*" stands for all. */
export type EventType = DeliveryRow["event_type"];

/** What each event says. The compiler wants all that the API has. */
export const eventNames: { [T in EventType]: string } = catalogue("shell.events.eventNames", {
	"*": "All events",
	"contact.created": "A contact was created",
	"contact.updated": "Fields of a contact changed",
	"contact.deleted": "A contact was deleted or anonymised",
	"contact.subscribed": "A contact subscribed",
	"contact.unsubscribed": "A contact unsubscribed",
	"email.sent": "A server accepted a mail",
	"email.delivered": "A mail was delivered",
	"email.deferred": "A server asked to try again later",
	"email.opened": "A person opened a mail",
	"email.clicked": "A person clicked a link",
	"email.bounced": "A mail was returned for good",
	"email.complained": "A reader reported a mail as spam",
	"email.failed": "A mail could not be sent",
	"broadcast.scheduled": "A broadcast was scheduled",
	"broadcast.started": "A broadcast began to send",
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
	"suppression.added": "An address came onto the suppression list",
	"suppression.removed": "An address left the suppression list",
	"domain.verified": "A domain was verified",
	"domain.failed": "The records of a domain are gone",
	"domain.paused": "A domain was paused",
	"mta.down": "An MTA config went down",
	"mta.recovered": "An MTA config is up again",
	"import.completed": "An import was completed",
	"webhook.test": "A test",
});

const groupNames = catalogue("shell.events.groupNames", {
	contact: "Contacts",
	email: "Mail",
	broadcast: "Broadcasts",
	sequence: "Sequences",
	form: "Forms",
	event: "Custom events",
	list: "Lists",
	suppression: "Suppression list",
	domain: "Domains",
	mta: "MTA configs",
	import: "Imports",
});

/** eventGroups are the events that endpoints can choose, by what they are about. */
export const eventGroups = (): { name: string; events: EventType[] }[] =>
	Object.entries(groupNames).map(([prefix, name]) => ({
		name,
		events: (Object.keys(eventNames) as EventType[]).filter((t) => t.startsWith(`${prefix}.`)),
	}));
