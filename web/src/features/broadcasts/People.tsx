import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { api } from "../../api/client";
import type { BroadcastSessionView, Contact, RecipientRow } from "../../api/schema";
import { useParams } from "../../base/params";
import { toDefinition } from "../rules/groups";
import { StateBadge } from "../../ui/Badge";
import { Button, LinkButton } from "../../ui/Button";
import { Select } from "../../ui/Field";
import { NotSet } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { Table } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { Tools } from "../../ui/Tools";
import { useLoadMore } from "../../ui/useLoadMore";
import { useDebounced } from "../../ui/useDebounced";
import { catalogue } from "../../base/words/catalogue";
import { inSentence } from "../../base/words/formats";
import { stateOf } from "../../base/words/status";
import rowsCss from "../../ui/Rows.module.css";
import { reasonName } from "./forecast";
import { didRule, ruleLink } from "./peopleLinks";
import { useExport } from "./useExport";
import { attemptError } from "../../base/words/replies";
import { didCountQuery, didQuery, recipientsQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("broadcasts.people", {
	title: "Recipients",
	searching: "Searching {count, number} recipients …",
	stop: "Stop",
	search: "Search addresses",
	show: "Show",
	all: "All recipients",
	several: "Several states",
	email: "Address",
	state: "State",
	sent: "Sent",
	opened: "First open",
	clicked: "First click",
	why: "Reason",
	variant: "Version",
	none: "Nobody matches",
	csv: "CSV",
	csvLabel: "Download recipients as CSV",
	name: "Name",
	contactState: "Status",
	lastOpen: "Last open",
	count: "{count, plural, one {# person} other {# people}}",
	segment: "Create segment",
	did: {
		opened: "Opened, by people",
		clicked: "Clicked, by people",
		engaged: "Opened or clicked",
		unsubscribed: "Unsubscribed",
		complained: "Reported as spam",
		bounced: "Bounced",
	},
	link: "Clicked {url}",
	shown:
		"{what}{inVersion, select, true {, version {version}} other {}}{level, select, confirmed {, confirmed} apparent {, machines counted} other {}}",
});

const states = [
	"pending",
	"queued",
	"sent",
	"delivered",
	"deferred",
	"bounced",
	"failed",
	"skipped",
	"held_back",
	"cancelled",
];

/** The columns of a file of recipients. */
const columns = [
	"contact_id",
	"email",
	"status",
	"variant_id",
	"sending_identity_email",
	"mta_config_key",
	"content_version",
	"planned_for",
	"sent_at",
	"delivered_at",
	"first_opened_at",
	"first_clicked_at",
	"bounced_at",
	"bounce_type",
	"complained_at",
	"unsubscribed_at",
	"skip_reason",
	"error",
] as const;

/** People lists the recipients of a broadcast with what became of their mail, or those to whom something happened. */
export default function People({ broadcast }: { broadcast: BroadcastSessionView }) {
	const [params, set] = useParams();
	const who = params.get("who") ?? "";
	const status = params.get("status") ?? "";
	const choose = (value: string) =>
		set(
			value in words.did
				? { who: value, status: null, link: null, level: null, variant: null }
				: { status: value || null, who: null, link: null, level: null },
		);
	const known = [...states, ...Object.keys(words.did)];
	const value = who || status;
	const choices = [
		{ value: "", label: words.all },
		...states.map((state) => ({ value: state, label: stateOf("recipient", state).word })),
		...Object.entries(words.did).map(([value, label]) => ({ value, label })),
		...(value && !known.includes(value)
			? [
					{
						value,
						label:
							status
								.split(",")
								.map((status) => stateOf("recipient", status).word)
								.join(", ") || words.several,
					},
				]
			: []),
	].filter((choice, i, all) => all.findIndex((other) => other.value === choice.value) === i);
	const picker = <Select label={words.show} hideLabel value={value} onChange={choose} choices={choices} />;
	return who ? (
		<Engagers
			broadcast={broadcast}
			event={who}
			level={params.get("level") ?? ""}
			link={params.get("link") ?? ""}
			variant={params.get("variant") ?? ""}
			picker={picker}
		/>
	) : (
		<Rows
			broadcast={broadcast}
			status={status}
			search={params.get("q") ?? ""}
			variant={params.get("variant") ?? ""}
			onSearch={(query) => set({ q: query }, { replace: true })}
			picker={picker}
		/>
	);
}

type RowsProps = {
	broadcast: BroadcastSessionView;
	status: string;
	search: string;
	variant: string;
	onSearch: (text: string) => void;
	picker: React.ReactNode;
};

/** Of more recipients than this a search takes a while, so that it says that it is under way and can be stopped. */
const many = 10_000;

/** Rows lists recipients by the state of their mail. */
function Rows({ broadcast, status, search, variant, onSearch, picker }: RowsProps) {
	const [, navigate] = useLocation();
	const debounced = useDebounced(search, 250);
	const query = { status, search: debounced, variant_id: variant || undefined, limit: 200 };
	const result = useInfiniteQuery(recipientsQuery(broadcast.id, query));
	const onEnd = useLoadMore(result);
	const searching =
		search !== "" &&
		broadcast.total_recipients > many &&
		(result.isPending || result.isPlaceholderData || debounced !== search);
	const rows = result.data?.pages.flatMap((page) => page.data) ?? [];
	const reasonText = (recipient: RecipientRow) =>
		(recipient.error && attemptError(recipient.error)) ??
		(recipient.skip_reason ? reasonName(recipient.skip_reason) : null);
	const variantName = (id: string | null) => broadcast.variants?.find((variant) => variant.id === id)?.name ?? id;
	const unfiltered = !status && !search && !variant;
	const file = useExport<RecipientRow>({
		broadcast,
		subject: "recipients",
		query: { status: status || undefined, search: search || undefined, variant_id: variant || undefined },
		total: unfiltered ? broadcast.total_recipients : undefined,
		read: (cursor) =>
			api("GET /broadcasts/{broadcast_id}/recipients", {
				path: { broadcast_id: broadcast.id },
				query: { ...query, cursor: cursor ?? undefined },
			}),
		fields: columns,
	});
	return (
		<>
			<Tools label={words.search} value={search} onChange={onSearch}>
				{picker}
				{searching && (
					<>
						<span role="status">{words.searching({ count: broadcast.total_recipients })}</span>
						<Button small onClick={() => onSearch("")}>
							{words.stop}
						</Button>
					</>
				)}
				<Button
					small
					variant="quiet"
					aria-label={words.csvLabel}
					busy={file.busy}
					disabledReason={file.disabledReason}
					onClick={file.save}
				>
					{words.csv}
				</Button>
			</Tools>
			{result.isPending ? (
				<Skeleton rows={8} height={36} />
			) : result.isError ? (
				<Failure error={result.error} retry={() => void result.refetch()} />
			) : rows.length === 0 ? (
				<Empty title={words.none} />
			) : (
				<Table
					found={`${status} ${search} ${variant}`}
					fill
					label={words.title}
					rows={rows}
					rowKey={(recipient) => recipient.contact_id}
					rowName={(recipient) => recipient.email}
					onOpen={(recipient) => navigate(to.recipient(broadcast.id, recipient.contact_id))}
					onEnd={onEnd}
					columns={[
						{
							id: "email",
							name: words.email,
							cell: (recipient) => (
								<Link href={to.recipient(broadcast.id, recipient.contact_id)} tabIndex={-1}>
									{recipient.email}
								</Link>
							),
						},
						{
							id: "state",
							name: words.state,
							width: 160,
							minWidth: 132,
							cell: (recipient) => <StateBadge kind="recipient" state={recipient.status} />,
						},
						...(broadcast.variants?.length
							? [
									{
										id: "variant",
										name: words.variant,
										width: 100,
										minWidth: 84,
										droppable: true,
										cell: (recipient: RecipientRow) => variantName(recipient.variant_id) ?? <NotSet />,
									},
								]
							: []),
						{
							id: "sent",
							name: words.sent,
							width: 120,
							minWidth: 96,
							droppable: true,
							cell: (recipient) => <Time at={recipient.sent_at} />,
						},
						{
							id: "opened",
							name: words.opened,
							width: 120,
							minWidth: 100,
							cell: (recipient) => <Time at={recipient.first_opened_at} />,
						},
						{
							id: "clicked",
							name: words.clicked,
							width: 120,
							minWidth: 100,
							cell: (recipient) => <Time at={recipient.first_clicked_at} />,
						},
						{
							id: "why",
							name: words.why,
							width: 240,
							minWidth: 148,
							cell: (recipient) => reasonText(recipient) ?? <NotSet />,
						},
					]}
					card={(recipient) => (
						<span className={rowsCss.card}>
							<span className={rowsCss.name}>
								<b>{recipient.email}</b>
								<span>{reasonText(recipient)}</span>
							</span>
							<StateBadge kind="recipient" state={recipient.status} />
						</span>
					)}
				/>
			)}
		</>
	);
}

type EngagersProps = {
	broadcast: BroadcastSessionView;
	event: string;
	level: string;
	link: string;
	variant: string;
	picker: React.ReactNode;
};

/** Did lists the people to whom something happened by a broadcast, and makes them a segment. */
function Engagers({ broadcast, event, level, link, variant, picker }: EngagersProps) {
	const [, navigate] = useLocation();
	const rule = didRule(broadcast.id, event, {
		...(link ? { link_url: link } : {}),
		...(variant ? { variant_id: variant } : {}),
		...(level ? { level } : {}),
	});
	const name = words.shown({
		what: link ? words.link({ url: link }) : ((words.did as { [key: string]: string })[event] ?? event),
		inVersion: variant !== "",
		version: broadcast.variants?.find((a) => a.id === variant)?.name ?? variant,
		level,
	});
	const query = useInfiniteQuery(didQuery(broadcast.id, toDefinition(rule)));
	const count = useQuery(didCountQuery(broadcast.id, toDefinition(rule)));
	const onEnd = useLoadMore(query);
	const rows = query.data?.pages.flatMap((page) => page.data) ?? [];
	const fullName = (contact: Contact) => [contact.first_name, contact.last_name].filter(Boolean).join(" ");
	return (
		<>
			<div className={rowsCss.tools}>
				{picker}
				<p role="status">
					<b>{name}</b>
					{count.data && `: ${words.count({ count: count.data.count })}`}
				</p>
				<LinkButton small to={ruleLink(rule, `${broadcast.name}: ${inSentence(name)}`.slice(0, 200))}>
					{words.segment}
				</LinkButton>
			</div>
			{query.isPending ? (
				<Skeleton rows={8} height={36} />
			) : query.isError ? (
				<Failure error={query.error} retry={() => void query.refetch()} />
			) : rows.length === 0 ? (
				<Empty title={words.none} />
			) : (
				<Table
					fill
					label={name}
					rows={rows}
					total={count.data?.count}
					rowKey={(contact) => contact.id}
					rowName={(contact) => contact.email}
					onOpen={(contact) => navigate(to.recipient(broadcast.id, contact.id))}
					onEnd={onEnd}
					columns={[
						{
							id: "email",
							name: words.email,
							cell: (contact) => (
								<Link href={to.recipient(broadcast.id, contact.id)} tabIndex={-1}>
									{contact.email}
								</Link>
							),
						},
						{ id: "name", name: words.name, cell: (contact) => fullName(contact) || <NotSet /> },
						{
							id: "state",
							name: words.contactState,
							width: 160,
							cell: (contact) => <StateBadge kind="contact" state={contact.global_status} />,
						},
						{
							id: "open",
							name: words.lastOpen,
							width: 140,
							cell: (contact) => <Time at={contact.last_email_opened_at} />,
						},
					]}
					card={(contact) => (
						<span className={rowsCss.card}>
							<span className={rowsCss.name}>
								<b>{contact.email}</b>
								<span>{fullName(contact)}</span>
							</span>
							<StateBadge kind="contact" state={contact.global_status} />
						</span>
					)}
				/>
			)}
		</>
	);
}
