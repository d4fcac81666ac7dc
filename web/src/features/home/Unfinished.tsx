import { Link } from "wouter";
import type { WorkingCopyRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useDisabledReason } from "../../base/session";
import { Card } from "../../ui/Page";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import css from "./Home.module.css";
import { to } from "../../base/paths";

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
	broadcast: to.broadcastDraft,
	template: to.template,
	block: to.block,
	message: (id) => to.entry(id, { edit: "1" }),
	message_rebase: (id) => to.entry(id, { edit: "1" }),
	segment: (id) => to.segment(id),
	form: (id) => to.form(id),
	sequence: (id) => to.sequence(id),
	automation: (id) => to.automation(id),
	account_who: () => to.account(),
	account_address: () => to.account(),
	account_defaults: () => to.account(),
	account_leaving: () => to.account(),
	tracked_domains: () => to.website(),
	scoring: () => to.scoring(),
	stage: () => to.stages(),
	sender: to.sender,
	email_type: () => to.emailTypes(),
	email_category: () => to.emailTypes(),
	mta_config: to.mta,
	seed_list: to.seedList,
	webhook: to.webhook,
};

const created: { [kind in Kind]?: string } = {
	segment: to.newSegment(),
	automation: to.automation("new"),
	mta_config: to.mta("new"),
	sender: to.senders(),
	seed_list: to.seedLists({ new: "1" }),
	webhook: to.webhooks({ new: "1" }),
};

const known = (kind: string): kind is Kind => kind in words.kinds;

const pageOf = (kind: Kind, id: string) =>
	id.startsWith("new-") ? (created[kind] ?? pages[kind](id)) : pages[kind](id);

const maxShown = 8;

/** Unfinished lists the working copies of the person, the latest first. Without any it shows nothing. */
export function Unfinished() {
	const disabledReason = useDisabledReason("GET /working-copies");
	const copies = useCollection("working_copies", { enabled: disabledReason === undefined });
	const rows = (copies.data?.data ?? []).filter((copy): copy is WorkingCopyRow & { kind: Kind } => known(copy.kind));
	if (rows.length === 0) return null;
	return (
		<Card title={words.title}>
			<p className={css.muted}>{words.about}</p>
			<ul className={css.list}>
				{rows
					.toSorted((a, b) => b.updated_at.localeCompare(a.updated_at))
					.slice(0, maxShown)
					.map((row) => (
						<li key={`${row.kind} ${row.id}`}>
							<Link href={pageOf(row.kind, row.id)}>{row.title}</Link>
							<span className={css.muted}>
								{words.kinds[row.kind]} · <Time at={row.updated_at} />
							</span>
						</li>
					))}
			</ul>
		</Card>
	);
}
