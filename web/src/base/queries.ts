import type { Query } from "@tanstack/react-query";
import { workspaceSlug } from "../api/client";
import type { Change } from "../api/schema";
import { pollEvery } from "./liveState";

// Every kind of cached answer, in one table: what identifies one of the kind, how long it is fresh, what makes it
// stale, and whether it is kept over a reload. The functions of queries.ts in each feature add the request.

type Hint = Change["type"];

/** Why no change that the server announces makes an answer stale. */
type Unannounced =
	/** The answer never changes, or the parts of its key have the version of it. */
	| "fixed"
	/** It is worked out for what somebody types, each time anew. */
	| "computed"
	/** It changes with every mail, event or request. Pages that follow it read it again by time, to move less often. */
	| "timed"
	/** The signed-in person alone changes it, on pages that say so. */
	| "own"
	/** It is no record of a workspace, and changes rarely: it is read again with its page, and when the window is looked at again. */
	| "rare";

type Rules = {
	/** How long it is fresh, in milliseconds; 15 s if it does not say. */
	staleTime?: number;
	/** How often it is read again while changes are not announced, in milliseconds. */
	poll?: number;
	/** How often it is read again also while they are: of what depends on the time of day, too. */
	interval?: number;
	/** How long it is held in memory when nothing shows it; 10 minutes if it does not say. */
	gcTime?: number;
	/** Whether the next visit shows it at once (persistence.ts). Nothing about contacts is kept. */
	persisted?: true;
	/** Whether it is the person's, and not that of a workspace. */
	person?: true;
	/** Whether it has numbers of contacts: a change of any makes it stale, and what is shown is read again soon (live.ts). */
	counts?: true;
} & (
	| {
			/** A change of any record of these types makes it stale; */
			hints?: Hint[];
			/** and of this type that of the record whose id is the first part. */
			record?: Hint;
			unannounced?: undefined;
	  }
	| { unannounced: Unannounced; hints?: undefined; record?: undefined }
);

/** A kind of answers with Parts in their keys. */
type KindOf<Parts extends unknown[]> = Rules & { parts?: Parts };

const kind = <Parts extends unknown[] = []>(rules: Rules): KindOf<Parts> => rules;

/** The rows of a collection that pages name or offer: collections.ts asks for those that are needed together. */
const rows = kind<[]>;

const minute = 60_000;
const forever = Number.POSITIVE_INFINITY;

/**
 * The table. What belongs to a kind has its name and a dot before its own: to mark `contact` of an id as stale is to
 * mark all that is shown of the contact.
 */
