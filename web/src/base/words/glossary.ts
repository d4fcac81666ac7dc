import { catalogue } from "./catalogue";
import { accountTerms, type Term } from "./accountTerms";

// The words of reports. Each is one figure of the API, with its definition.

const terms = catalogue("shell.glossary", {
	matched: {
		name: "Matched",
		definition:
			"People in the selected segments and lists, minus those in the exclusions, at the time the send started.",
	},
	excluded: {
		name: "Excluded",
		definition: "People in the audience who get no email. Each is counted under the first reason that applies.",
	},
	recipients: {
		name: "Recipients",
		definition: "People for whom an email was prepared. All rates are based on this number.",
	},
	sent: {
		name: "Sent",
		definition: "Emails that were given to the next server, whether it accepted them or refused the address.",
	},
	delivered: {
		name: "Delivered",
		definition:
			"Emails that the next server accepted and that did not come back. This says nothing about inbox or spam folder.",
	},
	bounced: { name: "Bounced", definition: "Emails that a server refused permanently, immediately or later." },
	failed: {
		name: "Failed",
		definition:
			"Emails that never reached a server, because the content could not be generated or no connection succeeded in time.",
	},
	skipped: {
		name: "Skipped",
		definition:
			"People who could no longer be mailed when it was their turn, such as those who had unsubscribed in the meantime.",
	},
	held: { name: "Held back", definition: "People for whom the plan had no room on any day." },
	cancelled: { name: "Cancelled", definition: "Emails that were still waiting when the send was cancelled." },
	waiting: { name: "Waiting", definition: "Emails that have not been tried yet or will be tried again." },
	deferred: { name: "Deferred", definition: "Waiting emails for which a server asked to try again later." },
	noWord: {
		name: "Unconfirmed",
		definition: "Emails that were given to a server and have been neither confirmed nor returned.",
	},
	opened: {
		name: "Open rate",
		definition:
			"People with an open by a person or a privacy proxy, or a click by a person. Opens by machines alone do not count.",
		part: "who opened",
	},
	clicked: { name: "Click rate", definition: "People with at least one click by a person.", part: "who clicked" },
	unsubscribed: {
		name: "Unsubscribed",
		definition: "People who used this email to unsubscribe from its type, its category or everything.",
	},
	complained: {
		name: "Spam complaints",
		definition: "People who reported this email as spam, as far as mailbox providers tell.",
	},
	confirmed: {
		name: "Confirmed",
		definition:
			"An open by a person that is backed by something else: a click, a second open ten minutes later, or a program that loads images itself.",
	},
	people: { name: "People", definition: "At least one open by a person, not counting privacy proxies." },
	verified: {
		name: "People, including privacy proxies",
		definition:
			"At least one open by a person or a privacy proxy, or a click that was not by a machine. This is the open rate.",
	},
	apparent: {
		name: "Any open",
		definition: "At least one open of any kind, including opens by machines and opens not yet classified.",
	},
	machines: {
		name: "Machines only",
		definition: "All opens were by machines, such as security software that checks email before delivery.",
	},
	pending: {
		name: "Not yet classified",
		definition: "All opens are so recent that it is not yet known whether a person or a machine caused them.",
	},
	machineClicks: { name: "Clicks by machines only", definition: "All clicks were by machines that follow links." },
	pendingClicks: {
		name: "Clicks not yet classified",
		definition: "All clicks are so recent that they have not been classified yet.",
	},
	linkPeople: {
		name: "People who clicked",
		definition:
			"People with at least one click on this address. One person may click several links, so these numbers do not add up.",
	},
	mailsBounced: {
		name: "Bounced",
		definition: "Emails that a server refused permanently on these days, immediately or later.",
	},
	mailsFailed: { name: "Failed", definition: "Emails that never reached a server." },
	leftThen: {
		name: "Unsubscribed",
		definition: "People who used an email to unsubscribe from a type, its category or everything on these days.",
	},
	complainedThen: {
		name: "Spam complaints",
		definition: "Emails that people reported as spam on these days, as far as mailbox providers tell.",
	},
	clicks: { name: "Clicks", definition: "All clicks by people. One person may click several times." },
	withOpens: { name: "Opens", definition: "Recipients who opened with this, themselves or through a privacy proxy." },
	withClicks: { name: "Clicks", definition: "Recipients who clicked with this themselves." },
	linkRate: {
		name: "Click rate",
		definition: "People who clicked this address, divided by all recipients of the email.",
	},
	bounceCount: {
		name: "Bounces",
		definition: "Emails to these addresses that a server refused, immediately or later.",
	},
	bouncedHard: {
		name: "Hard",
		definition: "Refused permanently because the address does not exist. It gets no more email.",
	},
	bouncedSoft: {
		name: "Soft",
		definition: "Refused temporarily, for example because of a full mailbox, until there were no attempts left.",
	},
	bouncedBlock: {
		name: "Blocked",
		definition: "Refused because of the content, the recipient's policy or the sender's reputation.",
	},
	members: { name: "Members", definition: "All contacts in it, including those that cannot be mailed." },
	prospectScore: {
		name: "Prospect score",
		definition: "Points for what a person did before becoming a customer. Set the rules under Settings, Scoring.",
	},
	customerScore: {
		name: "Customer score",
		definition: "Points for what a customer did. Set the rules under Settings, Scoring.",
	},
	deliveries: {
		name: "Deliveries",
		definition: "Emails from this domain that the next server accepted in the last 24 hours.",
	},
	hardBounceRate: {
		name: "Hard bounces",
		definition:
			"Emails to addresses that do not exist, divided by emails accepted or permanently refused, in the last 24 hours. From 1,000 deliveries, 2 % triggers a warning and 10 % pauses the domain.",
	},
	complaintRate: {
		name: "Spam complaints",
		definition:
			"Emails that people reported as spam, divided by deliveries, in the last 24 hours. From 1,000 deliveries, 0.1 % triggers a warning and 0.3 % pauses the domain.",
	},
	sentToday: {
		name: "Sent today",
		definition:
			"Emails that the next server accepted or permanently refused today, in the time zone of this workspace.",
	},
	leftToday: { name: "Left today", definition: "How many more emails its limits allow today." },
	inside: {
		name: "Inside",
		definition: "People who have not reached an end yet, including while the sequence is paused.",
	},
	entered: { name: "Entered", definition: "How often contacts entered. A contact that came back counts again." },
	completed: { name: "Completed", definition: "People who reached the end of a path." },
	converted: { name: "Converted", definition: "People who reached a goal." },
	here: { name: "Here now", definition: "People who are at this step now." },
	wentOn: { name: "Moved on", definition: "How often contacts moved from this step to the next." },
	runs: {
		name: "Runs",
		definition: "How often its actions ran for a contact. Skipped runs do not count.",
	},
	submissions: { name: "Submissions", definition: "How often the form was submitted, not counting spam." },
	eventsSeen: {
		name: "Times",
		definition: "How often an event with this name was recorded since the name was first seen.",
	},
	medianOpen: {
		name: "Half opened within",
		definition: "Half of the people who opened did so within this time after delivery.",
	},
	medianClick: {
		name: "Half clicked within",
		definition: "Half of the people who clicked did so within this time after delivery.",
	},
});

export type TermName = keyof typeof terms | keyof typeof accountTerms;

/** term returns the name and the definition of a figure. */
export const term = (name: TermName): Term =>
	name in accountTerms ? accountTerms[name as keyof typeof accountTerms] : terms[name as keyof typeof terms];
