import { catalogue } from "../../base/words/catalogue";

const words = catalogue("sending.relayProviders", {
	other: "Another server",
	places: {
		broadcasts: "Broadcasts, such as newsletters",
		transactional: "Transactional email",
		us: "United States",
		eu: "European Union",
		global: "Global",
	},
	username: {
		postmark: "The server API token: in Postmark under Servers, your server, API Tokens.",
		mailgun: "The SMTP user of your domain, such as postmaster@mg.example.com.",
		brevo: "The login that Brevo shows under SMTP & API, SMTP. It is not always your address.",
		sendgrid: "The word apikey, as it stands here.",
		ses: "The SMTP user name of this region: in the SES console under SMTP settings, Create SMTP credentials.",
		google: "The address of a user of your Google Workspace.",
		microsoft: "The address of the mailbox that sends. Senders need this address, or the right to send as another.",
	},
	password: {
		postmark: "The server API token again.",
		mailgun:
			"The password of that user: in Mailgun under Sending, Domain settings, SMTP credentials. It is not an API key.",
		brevo: "An SMTP key from the same page. It is not an API key.",
		sendgrid: "An API key that may send mail (Mail Send): in SendGrid under Settings, API Keys.",
		ses: "The SMTP password from there. It is not the secret access key of an AWS user.",
		google:
			"An app password of that user: in the Google account under Security, 2-Step Verification. An administrator must turn on the SMTP relay service for signed-in users first.",
		microsoft:
			"The password of the mailbox, or an app password. An administrator must allow Authenticated SMTP for it. Microsoft is ending sign-ins by password, so new organizations may not have it.",
	},
	limits: {
		postmark: "Postmark accepts newsletters only at its server for broadcasts.",
		brevo: "Free plans send 300 emails a day.",
		sendgrid: "SendGrid accepts 5,000 emails on one connection.",
		ses: "A new account is in the sandbox: 200 emails a day, one a second, and only to addresses that you have verified.",
		google: "Google accepts 10,000 recipients a day for each user.",
		microsoft:
			"Microsoft accepts 10,000 recipients a day, 30 emails a minute and 3 connections. It is not meant for newsletters.",
	},
});

export type ProviderKey = keyof typeof words.username;

type Caps = { [cap in "max_per_minute" | "max_per_day" | "max_connections"]?: string };

type Provider = {
	name: string;
	/** The servers by place: a key of the texts, or the name of a region. The first is the usual one. */
	hosts: { [place: string]: string };
	auth: "plain" | "login";
	/** A user name that is the same for everybody. */
	username?: string;
	/** Limits of the provider that are the same for everybody. */
	caps?: Caps;
};

const sesRegions = [
	"eu-central-1",
	"eu-north-1",
	"eu-west-1",
	"eu-west-2",
	"eu-west-3",
	"us-east-1",
	"us-east-2",
	"us-west-1",
	"us-west-2",
	"ca-central-1",
	"sa-east-1",
	"ap-northeast-1",
	"ap-northeast-2",
	"ap-south-1",
	"ap-southeast-1",
	"ap-southeast-2",
];

/** The providers whose servers take mail on port 587 with STARTTLS. */
export const providers: { [key in ProviderKey]: Provider } = {
	ses: {
		name: "Amazon SES",
		hosts: Object.fromEntries(sesRegions.map((region) => [region, `email-smtp.${region}.amazonaws.com`])),
		auth: "plain",
	},
	brevo: { name: "Brevo", hosts: { global: "smtp-relay.brevo.com" }, auth: "plain" },
	google: {
		name: "Google Workspace",
		hosts: { global: "smtp-relay.gmail.com" },
		auth: "plain",
		caps: { max_per_day: "10000" },
	},
	mailgun: { name: "Mailgun", hosts: { us: "smtp.mailgun.org", eu: "smtp.eu.mailgun.org" }, auth: "plain" },
	microsoft: {
		name: "Microsoft 365",
		hosts: { global: "smtp.office365.com" },
		auth: "login",
		caps: { max_per_minute: "30", max_per_day: "10000", max_connections: "3" },
	},
	postmark: {
		name: "Postmark",
		hosts: { broadcasts: "smtp-broadcasts.postmarkapp.com", transactional: "smtp.postmarkapp.com" },
		auth: "plain",
	},
	sendgrid: {
		name: "SendGrid",
		hosts: { global: "smtp.sendgrid.net", eu: "smtp.eu.sendgrid.net" },
		auth: "plain",
		username: "apikey",
	},
};

/** providerOf returns the provider that has a server, or "other". */
export function providerOf(host: string): ProviderKey | "other" {
	const known = Object.entries(providers).find(([, provider]) =>
		Object.values(provider.hosts).includes(host.trim().toLowerCase()),
	);
	return (known?.[0] as ProviderKey | undefined) ?? "other";
}

type Values = {
	name: string;
	"settings.host": string;
	"settings.username": string;
	"caps.max_per_minute": string;
	"caps.max_per_day": string;
	"caps.max_connections": string;
};

const capNames = ["max_per_minute", "max_per_day", "max_connections"] as const;

/** fill returns the fields that change when a provider is chosen: what was typed stays, unless the provider before had filled it in. */
export function fill(key: ProviderKey | "other", values: Values): { [field: string]: string } {
	const before = providerOf(values["settings.host"]);
	const former = before === "other" ? undefined : providers[before];
	const next = key === "other" ? undefined : providers[key];
	const replace = (value: string, from: string | undefined, to: string | undefined) =>
		value === "" || value === from ? (to ?? "") : value;
	const changes: { [field: string]: string } = {
		name: replace(values.name, former?.name, next?.name),
		"settings.host": next ? (Object.values(next.hosts)[0] ?? "") : "",
		"settings.username": next?.username ?? replace(values["settings.username"], former?.username, undefined),
	};
	for (const cap of capNames)
		changes[`caps.${cap}`] = replace(values[`caps.${cap}`], former?.caps?.[cap], next?.caps?.[cap]);
	return next
		? { ...changes, "settings.port": "587", "settings.tls": "starttls", "settings.auth": next.auth }
		: changes;
}

/** providerChoices are the providers by name, and another server. */
export const providerChoices = () => [
	...Object.entries(providers).map(([value, provider]) => ({ value, label: provider.name })),
	{ value: "other", label: words.other },
];

/** placeChoices are the servers of a provider, by place. */
export const placeChoices = (key: ProviderKey) =>
	Object.entries(providers[key].hosts).map(([place, host]) => ({
		value: host,
		label: (words.places as { [place: string]: string })[place] ?? place,
	}));

/** hints says what a provider wants as user name and password, and what its limits are. */
export const hints = (key: ProviderKey | "other") =>
	key === "other"
		? {}
		: {
				username: words.username[key],
				password: words.password[key],
				limits: (words.limits as { [key: string]: string })[key],
			};
