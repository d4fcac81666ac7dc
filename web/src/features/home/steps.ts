import type { Answer } from "../../api/client";
import { catalogue } from "../../base/words/catalogue";
import { plainSentence } from "../../base/words/sentences";

// The steps of the checklist, which Home shows, and pages that need one of them.

export type Step = Answer<"GET /overview">["setup"][number];

const words = catalogue("home.steps", {
	steps: {
		account: {
			name: "Your details",
			about: "Name, time zone and postal address, which most laws require in every email",
		},
		mta_config: {
			name: "Sending server",
			about: "A relay, Amazon SES, direct delivery or the built-in mailbox",
		},
		sending_domain: { name: "Your domain", about: "DNS records prove that you may send for it" },
		sending_identity: { name: "Sender", about: "A name and an address on your domain" },
		contacts: { name: "Contacts", about: "Import contacts or add one" },
		first_mail: { name: "Test email", about: "Confirm the sender with an email to yourself" },
		dmarc: { name: "DMARC policy", about: "Large mailbox providers require one" },
		second_owner: { name: "Second owner", about: "So that somebody can help when you are away" },
		segment: { name: "Segment", about: "Write only to the people it concerns" },
		webhooks: { name: "Webhooks", about: "Notify your programs of what happens" },
	},
});

/** optional are the steps that mail can go out without. */
export const optional = ["dmarc", "second_owner", "segment", "webhooks"];

/** stepWords are the name of a step, and what it is about. */
export const stepWords = (key: string) =>
	(words.steps as { [key: string]: { name: string; about: string } })[key] ?? { name: key, about: "" };

/** missing is what the account lacks for a step, as a sentence; what the step is about if the server does not say. */
export const missing = (step: Step) =>
	(!step.done && step.detail && plainSentence(step.detail)) || stepWords(step.key).about;
