import type { Answer } from "../../api/client";
import { catalogue } from "../../base/words/catalogue";

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
	missing: {
		name: "The workspace has no name.",
		zone: "The workspace has no time zone.",
		address: "The workspace has no postal address.",
		noServer: "There is no sending server.",
		noDefault: "The workspace has no default sending server.",
		serverOff: "The default sending server is not active.",
		untested: "{name} has not accepted a test yet.",
		noDomain: "There is no sending domain.",
		tracking: "The tracking host of {name} is not live.",
		unverified: "{name} is not verified.",
		noSender: "There is no sender.",
		noDefaultSender: "The workspace has no default sender.",
		inactive: "{name} is not active.",
		noType: "{name} has no email type.",
		senderDomain: "The domain of {name} is not verified, or its tracking host is not live.",
	},
});

/** optional are the steps that mail can go out without. */
export const optional = ["dmarc", "second_owner", "segment", "webhooks"];

/** stepWords returns the name of a step and its description. */
export function stepWords(key: string): { name: string; description: string } {
	const text = (words.steps as { [key: string]: { name: string; about: string } })[key];
	return { name: text?.name ?? key, description: text?.about ?? "" };
}

/** What the server says is missing, by parts of its texts. The first that fits counts. */
const forms: [keyof typeof words.missing, RegExp][] = [
	["name", /^the account has no name$/],
	["zone", /^the account has no time zone$/],
	["address", /^the account has no postal address$/],
	["noDefault", /^the account has no default MTA config$/],
	["noServer", /^there is no MTA config$/],
	["serverOff", /^the default MTA config is not active$/],
	["untested", /^no test of (.+) was accepted yet$/],
	["noDomain", /^there is no sending domain$/],
	["tracking", /^the tracking host of (.+) is not live$/],
	["unverified", /^(.+) is not verified$/],
	["noSender", /^there is no sending identity$/],
	["noDefaultSender", /^the account has no default sending identity$/],
	["senderDomain", /^the domain of (.+) is not verified, or its tracking host not live$/],
	["inactive", /^(.+) is not active$/],
	["noType", /^(.+) has no email type$/],
];

/** missingText returns the sentence for what the server says is missing, or null if there is none. */
export function missingText(detail: string): string | null {
	for (const [key, form] of forms) {
		const found = form.exec(detail);
		if (!found) continue;
		const message = words.missing[key];
		return typeof message === "string" ? message : message({ name: found[1] ?? "" });
	}
	return null;
}

/** missing is what the account lacks for a step, as a sentence; what the step is about if the server does not say. */
export const missing = (step: Step) =>
	(!step.done && step.detail && missingText(step.detail)) || stepWords(step.key).description;
