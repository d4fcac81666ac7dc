import { catalogue } from "./catalogue";
import { inSentence } from "./formats";

export type Term = {
	name: string;
	definition: string;
	/** What a rate counts, for its sum. */
	part?: string;
};

/** accountTerms are the figures of the first page, which loads no others (glossary.ts). */
export const accountTerms = catalogue("shell.accountTerms", {
	mails: {
		name: "Emails",
		definition: "Emails that were given to a server or failed on these days. All rates are based on this number.",
	},
	mailsDelivered: {
		name: "Delivered",
		definition:
			"Emails that the next server accepted on these days and that did not come back. This says nothing about inbox or spam folder.",
	},
	openedThen: {
		name: "Open rate",
		definition:
			"First opens by people or privacy proxies and first clicks by people on these days, whenever the email was sent. Opens by machines alone do not count.",
		part: "who opened",
	},
	clickedThen: {
		name: "Click rate",
		definition: "First clicks by people on these days, whenever the email was sent.",
		part: "who clicked",
	},
	mailable: {
		name: "Can be mailed",
		definition:
			"Active contacts that may be contacted and whose address is not on the suppression list. Whether they unsubscribed from a type is checked when an email of that type is sent.",
	},
	contacts: {
		name: "Contacts",
		definition: "All contacts in this workspace that are not deleted, whatever their status.",
	},
});

/** partOf returns the words for what a figure counts in its sum. */
export const partOf = ({ name, part }: Term): string => part ?? inSentence(name);
