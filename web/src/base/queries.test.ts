import { setWorkspace } from "../api/client";
import type { Change } from "../api/schema";
import { setLiveState } from "./liveState";
import { answer, counting, isPersisted, type Kind, ofContacts, staleBy, table, within } from "./queries";
import { equals, type Tests } from "./testing";

/** Every type of change that the server announces: one that is missing here does not compile. */
const announcedTypes: { [T in Change["type"]]: true } = {
	account: true,
	api_key: true,
	asset: true,
	audit_log: true,
	block: true,
	broadcast: true,
	contact: true,
	domain: true,
	form: true,
	job: true,
	mailbox: true,
	member: true,
	message: true,
	mta_config: true,
	saved_filter: true,
	seed_list: true,
	segment: true,
	sequence: true,
	template: true,
	webhook: true,
};

const kinds = Object.keys(table) as Kind[];
const keyOf = (kind: Kind, ...parts: unknown[]) => ["acme", kind, ...parts];
const isStale = (change: Change, ...key: [Kind, ...unknown[]]) => staleBy(change, keyOf(...key));

const tests: Tests = {
	"every type of change makes something stale"() {
		for (const type of Object.keys(announcedTypes) as Change["type"][])
			equals([type, kinds.some((kind) => isStale({ type }, kind, "id"))], [type, true]);
	},
	"each kind follows changes, or says why not"() {
		for (const kind of kinds) {
			const rules: { hints?: unknown[]; record?: string; unannounced?: string } = table[kind];
			const isAnnounced = (rules.hints?.length ?? 0) > 0 || rules.record !== undefined;
			equals([kind, isAnnounced !== (rules.unannounced !== undefined)], [kind, true]);
		}
	},
	"only what is no record of the workspace changes without a hint because that is rare"() {
		const rare = kinds.filter((kind) => (table[kind] as { unannounced?: string }).unannounced === "rare");
		equals(rare, ["session", "sessions", "options"]);
		for (const kind of rare) equals([kind, (table[kind] as { person?: true }).person], [kind, true]);
	},
	"what a colleague does to members, keys, filters and images makes their lists stale"() {
		equals(isStale({ type: "member", id: "a" }, "overview"), true); // it says whether there is a second owner
		const lists: [Change["type"], Kind, ...unknown[]][] = [
			["member", "users"],
			["api_key", "api_keys"],
			["audit_log", "audit", {}],
			["saved_filter", "saved_filters"],
			["asset", "assets", "logo"],
		];
		for (const [type, kind, ...parts] of lists) {
			equals([kind, isStale({ type, id: "a" }, kind, ...parts)], [kind, true]);
			const others: Kind[] = ["overview", ...(type === "asset" ? ["brand" as const] : [])]; // its logo is an image
			equals([kind, kinds.filter((k) => !others.includes(k) && isStale({ type }, k))], [kind, [kind]]);
		}
	},
	"a change of the account makes all stale that it stands for"() {
		const parts: Kind[] = ["account", "email_types", "email_categories", "sending_identities", "sending_identity"];
		for (const kind of [...parts, "custom_fields", "stages", "scoring", "shell", "overview"] as Kind[])
			equals([kind, isStale({ type: "account" }, kind)], [kind, true]);
		equals(isStale({ type: "account" }, "contacts"), false);
	},
	"a change of a seed list makes lists, the list and what belongs to it stale"() {
		const change: Change = { type: "seed_list", id: "a" };
		equals(isStale(change, "seed_lists"), true);
		equals(isStale(change, "overview"), true);
		for (const kind of ["seed_list", "seed_list.seeds", "seed_list.syncs"] as Kind[]) {
			equals(isStale(change, kind, "a", "", ""), true);
			equals(isStale(change, kind, "b", "", ""), false);
			equals(isStale({ type: "seed_list" }, kind, "b", "", ""), true);
		}
	},
	"what an address names by a key or slug follows changes of every id"() {
		const id = "01a20eb5-9497-7dc9-b07f-f9ce8e017aa2";
		equals(isStale({ type: "segment", id }, "segment", "all_sendable"), true);
		equals(isStale({ type: "segment", id }, "segment.members", "all_sendable", ""), true);
		equals(isStale({ type: "template", id }, "template.options", "newsletter"), true);
		equals(isStale({ type: "block", id }, "block", "hero"), true);
	},
	"a change of contacts concerns what has numbers of them"() {
		setWorkspace("acme");
		const counts: Kind[] = ["overview", "segments", "segment"];
		equals(
			kinds.filter((kind) => counting("acme").predicate({ queryKey: keyOf(kind) })),
			counts,
		);
		equals(counting("acme").predicate({ queryKey: ["other", "segments"] }), false);
		equals(ofContacts().predicate({ queryKey: keyOf("contacts.count", {}) }), true);
		equals(ofContacts().predicate({ queryKey: keyOf("segments") }), true);
		equals(ofContacts().predicate({ queryKey: keyOf("templates") }), false);
	},
	"what is polled is not while changes are announced, unless it depends on the time"() {
		setWorkspace("acme");
		const interval = (options: { refetchInterval?: () => number | false }) => options.refetchInterval?.();
		setLiveState("live");
		equals(interval(answer("domains")), false);
		equals(interval(answer("seed_lists")), 300_000);
		equals(interval(answer("automation", "a")), 15_000);
		setLiveState("polling");
		equals(Number(interval(answer("domains"))) >= 12_000 && Number(interval(answer("domains"))) <= 18_000, true);
		equals(Number(interval(answer("seed_lists"))) <= 72_000, true);
	},
	"keys begin with the workspace, and those of the person with none"() {
		setWorkspace("acme");
		equals(answer("contact", "a").queryKey, ["acme", "contact", "a"]);
		equals(answer("session").queryKey, ["", "session"]);
		equals(answer("contact", "a").staleTime, 5000);
	},
	"within a record are its own answers and what belongs to it"() {
		setWorkspace("acme");
		const of = (filter: ReturnType<typeof within>, ...key: unknown[]) => filter.predicate({ queryKey: key });
		equals(of(within("contact", "a"), "acme", "contact", "a"), true);
		equals(of(within("contact", "a"), "acme", "contact.mail", "a"), true);
		equals(of(within("contact", "a"), "acme", "contact.mail", "b"), false);
		equals(of(within("contact", "a"), "acme", "contacts", "a"), false);
		equals(of(within("contact", "a"), "other", "contact", "a"), false);
		equals(of(within("contact.mail", "a"), "acme", "contact", "a"), false);
		equals(of(within("contacts"), "acme", "contacts.count", { search: "x" }), true);
	},
	"nothing about people is kept over a reload"() {
		const people = /^(contact|suppression|activity|audit|users|job|mailbox|report|search|suggestions|session|working_)/;
		equals(
			kinds.filter((kind) => people.test(kind) && isPersisted(keyOf(kind))),
			[],
		);
		equals(isPersisted(keyOf("stages")), true);
		equals(isPersisted(["acme", "contact-names"]), false);
	},
};

export default tests;
