import { fill, providerOf, providers } from "./relayProviders";
import { equals, type Tests } from "../../base/testing";

const empty = {
	name: "",
	"settings.host": "",
	"settings.username": "",
	"caps.max_per_minute": "",
	"caps.max_per_day": "",
	"caps.max_connections": "",
};

const tests: Tests = {
	"a provider is known by each of its servers"() {
		for (const [key, provider] of Object.entries(providers))
			for (const host of Object.values(provider.hosts)) equals(providerOf(` ${host.toUpperCase()}`), key);
		equals(providerOf("smtp.example.net"), "other");
		equals(providerOf(""), "other");
	},
	"choosing a provider fills in what is the same for everybody"() {
		const sendgrid = fill("sendgrid", empty);
		equals(
			[sendgrid["settings.host"], sendgrid["settings.port"], sendgrid["settings.tls"], sendgrid["settings.username"]],
			["smtp.sendgrid.net", "587", "starttls", "apikey"],
		);
		const microsoft = fill("microsoft", { ...empty, name: "Ours", "caps.max_per_day": "50" });
		equals(
			[microsoft.name, microsoft["settings.auth"], microsoft["caps.max_per_minute"], microsoft["caps.max_per_day"]],
			["Ours", "login", "30", "50"],
		);
	},
	"another choice takes back what the one before had filled in, and nothing else"() {
		const before = { ...empty, ...fill("microsoft", empty), "settings.username": "ann@example.com" };
		const postmark = fill("postmark", before);
		equals(
			[postmark.name, postmark["settings.username"], postmark["caps.max_per_minute"], postmark["settings.auth"]],
			["Postmark", "ann@example.com", "", "plain"],
		);
		const other = fill("other", { ...empty, ...fill("sendgrid", empty) });
		equals([other.name, other["settings.host"], other["settings.username"]], ["", "", ""]);
	},
};

export default tests;
