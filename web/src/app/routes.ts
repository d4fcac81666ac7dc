import type { ComponentType } from "react";
import { type PageName, patterns } from "../base/paths";
import { Code } from "./page";
import { withProblemTexts } from "../base/words/errors";
import { listOf, pageAt } from "./pagePaths";

// The pages of a workspace by address. Each is loaded when it is first opened, or when a link to it is
// hovered or focused.

type Module = { default: ComponentType };
type Page = { path: string; code: Code };

/** The code of each page. */
const code: { [N in PageName]: () => Promise<Module> } = {
	home: () => import("../features/home/Home"),
	contacts: () => import("../features/contacts/Contacts"),
	contactImport: () => import("../features/imports/Import"),
	contact: () => import("../features/contacts/Contact"),
	segments: () => import("../features/segments/Segments"),
	newSegment: () => import("../features/segments/NewSegment"),
	segment: () => import("../features/segments/Segment"),
	forms: () => import("../features/forms/Forms"),
	form: () => import("../features/forms/Form"),
	suppressions: () => import("../features/suppressions/Suppressions"),
	settings: () => import("../features/settings/Settings"),
	account: () => import("../features/settings/Account"),
	brand: () => import("../features/settings/Brand"),
	members: () => import("../features/settings/Members"),
	apiKeys: () => import("../features/settings/ApiKeys"),
	fields: () => import("../features/settings/Fields"),
	stages: () => import("../features/settings/Stages"),
	scoring: () => import("../features/settings/Scoring"),
	webhooks: () => import("../features/settings/Webhooks"),
	webhook: () => import("../features/settings/Webhook"),
	website: () => import("../features/settings/Website"),
	audit: () => import("../features/audit/Audit"),
	jobs: () => import("../features/jobs/Jobs"),
	job: () => import("../features/jobs/Job"),
	templates: () => import("../features/templates/Templates"),
	newTemplate: () => import("../features/templates/NewTemplate"),
	template: () => import("../features/templates/Template"),
	blocks: () => import("../features/blocks/Blocks"),
	block: () => import("../features/blocks/Block"),
	library: () => import("../features/library/Library"),
	entry: () => import("../features/library/Entry"),
	sending: () => import("../features/sending/Sending"),
	domains: () => import("../features/sending/Sending"),
	domain: () => import("../features/sending/Domain"),
	senders: () => import("../features/sending/Senders"),
	sender: () => import("../features/sending/Sender"),
	emailTypes: () => import("../features/sending/Types"),
	seedLists: () => import("../features/sending/Seeds"),
	seedList: () => import("../features/sending/SeedList"),
	mtas: () => import("../features/sending/Sending"),
	mta: () => import("../features/sending/Mta"),
	mailbox: () => import("../features/mailbox/Mailbox"),
	mail: () => import("../features/mailbox/Message"),
	broadcasts: () => import("../features/broadcasts/Broadcasts"),
	newBroadcast: () => import("../features/broadcasts/Broadcasts"),
	broadcast: () => import("../features/broadcasts/Broadcast"),
	broadcastReport: () => import("../features/broadcasts/Broadcast"),
	broadcastDraft: () => import("../features/broadcasts/Composer"),
	recipient: () => import("../features/broadcasts/Recipient"),
	reports: () => import("../features/reports/Reports"),
	activity: () => import("../features/activity/Activity"),
	sequences: () => import("../features/sequences/Sequences"),
	newSequence: () => import("../features/sequences/Sequences"),
	sequence: () => import("../features/sequences/Sequence"),
	automations: () => import("../features/automations/Automations"),
	automation: () => import("../features/automations/Automation"),
};

/** The pages that show what the server finds wrong, which wait for the sentences about that. */
const problemPages: PageName[] = [
	"newSegment",
	"segment",
	"form",
	"brand",
	"scoring",
	"webhook",
	"jobs",
	"job",
	"contactImport",
	"template",
	"block",
	"entry",
	"domain",
	"mta",
	"broadcast",
	"broadcastReport",
	"broadcastDraft",
	"recipient",
	"sequence",
	"automation",
];

/** The pages with their paths, in the order of patterns: the first that matches an address is shown. */
export const pages: Page[] = (Object.keys(patterns) as PageName[]).map((name) => ({
	path: patterns[name],
	code: new Code(problemPages.includes(name) ? () => withProblemTexts(code[name]) : code[name]),
}));

/** withoutRecord returns the path of the page that lists what the page at a path shows one of, or else the path. */
export const withoutRecord = (path: string) => listOf(pageAt(pages, path)?.path ?? "/");

/** prefetch loads the code of the page at a path. */
export function prefetch(path: string) {
	pageAt(pages, path)
		?.code.load()
		.catch(() => undefined);
}

/**
 * prefetchAll loads the code of all pages when the browser has time, so that a tab that stays open works on
 * after the server was replaced by another version. It does so unless the person saves data.
 */
export function prefetchAll() {
	if ((navigator as { connection?: { saveData?: boolean } }).connection?.saveData) return;
	const whenIdle = window.requestIdleCallback ?? ((run: () => void) => window.setTimeout(run, 200));
	let index = 0;
	const next = () => {
		const page = pages[index++];
		if (page)
			page.code.load().then(
				() => whenIdle(next),
				() => undefined,
			);
	};
	setTimeout(() => whenIdle(next), 30_000);
}
