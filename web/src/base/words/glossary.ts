import { catalogue } from "./catalogue";

// The words of reports. Each is one figure of the API, with its definition.

export type Term = {
	name: string;
	definition: string;
	/** What a rate counts, for its sum. */
	part?: string;
};

const terms = catalogue("shell.glossary", {
	matched: {
		name: "Matched",
		definition: "People in the chosen segments and lists, without those that are left out, when the send began.",
	},
	excluded: {
		name: "Left out",
		definition: "People of the audience who get no mail, each counted under the first reason that applies.",
	},
	recipients: {
		name: "Recipients",
		definition: "People for whom a mail was prepared. Every rate is over this number.",
	},
	sent: {
		name: "Sent",
		definition: "Mails whose first hand-over ended: the next server took them, or refused them for the address.",
	},
	delivered: {
		name: "Delivered",
		definition:
			"Mails that the next server took and that did not come back: sent without bounced. It says nothing about the folder.",
	},
	bounced: { name: "Bounced", definition: "Mails that a server refused for good, at once or later." },
	failed: {
		name: "Failed",
		definition:
			"Mails that were never handed over, for a reason on this side: content that cannot be rendered, or no connection until time ran out.",
	},
	skipped: {
		name: "Skipped",
		definition:
			"People who could not be mailed any more when their turn came, such as those who unsubscribed meanwhile.",
	},
	held: { name: "Held back", definition: "People for whom no day of the plan had room." },
	cancelled: { name: "Cancelled", definition: "Mails that waited when the send was cancelled." },
	waiting: { name: "Waiting", definition: "Mails that were not tried yet, or that are to be tried again." },
	deferred: { name: "To be tried again", definition: "Waiting mails of which a server has said to come again later." },
	noWord: { name: "No word yet", definition: "Mails that were handed over and neither confirmed nor returned." },
	opened: {
		name: "Open rate",
		definition:
			"People with an open by a person or a privacy proxy, or with a click by a person. Opens by machines alone do not count.",
		part: "who opened",
	},
	clicked: { name: "Click rate", definition: "People with at least one click by a person.", part: "who clicked" },
	unsubscribed: {
		name: "Unsubscribed",
		definition: "People who unsubscribed from this type, its category or everything by this mail.",
	},
	complained: { name: "Complaints", definition: "People who reported this mail as spam, as far as providers tell." },
	confirmed: {
		name: "Confirmed",
		definition:
			"An open by a person that something else supports: a click, a second open ten minutes apart, or an open by a program that loads images itself.",
	},
	people: { name: "People", definition: "At least one open by a person, without those by privacy proxies." },
	verified: {
		name: "People, with privacy proxies",
		definition:
			"At least one open by a person or a privacy proxy, or a click that is not a machine's. This is the open rate.",
	},
	apparent: {
		name: "Any open",
		definition: "At least one open of any kind, those by machines and those not yet judged included.",
	},
	machines: {
		name: "Machines only",
		definition: "Every open was by a machine, such as a security program that looks at mail before it is delivered.",
	},
	pending: {
		name: "Not yet judged",
		definition: "Every open is so recent that it was not told yet whether a person or a machine caused it.",
	},
	machineClicks: { name: "Clicks by machines only", definition: "Every click was by a machine that follows links." },
	pendingClicks: { name: "Clicks not yet judged", definition: "Every click is so recent that it was not judged yet." },
	linkPeople: {
		name: "People who clicked",
		definition:
			"People with at least one click by a person on this address. One person may click several, so these do not add up.",
	},
	mails: {
		name: "Mails",
		definition: "Mails whose attempts ended on these days: handed over, or failed. Every rate is over this number.",
	},
	mailsDelivered: {
		name: "Delivered",
		definition:
			"Mails that the next server took on these days and that did not come back. It says nothing about the folder.",
	},
	mailsBounced: {
		name: "Bounced",
		definition: "Mails that a server refused for good on these days, at once or later.",
	},
	mailsFailed: { name: "Failed", definition: "Mails that were never handed over, for a reason on this side." },
	openedThen: {
		name: "Open rate",
		definition:
			"First opens by a person or a privacy proxy on these days, and first clicks by people, of mails that were sent on any day. Opens by machines alone do not count.",
		part: "who opened",
	},
	clickedThen: {
		name: "Click rate",
		definition: "First clicks by people on these days, of mails that were sent on any day.",
		part: "who clicked",
	},
	leftThen: {
		name: "Unsubscribed",
		definition: "People who unsubscribed from a type, its category or everything by a mail on these days.",
	},
	complainedThen: {
		name: "Complaints",
		definition: "Mails that people reported as spam on these days, as far as providers tell.",
	},
	clicks: { name: "Clicks", definition: "Clicks by people, counted each time. One person may click often." },
	withOpens: { name: "Opens", definition: "Recipients who opened in this way, by themselves or by a privacy proxy." },
	withClicks: { name: "Clicks", definition: "Recipients who clicked in this way themselves." },
	linkRate: { name: "Click rate", definition: "People who clicked this address ÷ all recipients of the mail." },
	bounceCount: { name: "Bounces", definition: "Mails to these that a server refused, at once or later." },
	bouncedHard: {
		name: "Hard",
		definition: "Refused for good because the address does not exist. It gets no more mail.",
	},
	bouncedSoft: { name: "Soft", definition: "Refused for now, such as by a full mailbox, until the attempts ran out." },
	bouncedBlock: {
		name: "Blocked",
		definition: "Refused for the content, the policy of the receiver, or the reputation of the sender.",
	},
	mailable: {
		name: "Can be mailed",
		definition:
			"Active contacts that may be contacted and whose address is not on the suppression list. Whether they left a type of mail is asked when mail of it is sent.",
	},
	members: { name: "Members", definition: "All contacts in it, those that cannot be mailed included." },
	contacts: {
		name: "Contacts",
		definition: "All contacts of the workspace that are not deleted, whatever their status.",
	},
	prospectScore: {
		name: "Prospect score",
		definition: "Points for what somebody did before they became a customer. The rules are under Settings, Scoring.",
	},
	customerScore: {
		name: "Customer score",
		definition: "Points for what a customer did. The rules are under Settings, Scoring.",
	},
	deliveries: {
		name: "Deliveries",
		definition: "Mails from this domain that the next server took in the last 24 hours.",
	},
	hardBounceRate: {
		name: "Hard bounces",
		definition:
			"Mails to addresses that do not exist ÷ mails that were taken or refused for good, in the last 24 hours. From 1,000 deliveries on, 2 % warns and 10 % pauses the domain.",
	},
	complaintRate: {
		name: "Complaints",
		definition:
			"Mails that people reported as spam ÷ deliveries, in the last 24 hours. From 1,000 deliveries on, 0.1 % warns and 0.3 % pauses the domain.",
	},
	sentToday: {
		name: "Sent today",
		definition: "Mails that the next server took or refused for good today, in the time zone of the workspace.",
	},
	leftToday: { name: "Left today", definition: "How many mails its limits allow until the day ends." },
	inside: { name: "Inside", definition: "People who have not come to an end yet, also while the sequence is paused." },
	entered: { name: "Entered", definition: "How often contacts entered. One who came back counts again." },
	completed: { name: "Completed", definition: "Those who came to the end of a path." },
	converted: { name: "Converted", definition: "Those who reached a goal." },
	here: { name: "Here now", definition: "People who are in this step now." },
	wentOn: { name: "Went on", definition: "How often contacts left this step for the next." },
	runs: {
		name: "Runs",
		definition: "How often its actions were carried out for a contact. Runs that were skipped do not count.",
	},
	submissions: { name: "Submissions", definition: "How often the form was sent, those taken for spam excluded." },
	eventsSeen: {
		name: "Times",
		definition: "How often an event with this name was recorded since the name was first seen.",
	},
	medianOpen: {
		name: "Half opened within",
		definition: "Of those who opened, half did so within this time after delivery.",
	},
	medianClick: {
		name: "Half clicked within",
		definition: "Of those who clicked, half did so within this time after delivery.",
	},
});

export type TermName = keyof typeof terms;

/** term returns the name and the definition of a figure. */
export const term = (name: TermName): Term => terms[name];

/** partOf returns the words for what a figure counts in its sum. */
export const partOf = (name: TermName): string => term(name).part ?? term(name).name.toLowerCase();