export const table = {
	// The person and the installation.
	session: kind({ person: true, staleTime: minute, unannounced: "rare" }),
	sessions: kind({ person: true, unannounced: "rare" }),
	options: kind({ person: true, staleTime: minute, unannounced: "rare" }),
	link: kind<[kind: string, token: string]>({ person: true, staleTime: forever, unannounced: "fixed" }),

	// The account.
	account: kind({ hints: ["account"], persisted: true }),
	shell: kind({
		staleTime: 30_000,
		poll: 30_000,
		hints: ["account", "domain", "job", "mta_config"],
		persisted: true,
	}),
	// Of forms, sequences and webhooks it shows those that cannot work. Their changes are too many to follow: each
	// submission, step and delivery is one. Seed lists become due by the clock.
	overview: kind({
		staleTime: 5000,
		poll: 30_000,
		interval: 5 * minute,
		hints: ["account", "broadcast", "domain", "job", "member", "mta_config", "seed_list"],
		persisted: true,
		counts: true,
	}),
	search: kind<[text: string, types: string | undefined]>({ staleTime: 5000, unannounced: "computed" }),
	scoring: kind({ hints: ["account"] }),
	brand: kind({ staleTime: minute, hints: ["account", "asset"] }),
	"brand.preview": kind<[code: string]>({ unannounced: "computed" }),
	custom_fields: rows({ staleTime: minute, hints: ["account"], persisted: true }),
	"custom_fields.usage": kind<[id: string]>({ hints: ["account", "form", "segment", "sequence"] }),
	stages: rows({ staleTime: minute, hints: ["account"], persisted: true }),
	users: kind({ hints: ["member"] }),
	api_keys: kind({ hints: ["api_key"] }),
	scopes: kind({ staleTime: minute, unannounced: "fixed" }),
	audit: kind<[query: object]>({ hints: ["audit_log"] }),
	webhooks: kind({ poll: 15_000, hints: ["webhook"] }),
	webhook: kind<[id: string]>({ poll: 15_000, record: "webhook" }),
	"webhook.deliveries": kind<[id: string]>({ record: "webhook" }),
	"webhook.delivery": kind<[id: string, delivery: string]>({ record: "webhook" }),
	jobs: kind<[type: string, mine: boolean]>({ hints: ["job"] }),
	job: kind<[id: string]>({ staleTime: 1000, record: "job" }),

	// What was typed and is not saved.
	working_copies: rows({ unannounced: "own" }),
	"working_copies.one": kind<[kind: string, id: string]>({ staleTime: 5000, gcTime: 5000, unannounced: "own" }),
	"working_copies.of": kind<[id: string]>({ gcTime: 0, unannounced: "own" }),
	"working_copies.problems": kind({ unannounced: "own" }),

	// Contacts.
	contacts: kind<[selector: object, sort: string | undefined, dir: "asc" | "desc" | undefined]>({
		poll: minute,
		hints: ["contact"],
	}),
	"contacts.count": kind<[selector: object]>({ hints: ["contact"] }),
	"contacts.found": kind<[text: string]>({ hints: ["contact"] }),
	"contacts.holding": kind<[emails: string[]]>({ hints: ["contact"] }),
	"contacts.lacking": kind<[fields: string[]]>({ staleTime: minute, hints: ["contact"] }),
	contact: kind<[id: string]>({ staleTime: 5000, poll: minute, record: "contact" }),
	"contact.consents": kind<[id: string]>({ record: "contact" }),
	"contact.lists": kind<[id: string]>({ record: "contact", hints: ["segment"] }),
	"contact.mail": kind<[id: string]>({ record: "contact" }),
	"contact.activity": kind<[id: string]>({ poll: minute, record: "contact" }),
	"contact.activity.latest": kind<[id: string]>({ record: "contact" }),
	"contact.enrollments": kind<[id: string]>({ record: "contact", hints: ["sequence"] }),
	"contact.eligibility": kind<[id: string, about: string]>({
		poll: minute,
		record: "contact",
		hints: ["account", "broadcast", "domain", "mta_config"],
	}),
	saved_filters: rows({ staleTime: minute, hints: ["saved_filter"] }),
	suppressions: kind<[search: string, reason: string]>({ hints: ["contact"] }),
	segments: rows({ poll: 15_000, hints: ["segment"], persisted: true, counts: true }),
	"segments.usage": kind({ hints: ["segment"], persisted: true }),
	"segments.preview": kind<[definition: string]>({ staleTime: 0, unannounced: "computed" }),
	// Addresses name a segment by its key, and changes by its id.
	segment: kind<[key: string]>({ poll: 30_000, hints: ["segment"], counts: true }),
	"segment.members": kind<[key: string, search: string]>({ hints: ["segment"] }),
	forms: rows({ hints: ["form"], persisted: true }),
	"forms.list": kind<[status: string]>({ poll: 15_000, hints: ["form"], persisted: true }),
	form: kind<[id: string]>({ poll: minute, record: "form" }),
	"form.embed": kind<[id: string]>({ record: "form" }),
	"form.preview": kind<[id: string, body: string]>({ unannounced: "computed" }),
	"form.submissions": kind<[id: string]>({ poll: 15_000, record: "form" }),

	// What happened.
	activity: kind<[kind: string, event: string, contact: string]>({
		staleTime: forever,
		gcTime: 0,
		unannounced: "timed",
	}),
	"activity.newest": kind<[kind: string, event: string, contact: string]>({ gcTime: 0, unannounced: "timed" }),
	"suggestions.event_names": kind<[typed: string]>({ staleTime: minute, unannounced: "timed" }),
	"suggestions.event_properties": kind<[event: string, typed: string]>({ staleTime: minute, unannounced: "timed" }),
	"suggestions.tags": kind<[typed: string]>({ hints: ["contact"] }),
	"suggestions.field": kind<[field: string, typed: string]>({ staleTime: minute, unannounced: "timed" }),
	reports: kind<[from: string, to: string, emailType: string]>({
		staleTime: minute,
		interval: minute,
		unannounced: "timed",
	}),

	// Content.
	templates: rows({ staleTime: minute, hints: ["template"], persisted: true }),
	"templates.names": kind({ hints: ["template"], persisted: true }),
	"templates.usage": kind({ hints: ["template"], persisted: true }),
	template_starters: kind({ staleTime: 10 * minute, hints: ["account"], persisted: true }), // they are in the brand
	"starter.thumb": kind<[starter: string, code: string]>({ staleTime: 5 * minute, hints: ["account"] }),
	template: kind<[id: string]>({ record: "template" }),
	"template.touched": kind<[id: string]>({ staleTime: 0, unannounced: "computed" }),
	"template.preview": kind<[id: string, asked: string]>({ staleTime: 0, gcTime: minute, unannounced: "computed" }),
	// Templates and blocks are named by slugs, too, and changes by ids.
	"template.options": kind<[template: string]>({ hints: ["block", "template"] }),
	"template.picked": kind<[template: string, record: string, asked: string]>({
		staleTime: 30_000,
		unannounced: "computed",
	}),
	"template.thumb": kind<[template: string, changed: string]>({ staleTime: 5 * minute, unannounced: "fixed" }),
	blocks: rows({ staleTime: minute, hints: ["block"], persisted: true }),
	"blocks.tagged": kind<[tags: string[]]>({ hints: ["block"] }),
	"blocks.usage": kind({ hints: ["block"], persisted: true }),
	block: kind<[id: string]>({ hints: ["block"] }),
	"block.touched": kind<[id: string]>({ staleTime: 0, unannounced: "computed" }),
	"block.preview": kind<[id: string, asked: string]>({ staleTime: 0, gcTime: minute, unannounced: "computed" }),
	"block.thumb": kind<[block: string, changed: string]>({ staleTime: 5 * minute, unannounced: "fixed" }),
	messages: rows({ hints: ["message"], persisted: true }),
	"messages.list": kind<[search: string, status: string, offset: string]>({ hints: ["message"], persisted: true }),
	message: kind<[id: string]>({ record: "message" }),
	"message.versions": kind<[id: string]>({ record: "message" }),
	"message.rendered": kind<[id: string, version: number | undefined]>({ staleTime: minute, record: "message" }),
	"message.preview": kind<[id: string, asked: string]>({ staleTime: 0, gcTime: minute, unannounced: "computed" }),
	"message.rebase": kind<[id: string, version: number]>({ record: "message", hints: ["block", "template"] }),
	assets: kind<[search: string]>({ hints: ["asset"] }),

	// What sends.
	email_types: rows({ staleTime: minute, hints: ["account"], persisted: true }),
	email_categories: rows({ staleTime: minute, hints: ["account"], persisted: true }),
	sending_identities: rows({ staleTime: minute, hints: ["account", "domain", "mta_config"], persisted: true }),
	sending_identity: kind<[id: string]>({ hints: ["account", "domain", "mta_config"] }),
	domains: kind({ poll: 15_000, hints: ["domain"], persisted: true }),
	domain: kind<[id: string]>({ record: "domain" }),
	mta_configs: rows({ staleTime: minute, poll: 15_000, hints: ["mta_config"], persisted: true }),
	mta_config: kind<[id: string]>({ interval: 15_000, record: "mta_config" }),
	"mta_config.usage": kind<[id: string]>({ record: "mta_config", hints: ["account"] }),
	mailbox: kind<[lane: string, search: string]>({ interval: 5000, hints: ["mailbox"] }),
	"mailbox.message": kind<[lane: string, message: string]>({ unannounced: "fixed" }),
	// Lists become due by the clock.
	seed_lists: rows({
		staleTime: minute,
		poll: minute,
		interval: 5 * minute,
		hints: ["account", "seed_list"],
		persisted: true,
	}),
	seed_list: kind<[id: string]>({ poll: minute, interval: 5 * minute, record: "seed_list", hints: ["account"] }),
	"seed_list.seeds": kind<[id: string, search: string, status: string]>({ record: "seed_list" }),
	"seed_list.syncs": kind<[id: string]>({ record: "seed_list" }),

	// Broadcasts.
	broadcasts: rows({ staleTime: minute, hints: ["broadcast"], persisted: true }),
	"broadcasts.list": kind<[archived: boolean]>({ poll: 15_000, hints: ["broadcast"], persisted: true }),
	"broadcasts.metrics": kind<[ids: string[]]>({ poll: 15_000, hints: ["broadcast"], persisted: true }),
	"broadcasts.last_send": kind({ staleTime: minute, hints: ["broadcast"], persisted: true }),
	broadcast: kind<[id: string]>({ staleTime: 2000, record: "broadcast" }),
	"broadcast.draft": kind<[id: string]>({ staleTime: 5000, record: "broadcast" }),
	"broadcast.recipient": kind<[id: string, contact: string]>({ poll: 30_000, record: "broadcast" }),
	"broadcast.as_sent": kind<[id: string, variant: string]>({ staleTime: 5 * minute, unannounced: "fixed" }),
	"broadcast.preview": kind<[id: string, asked: object]>({ staleTime: 0, gcTime: minute, record: "broadcast" }),
	"broadcast.compare": kind<[id: string, which: string, changed: string]>({ record: "broadcast" }),
	"broadcast.forecast": kind<[id: string, asked: string]>({ staleTime: 0, record: "broadcast" }),
	"broadcast.reschedule": kind<[id: string, skipped: string[]]>({ staleTime: 0, record: "broadcast" }),
	report: kind<[broadcast: string]>({ unannounced: "timed" }),
	"report.links": kind<[broadcast: string]>({ unannounced: "timed" }),
	"report.engagement": kind<[broadcast: string]>({ unannounced: "timed" }),
	"report.timing": kind<[broadcast: string, interval: string]>({ unannounced: "timed" }),
	"report.bounces": kind<[broadcast: string]>({ poll: 30_000, unannounced: "timed" }),
	"report.recipients": kind<[broadcast: string, query: object]>({ poll: 30_000, unannounced: "timed" }),
	"report.did": kind<[broadcast: string, rule: object]>({ poll: 30_000, unannounced: "timed" }),
	"report.did.count": kind<[broadcast: string, rule: object]>({ unannounced: "timed" }),

	// Sequences and automations.
	sequences: rows({ hints: ["sequence"], persisted: true }),
	"sequences.counts": kind({ poll: 15_000, hints: ["sequence"], persisted: true }),
	sequence: kind<[id: string]>({ poll: 15_000, record: "sequence" }),
	"sequence.report": kind<[id: string]>({ record: "sequence" }),
	"sequence.days": kind<[id: string, from: string, to: string]>({
		staleTime: minute,
		interval: minute,
		unannounced: "timed",
	}),
	"sequence.steps": kind<[id: string, enrollment: string]>({ poll: 15_000, record: "sequence" }),
	"sequence.people": kind<[id: string, step: string, status: string]>({ poll: 15_000, record: "sequence" }),
	automations: kind<[statuses: string, search: string]>({ interval: 15_000, unannounced: "timed", persisted: true }),
	automation: kind<[id: string]>({ interval: 15_000, unannounced: "timed" }),
	"automation.runs": kind<[id: string, status: string]>({ interval: 15_000, unannounced: "timed" }),
};

