// The addresses of all pages. Links, the table of pages, the navigation and the palette read them here, and
// e2e/harness checks that the tests visit each.

/** The pages of a workspace, below its own address. A part that begins with a colon stands for a record. */
export const patterns = {
	home: "/",
	contacts: "/contacts",
	contactImport: "/contacts/import",
	contact: "/contacts/:id",
	segments: "/segments",
	newSegment: "/segments/new",
	segment: "/segments/:id",
	forms: "/forms",
	form: "/forms/:id",
	suppressions: "/suppressions",
	settings: "/settings",
	account: "/settings/account",
	brand: "/settings/brand",
	members: "/settings/members",
	apiKeys: "/settings/api-keys",
	fields: "/settings/fields",
	stages: "/settings/stages",
	scoring: "/settings/scoring",
	webhooks: "/settings/webhooks",
	webhook: "/settings/webhooks/:id",
	website: "/settings/website",
	audit: "/settings/audit",
	jobs: "/jobs",
	job: "/jobs/:id",
	templates: "/templates",
	newTemplate: "/templates/new",
	template: "/templates/:id",
	blocks: "/blocks",
	block: "/blocks/:id",
	library: "/library",
	entry: "/library/:id",
	sending: "/sending",
	domains: "/sending/domains",
	domain: "/sending/domains/:id",
	senders: "/sending/senders",
	sender: "/sending/senders/:id",
	emailTypes: "/sending/types",
	seedLists: "/sending/seeds",
	seedList: "/sending/seeds/:id",
	mtas: "/sending/mta",
	mta: "/sending/mta/:id",
	mailbox: "/mailbox",
	mail: "/mailbox/:lane/:id",
	broadcasts: "/broadcasts",
	newBroadcast: "/broadcasts/new",
	broadcast: "/broadcasts/:id",
	broadcastReport: "/broadcasts/:id/report",
	broadcastDraft: "/broadcasts/:id/edit",
	recipient: "/broadcasts/:id/recipients/:contact",
	reports: "/reports",
	activity: "/activity",
	sequences: "/sequences",
	newSequence: "/sequences/new",
	sequence: "/sequences/:id",
	automations: "/automations",
	automation: "/automations/:id",
} as const;

/** The pages outside of workspaces. */
export const outside = {
	signUp: "/signup",
	acceptInvitation: "/accept-invitation",
	resetPassword: "/reset-password",
	login: "/app/-/login",
	loginLink: "/app/-/login-link",
	forgotPassword: "/app/-/forgot-password",
	me: "/app/-/me",
	frame: "/app/-/frame",
	reference: "/docs",
	/** Leads to the workspace that was open last, or to the list of them. */
	workspaces: "/app/",
} as const;

export type PageName = keyof typeof patterns;

/** The parameters that links to a page set. */
type Parameters = {
	contacts: "q" | "filters" | "new" | "job";
	contactImport: "job";
	contact: "tab";
	newSegment: "rule" | "name" | "left";
	segment: "tab" | "job";
	form: "tab";
	suppressions: "q" | "add";
	webhooks: "new";
	audit: "job";
	templates: "new";
	entry: "edit" | "v" | "compare";
	library: "new";
	seedLists: "new";
	newBroadcast: "segment";
	broadcast: "tab" | "who" | "status" | "link" | "variant" | "level";
	activity: "event";
	sequence: "tab" | "status" | "node" | "person";
	automation: "tab";
};

type Parts<Pattern> = Pattern extends `${string}:${string}/${infer Rest}`
	? [part: string, ...Parts<Rest>]
	: Pattern extends `${string}:${string}`
		? [part: string]
		: [];

type ParametersOf<N extends PageName> = N extends keyof Parameters
	? [parameters?: { [P in Parameters[N]]?: string | number }]
	: [];

type Builders = { [N in PageName]: (...parts: [...Parts<(typeof patterns)[N]>, ...ParametersOf<N>]) => string };

/** withParameters adds those parameters to a path that are not empty. */
function withParameters(path: string, parameters: { [name: string]: string | number | undefined }): string {
	const search = new URLSearchParams();
	for (const [name, value] of Object.entries(parameters))
		if (value !== undefined && value !== "") search.set(name, String(value));
	const text = search.toString();
	return text ? `${path}?${text}` : path;
}

const builderOf =
	(pattern: string) =>
	(...all: (string | { [name: string]: string | number | undefined })[]) => {
		const rest = [...all];
		const path = pattern.replace(/:\w+/g, () => encodeURIComponent(String(rest.shift())));
		const [parameters] = rest;
		return typeof parameters === "object" ? withParameters(path, parameters) : path;
	};

/** to has the address of each page: `to.contact(id, { tab: "mail" })`. */
export const to = Object.fromEntries(
	Object.entries(patterns).map(([name, pattern]) => [name, builderOf(pattern)]),
) as unknown as Builders;

/** toWorkspace is the address of the first page of a workspace, outside of any. */
export const toWorkspace = (slug: string) => `${outside.workspaces}${encodeURIComponent(slug)}`;
