import { Link } from "wouter";
import type { WorkingCopyRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useWhyNot } from "../../base/session";
import { Card } from "../../ui/Page";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import css from "./Home.module.css";

const words = catalogue("home.unfinished", {
	title: "Unfinished work",
	about: "Changes you have not saved yet.",
	kinds: {
		broadcast: "Broadcast",
		template: "Template",
		block: "Block",
		message: "Library",
		message_rebase: "Library",
		segment: "Segment",
		form: "Form",
		sequence: "Sequence",
		sequence_settings: "Sequence settings",
		automation: "Automation",
		account_who: "Workspace settings",
		account_address: "Workspace settings",
		account_defaults: "Workspace settings",
		account_leaving: "Workspace settings",
		tracked_domains: "Website",
		scoring: "Scoring",
		stage: "Stage",
		sender: "Sender",
		email_type: "Email type",
		email_category: "Email category",
		mta_config: "Sending server",
		seed_list: "Seed list",
		webhook: "Webhook",
	},
});

type Kind = keyof typeof words.kinds;

/** The page of a record by its kind, and the one for those that are not created yet. */
const pages: { [kind in Kind]: (id: string) => string } = {
	broadcast: (id) => `/broadcasts/${id}/edit`,
	template: (id) => `/templates/${id}`,
	block: (id) => `/blocks/${id}`,
	message: (id) => `/library/${id}?edit=1`,
	message_rebase: (id) => `/library/${id}?edit=1`,
	segment: (id) => `/segments/${id}`,
	form: (id) => `/forms/${id}`,
	sequence: (id) => `/sequences/${id}`,
	sequence_settings: (id) => `/sequences/${id}?tab=settings`,
	automation: (id) => `/automations/${id}`,
	account_who: () => "/settings/account",
	account_address: () => "/settings/account",
	account_defaults: () => "/settings/account",
	account_leaving: () => "/settings/account",
	tracked_domains: () => "/settings/website",
	scoring: () => "/settings/scoring",
	stage: () => "/settings/stages",
	sender: (id) => `/sending/senders/${id}`,
	email_type: () => "/sending/types",
	email_category: () => "/sending/types",
	mta_config: (id) => `/sending/mta/${id}`,
	seed_list: (id) => `/sending/seeds/${id}`,
	webhook: (id) => `/settings/webhooks/${id}`,
};

const created: { [kind in Kind]?: string } = {
	segment: "/segments/new",
	automation: "/automations/new",
	mta_config: "/sending/mta/new",
	sender: "/sending/senders",
	seed_list: "/sending/seeds?new=1",
	webhook: "/settings/webhooks?new=1",
};

const known = (kind: string): kind is Kind => kind in words.kinds;

const pageOf = (kind: Kind, id: string) =>
	id.startsWith("new-") ? (created[kind] ?? pages[kind](id)) : pages[kind](id);

const most = 8;

/** Unfinished lists the working copies of the person, the latest first. Without any it shows nothing. */
export function Unfinished() {
	const why = useWhyNot("GET /working-copies");
	const copies = useCollection("working_copies", { enabled: why === undefined });
	const rows = (copies.data?.data ?? []).filter((c): c is WorkingCopyRow & { kind: Kind } => known(c.kind));
	if (rows.length === 0) return null;
	return (
		<Card title={words.title}>
			<p className={css.muted}>{words.about}</p>
			<ul className={css.list}>
				{rows
					.toSorted((a, b) => b.updated_at.localeCompare(a.updated_at))
					.slice(0, most)
					.map((c) => (
						<li key={`${c.kind} ${c.id}`}>
							<Link href={pageOf(c.kind, c.id)}>{c.title}</Link>
							<span className={css.muted}>
								{words.kinds[c.kind]} · <Time at={c.updated_at} />
							</span>
						</li>
					))}
			</ul>
		</Card>
	);
}