export type Kind = keyof typeof table;
type Parts<K extends Kind> = (typeof table)[K] extends KindOf<infer P> ? P : never;
type Prefix<P extends unknown[]> = P extends [infer First, ...infer Rest] ? [] | [First, ...Prefix<Rest>] : [];

/** The key of a cached answer: the workspace, or nothing for what is the person's; the kind; its parts. */
export type Key = readonly [workspace: string, kind: Kind, ...parts: unknown[]];

const rulesOf = (key: readonly unknown[]): Rules | undefined => (table as { [kind: string]: Rules })[String(key[1])];

/** intervalOf returns how often an answer is read again now; false is never. */
const intervalOf = ({ poll, interval }: Rules) => (poll && pollEvery(poll)()) || interval || false;

/** answer returns what the table says of an answer, as options of its query. */
export function answer<K extends Kind>(kind: K, ...parts: Parts<K>) {
	const rules: Rules = table[kind];
	const queryKey: Key = [rules.person ? "" : workspaceSlug(), kind, ...parts];
	return {
		queryKey,
		...(rules.staleTime !== undefined && { staleTime: rules.staleTime }),
		...(rules.gcTime !== undefined && { gcTime: rules.gcTime }),
		...((rules.poll || rules.interval) && { refetchInterval: () => intervalOf(rules) }),
	};
}

