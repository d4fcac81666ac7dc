import type { Answer } from "../../api/client";
import { catalogue } from "../../base/words/catalogue";

// The steps of the checklist, which Home shows, and pages that need one of them.

export type Step = Answer<"GET /overview">["setup"][number];

const words = catalogue("home.steps", {
	steps: {
		account: { name: "Who you are", about: "Name, time zone and postal address, which most laws ask for in each mail" },
		mta_config: {
			name: "How mail leaves",
			about: "Through a relay, Amazon SES, straight to recipients, or into the built-in mailbox",
		},
		sending_domain: { name: "Your domain", about: "DNS records prove that you may write for it" },
		sending_identity: { name: "Who writes", about: "A name and an address on your domain" },
		contacts: { name: "To whom", about: "Import contacts, or add one" },
		first_mail: { name: "A first mail", about: "Confirm the sender with one mail to yourself" },
		dmarc: { name: "A DMARC policy", about: "Large providers ask for one" },
		second_owner: { name: "A second owner", about: "So that somebody can help when you are away" },
		segment: { name: "A segment", about: "Write to those whom it concerns" },
		webhooks: { name: "Webhooks", about: "Tell your programs what happens" },
	},
});

/** optional are the steps that mail can go out without. */
export const optional = ["dmarc", "second_owner", "segment", "webhooks"];

/** stepWords are the name of a step, and what it is about. */
export const stepWords = (key: string) =>
	(words.steps as { [key: string]: { name: string; about: string } })[key] ?? { name: key, about: "" };

/** missing is what the account lacks for a step, as a sentence; what the step is about if the server does not say. */
export const missing = (s: Step) =>
	s.done || !s.detail ? stepWords(s.key).about : `${s.detail.slice(0, 1).toUpperCase()}${s.detail.slice(1)}`;
