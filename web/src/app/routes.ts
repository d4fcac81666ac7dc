import type { ComponentType } from "react";
import { Code } from "./page";
import { listOf, pageAt } from "./pagePaths";

// The pages of a workspace by address. Each is loaded when it is first opened, or when a link to it is
// hovered or focused.

type Module = { default: ComponentType };
type Page = { path: string; code: Code };

const page = (path: string, load: () => Promise<Module>): Page => ({ path, code: new Code(load) });

export const pages: Page[] = [
	page("/", () => import("../features/home/Home")),
	page("/contacts", () => import("../features/contacts/Contacts")),
	page("/contacts/import", () => import("../features/contacts/Import")),
	page("/contacts/:id", () => import("../features/contacts/Contact")),
	page("/segments", () => import("../features/segments/Segments")),
	page("/segments/new", () => import("../features/segments/NewSegment")),
	page("/segments/:id", () => import("../features/segments/Segment")),
	page("/forms", () => import("../features/forms/Forms")),
	page("/forms/:id", () => import("../features/forms/Form")),
	page("/suppressions", () => import("../features/suppressions/Suppressions")),
	page("/settings", () => import("../features/settings/Settings")),
	page("/settings/account", () => import("../features/settings/Account")),
	page("/settings/members", () => import("../features/settings/Members")),
	page("/settings/api-keys", () => import("../features/settings/ApiKeys")),
	page("/settings/fields", () => import("../features/settings/Fields")),
	page("/settings/stages", () => import("../features/settings/Stages")),
	page("/settings/scoring", () => import("../features/settings/Scoring")),
	page("/settings/webhooks", () => import("../features/settings/Webhooks")),
	page("/settings/webhooks/:id", () => import("../features/settings/Webhook")),
	page("/settings/website", () => import("../features/settings/Website")),
	page("/settings/audit", () => import("../features/settings/Audit")),
	page("/jobs", () => import("../features/jobs/Jobs")),
	page("/jobs/:id", () => import("../features/jobs/Job")),
	page("/templates", () => import("../features/templates/Templates")),
	page("/templates/new", () => import("../features/templates/NewTemplate")),
	page("/templates/:id", () => import("../features/templates/Template")),
	page("/blocks", () => import("../features/blocks/Blocks")),
	page("/blocks/:id", () => import("../features/blocks/Block")),
	page("/library", () => import("../features/library/Library")),
	page("/library/:id", () => import("../features/library/Entry")),
	page("/sending", () => import("../features/sending/Sending")),
	page("/sending/domains", () => import("../features/sending/Sending")),
	page("/sending/domains/:id", () => import("../features/sending/Domain")),
	page("/sending/senders", () => import("../features/sending/Senders")),
	page("/sending/senders/:id", () => import("../features/sending/Sender")),
	page("/sending/types", () => import("../features/sending/Types")),
	page("/sending/seeds", () => import("../features/sending/Seeds")),
	page("/sending/seeds/:id", () => import("../features/sending/SeedList")),
	page("/sending/mta", () => import("../features/sending/Sending")),
	page("/sending/mta/:id", () => import("../features/sending/Mta")),
	page("/mailbox", () => import("../features/mailbox/Mailbox")),
	page("/mailbox/:lane/:id", () => import("../features/mailbox/Message")),
	page("/broadcasts", () => import("../features/broadcasts/Broadcasts")),
	page("/broadcasts/new", () => import("../features/broadcasts/Broadcasts")),
	page("/broadcasts/:id", () => import("../features/broadcasts/Broadcast")),
	page("/broadcasts/:id/report", () => import("../features/broadcasts/Broadcast")),
	page("/broadcasts/:id/edit", () => import("../features/broadcasts/Composer")),
	page("/broadcasts/:id/recipients/:contact", () => import("../features/broadcasts/Recipient")),
	page("/reports", () => import("../features/reports/Reports")),
	page("/activity", () => import("../features/activity/Activity")),
	page("/sequences", () => import("../features/sequences/Sequences")),
	page("/sequences/new", () => import("../features/sequences/Sequences")),
	page("/sequences/:id", () => import("../features/sequences/Sequence")),
	page("/automations", () => import("../features/automations/Automations")),
	page("/automations/:id", () => import("../features/automations/Automation")),
];

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
	const soon = window.requestIdleCallback ?? ((run: () => void) => window.setTimeout(run, 200));
	let at = 0;
	const next = () => {
		const p = pages[at++];
		if (p)
			p.code.load().then(
				() => soon(next),
				() => undefined,
			);
	};
	setTimeout(() => soon(next), 30_000);
}