/** within selects the answers of a kind, and of those that belong to it, whose keys begin with some parts. */
export function within<K extends Kind>(kind: K, ...parts: Prefix<Parts<K>>) {
	const [workspace] = answer(kind, ...(parts as unknown as Parts<K>)).queryKey;
	return {
		predicate: ({ queryKey: [first, name, ...rest] }: Pick<Query, "queryKey">) =>
			first === workspace &&
			(name === kind || String(name).startsWith(`${kind}.`)) &&
			parts.every((part, i) => JSON.stringify(part) === JSON.stringify(rest[i])),
	};
}

/** counting selects the answers of a workspace that have numbers of contacts. */
export const counting = (workspace: string) => ({
	predicate: ({ queryKey }: Pick<Query, "queryKey">) => queryKey[0] === workspace && rulesOf(queryKey)?.counts === true,
});

/** ofContacts selects the answers of this workspace that are about contacts, and those with numbers of them. */
export const ofContacts = () => {
	const of = [within("contacts"), counting(workspaceSlug())];
	return { predicate: (query: Pick<Query, "queryKey">) => of.some((filter) => filter.predicate(query)) };
};

/** staleBy reports whether a change makes the answer with a key stale. */
export function staleBy({ type, id }: Change, key: readonly unknown[]): boolean {
	const rules = rulesOf(key);
	if (!rules) return false;
	return Boolean(rules.hints?.includes(type)) || (rules.record === type && (!id || key[2] === id));
}

/** isPersisted reports whether the answer with a key is kept over a reload. */
export const isPersisted = (key: readonly unknown[]) => rulesOf(key)?.persisted === true;
