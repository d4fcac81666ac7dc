import type { ComponentType } from "react";
import { Code } from "./page";

// The pages of a workspace by address. Each is loaded when it is first opened, or when a link to it is
// hovered or focused.

type Module = { default: ComponentType };
type Page = { path: string; code: Code };

const page = (path: string, load: () => Promise<Module>): Page => ({ path, code: new Code(load) });

export const pages: Page[] = [
	page("/", () => import("../home/Home")),
	page("/contacts", () => import("../contacts/Contacts")),
	page("/contacts/import", () => import("../contacts/Import")),
	page("/contacts/:id", () => import("../contacts/Contact")),
	page("/segments", () => import("../segments/Segments")),
	page("/segments/new", () => import("../segments/NewSegment")),
	page("/segments/:id", () => import("../segments/Segment")),
	page("/forms", () => import("../forms/Forms")),
	page("/forms/:id", () => import("../forms/Form")),
	page("/suppressions", () => import("../suppressions/Suppressions")),
	page("/settings", () => import("../settings/Settings")),
	page("/settings/account", () => import("../settings/Account")),
	page("/settings/members", () => import("../settings/Members")),
	page("/settings/api-keys", () => import("../settings/ApiKeys")),
	page("/settings/fields", () => import("../settings/Fields")),
	page("/settings/stages", () => import("../settings/Stages")),
	page("/settings/scoring", () => import("../settings/Scoring")),
	page("/settings/webhooks", () => import("../settings/Webhooks")),
	page("/settings/webhooks/:id", () => import("../settings/Webhook")),
	page("/settings/website", () => import("../settings/Website")),
	page("/settings/audit", () => import("../settings/Audit")),
	page("/jobs", () => import("../jobs/Jobs")),
	page("/jobs/:id", () => import("../jobs/Job")),
	page("/templates", () => import("../templates/Templates")),
	page("/templates/new", () => import("../templates/NewTemplate")),
	page("/templates/:id", () => import("../templates/Template")),
	page("/blocks", () => import("../blocks/Blocks")),
	page("/blocks/:id", () => import("../blocks/Block")),
	page("/library", () => import("../library/Library")),
	page("/library/:id", () => import("../library/Entry")),
	page("/sending", () => import("../sending/Sending")),
	page("/sending/domains", () => import("../sending/Sending")),
	page("/sending/domains/:id", () => import("../sending/Domain")),
	page("/sending/senders", () => import("../sending/Senders")),
	page("/sending/senders/:id", () => import("../sending/Sender")),
	page("/sending/types", () => import("../sending/Types")),
	page("/sending/seeds", () => import("../sending/Seeds")),
	page("/sending/seeds/:id", () => import("../sending/SeedList")),
	page("/sending/mta", () => import("../sending/Sending")),
	page("/sending/mta/:id", () => import("../sending/Mta")),
	page("/mailbox", () => import("../mailbox/Mailbox")),
	page("/mailbox/:lane/:id", () => import("../mailbox/Message")),
	page("/broadcasts", () => import("../broadcasts/Broadcasts")),
	page("/broadcasts/new", () => import("../broadcasts/Broadcasts")),
	page("/broadcasts/:id", () => import("../broadcasts/Broadcast")),
	page("/broadcasts/:id/report", () => import("../broadcasts/Broadcast")),
	page("/broadcasts/:id/edit", () => import("../broadcasts/Composer")),
	page("/broadcasts/:id/recipients/:contact", () => import("../broadcasts/Recipient")),
	page("/reports", () => import("../reports/Reports")),
	page("/activity", () => import("../activity/Activity")),
	page("/sequences", () => import("../sequences/Sequences")),
	page("/sequences/new", () => import("../sequences/Sequences")),
	page("/sequences/:id", () => import("../sequences/Sequence")),
	page("/automations", () => import("../automations/Automations")),
	page("/automations/:id", () => import("../automations/Automation")),
];

/** find returns the page at a path. */
function find(path: string): Page | undefined {
	const parts = path.split("?")[0]?.split("/") ?? [];
	return pages.find((p) => {
		const want = p.path.split("/");
		return want.length === parts.length && want.every((w, i) => w.startsWith(":") || w === parts[i]);
	});
}

/** withoutRecord returns the path of the page that lists what the page at a path shows one of, or else the path. */
export const withoutRecord = (path: string) => find(path)?.path.replace(/\/:.*$/, "") ?? "/";

/** prefetch loads the code of the page at a path. */
export function prefetch(path: string) {
	find(path)?.code.load().catch(() => undefined);
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
		if (p) p.code.load().then(() => soon(next), () => undefined);
	};
	setTimeout(() => soon(next), 30_000);
}
