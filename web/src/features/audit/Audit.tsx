import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { ListFilter } from "lucide-react";
import { Suspense } from "react";
import { Link } from "wouter";
import { lazyComponent } from "../../base/lazy";
import { useParam, useParams } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { Button, IconButton } from "../../ui/Button";
import { Select, TextField } from "../../ui/Field";
import { List } from "../../ui/List";
import { Callout, Page } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { dayTime, exact, timeZone } from "../../base/words/formats";
import { addDays, startOfDay } from "../../base/words/zone";
import css from "../settings/Settings.module.css";
import { AuditChanges } from "./AuditChanges";
import { AuditExport } from "./AuditExport";
import { apiKeysQuery, auditQuery, membersQuery } from "../settings/queries";
import { to } from "../../base/paths";

const BulkJob = lazyComponent(() => import("../jobs/BulkJob").then((module) => ({ default: module.BulkJob })));

const words = catalogue("audit.audit", {
	title: "Audit log",
	settings: "Settings",
	who: "Who",
	system: "System",
	what: "Action",
	target: "On",
	when: "When",
	from: " from {ip}",
	more: "Earlier entries",
	none: "No entries yet",
	noMatch: "No entry matches",
	noMatchText: "Nothing matches all of these filters.",
	clear: "Clear filters",
	everybody: "Everybody",
	anything: "All actions",
	since: "Since",
	until: "Until",
	keys: "API keys",
	narrow: "Only entries for this record",
	only: "On {target}",
	kinds: {
		login: "Sign-ins",
		login_link: "Sign-in links",
		api_key: "API keys",
		member: "Members",
		contact: "Contacts",
		broadcast: "Broadcasts",
		sequence: "Sequences",
		automation: "Automations",
		sending_domain: "Sending domains",
		sending_identity: "Senders",
		mta_config: "Sending servers",
		segment: "Segments",
		email_type: "Email types",
		email_category: "Categories",
		template: "Templates",
		block: "Blocks",
		message: "Library",
		form: "Forms",
		seed_list: "Seed lists",
		custom_field: "Custom fields",
		stage: "Stages",
		webhook: "Webhooks",
		webhook_secret: "Webhook secret",
		identity_secret: "Identity secret",
		account: "Workspace",
		brand: "Brand",
		scoring: "Scoring",
		tenant: "Workspace",
	},
	whole: {
		login: "Signed in",
		"demo.complete": "Demo completed",
		"member.accept": "Invitation accepted",
		"stage.order": "Stages reordered",
	},
	allStages: "All stages",
	nouns: {
		login_link: "Sign-in link",
		api_key: "API key",
		member: "Member",
		contact: "Contact",
		broadcast: "Broadcast",
		sequence: "Sequence",
		automation: "Automation",
		sending_domain: "Domain",
		sending_identity: "Sender",
		mta_config: "Sending server",
		segment: "Segment",
		email_type: "Email type",
		email_category: "Category",
		template: "Template",
		block: "Block",
		message: "Library entry",
		form: "Form",
		seed_list: "Seed list",
		custom_field: "Custom field",
		stage: "Stage",
		webhook: "Webhook",
		webhook_secret: "Webhook secret",
		identity_secret: "Identity secret",
		account: "Workspace",
		brand: "Brand",
		scoring: "Scoring",
		tenant: "Workspace",
	},
	verbs: {
		create: "created",
		add: "added",
		invite: "invited",
		update: "changed",
		set_graph: "steps changed",
		activate: "activated",
		pause: "paused",
		resume: "resumed",
		archive: "archived",
		unarchive: "restored from archive",
		verify: "checked",
		verify_lane: "confirmed by email",
		test: "tested",
		test_send: "sent as a test",
		rotate: "rotated",
		rotate_secret: "given a new secret",
		rotate_dkim: "given a new DKIM key",
		revoke: "revoked",
		anonymize: "anonymised",
		withhold: "withheld",
		remove: "removed",
		delete: "deleted",
	},
});

/** actionOf says what was done, such as "API key revoked"; actions that have no words are shown as they are. */
function actionOf(action: string): string {
	const nameIn = (table: object, key = "") => (table as { [key: string]: string })[key];
	const [noun, verb] = action.split(".");
	const parts = [nameIn(words.nouns, noun), nameIn(words.verbs, verb)];
	return nameIn(words.whole, action) ?? (parts.every(Boolean) ? parts.join(" ") : action);
}

/** The pages of what was acted on, by its type. */
const pages: { [type: string]: (id: string) => string } = {
	contact: (id) => to.contact(id),
	segment: (id) => to.segment(id),
	template: to.template,
	block: to.block,
	message: (id) => to.entry(id),
	broadcast: (id) => to.broadcast(id),
	sequence: (id) => to.sequence(id),
	automation: (id) => to.automation(id),
	sending_domain: to.domain,
	mta_config: to.mta,
	sending_identity: () => to.senders(),
	email_type: () => to.emailTypes(),
	seed_list: to.seedList,
	form: (id) => to.form(id),
	email_category: () => to.emailTypes(),
	custom_field: () => to.fields(),
	stage: () => to.stages(),
	webhook: to.webhook,
	user: () => to.members(),
	api_key: () => to.apiKeys(),
	brand: () => to.brand(),
	scoring: () => to.scoring(),
	tenant: () => to.account(),
};

/** known are the kinds of actions, and the one chosen if it is another. */
function known(selected: string) {
	const all = Object.entries(words.kinds).map(([value, label]) => ({ value, label }));
	return !selected || all.some((option) => option.value === selected)
		? all
		: [...all, { value: selected, label: selected }];
}

