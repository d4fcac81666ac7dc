import { catalogue } from "../../base/words/catalogue";

/** providers are the names of the providers of seeds. */
export const providers = catalogue("sending.seedProviders", {
	gmail: "Gmail",
	outlook: "Outlook",
	yahoo: "Yahoo",
	aol: "AOL",
	icloud: "iCloud",
	proton: "Proton",
	other: "Other",
});