/** targetOf names what was acted on: by its name, or such as "sending domain …b081ac". */
function targetOf(type: string, id: string, name?: string | null): string {
	if (name) return name;
	if (type === "stage" && !id) return words.allStages;
	const noun = (words.nouns as { [type: string]: string })[type] ?? type.replaceAll("_", " ");
	return `${noun} ${id.length > 20 ? `…${id.slice(-6)}` : id}`;
}

/** Audit lists who did what. */
export default function Audit() {
	const disabledReason = useDisabledReason("GET /audit-log");
	const [params, set] = useParams();
	const [job, setJob] = useParam("job");
	const param = (name: string) => params.get(name) ?? "";
	const query = {
		actor_type: (["system", "api_key"] as const).find((type) => type === param("who")),
		actor_id: ["", "system", "api_key"].includes(param("who")) ? undefined : param("who"),
		action: param("what") || undefined,
		target_type: param("type") || undefined,
		target_id: param("target") || undefined,
		since: startOfDay(param("since"), timeZone())?.toISOString(),
		before: startOfDay(addDays(param("until"), 1), timeZone())?.toISOString(),
	};
	const filtered = Object.values(query).some(Boolean);
	const users = useQuery({ ...membersQuery(), enabled: !disabledReason });
	const keys = useQuery({ ...apiKeysQuery(), enabled: !disabledReason });
	const clear = () => set({ who: null, what: null, type: null, target: null, since: null, until: null });
	const log = useInfiniteQuery({ ...auditQuery(query), enabled: !disabledReason });
	const rows = log.data?.pages.flatMap((page) => page.data) ?? [];
	return (
		<Page title={words.title} breadcrumbs={[{ name: words.settings, to: to.settings() }]}>
			{!disabledReason && (
				<div className={css.filters}>
					<Select
						label={words.who}
						value={param("who")}
						onChange={(actor) => set({ who: actor })}
						choices={[
							{ value: "", label: words.everybody },
							{ value: "system", label: words.system },
							...(users.data?.data ?? []).map((member) => ({ value: member.id, label: member.name || member.email })),
							{ value: "api_key", label: words.keys },
							...(keys.data?.data ?? []).map((apiKey) => ({ value: apiKey.id, label: apiKey.name })),
						]}
					/>
					<Select
						label={words.what}
						value={param("what")}
						onChange={(what) => set({ what })}
						choices={[{ value: "", label: words.anything }, ...known(param("what"))]}
					/>
					<TextField
						label={words.since}
						type="date"
						value={param("since")}
						onChange={(since) => set({ since }, { replace: true })}
					/>
					<TextField
						label={words.until}
						type="date"
						value={param("until")}
						onChange={(until) => set({ until }, { replace: true })}
					/>
					{filtered && <Button onClick={clear}>{words.clear}</Button>}
					<AuditExport query={query} onStarted={setJob} />
				</div>
			)}
			<Suspense>{!disabledReason && job && <BulkJob key={job} id={job} onClose={() => setJob("")} />}</Suspense>
			{param("target") && (
				<p role="status">
					{words.only({
						target: targetOf(
							param("type"),
							param("target"),
							rows.find((entry) => entry.target_id === param("target"))?.target_name,
						),
					})}
				</p>
			)}
			{disabledReason ? (
				<Callout>{disabledReason}</Callout>
			) : log.isPending ? (
				<Skeleton rows={8} />
			) : log.isError ? (
				<Failure error={log.error} retry={() => void log.refetch()} />
			) : rows.length === 0 ? (
				filtered ? (
					<Empty title={words.noMatch} action={<Button onClick={clear}>{words.clear}</Button>}>
						{words.noMatchText}
					</Empty>
				) : (
					<Empty title={words.none} />
				)
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(entry) => entry.id}
					columns={[
						{
							id: "when",
							name: words.when,
							cell: (entry) => (
								<time className={css.line} dateTime={entry.created_at} title={exact(entry.created_at)}>
									{dayTime(entry.created_at)}
								</time>
							),
						},
						{
							id: "who",
							name: words.who,
							cell: (entry) => (
								<span className={css.line}>
									{entry.actor.type === "system" ? words.system : entry.actor.name || entry.actor.type}
									{entry.ip && <small className={css.from}>{words.from({ ip: entry.ip })}</small>}
								</span>
							),
						},
						{
							id: "what",
							name: words.what,
							cell: (entry) => (
								<>
									<span title={entry.action}>{actionOf(entry.action)}</span>
									<AuditChanges changes={entry.changes} />
								</>
							),
						},
						{
							id: "target",
							name: words.target,
							cell: (entry) => (
								<span className={css.line} title={entry.target_id}>
									{entry.target_id && pages[entry.target_type] && !entry.action.endsWith(".delete") ? (
										<Link href={pages[entry.target_type]?.(entry.target_id) ?? ""}>
											{targetOf(entry.target_type, entry.target_id, entry.target_name)}
										</Link>
									) : (
										targetOf(entry.target_type, entry.target_id, entry.target_name)
									)}
								</span>
							),
						},
						{
							id: "menu",
							name: "",
							cell: (entry) =>
								entry.target_id &&
								entry.target_id !== param("target") && (
									<IconButton
										small
										label={words.narrow}
										icon={<ListFilter aria-hidden />}
										onClick={() => set({ type: entry.target_type, target: entry.target_id })}
									/>
								),
						},
					]}
				/>
			)}
			{log.hasNextPage && (
				<div>
					<Button busy={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
						{words.more}
					</Button>
				</div>
			)}
		</Page>
	);
}
