import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useLocation, useParams } from "wouter";
import { api } from "../../api/client";
import type { SeedListRow, SeedRow } from "../../api/schema";
import { useParam, useTextParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Select } from "../../ui/Field";
import { isGone, NotFound } from "../../ui/NotFound";
import { List } from "../../ui/List";
import { Menu } from "../../ui/Menu";
import { Card, Facts, NotSet, Callout, Page } from "../../ui/Page";
import { Empty, Failure, NoMatch, Skeleton, searched } from "../../ui/States";
import { Table } from "../../ui/Table";
import { Tabs } from "../../ui/Tabs";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toast";
import { Tools } from "../../ui/Tools";
import { useLoadMore } from "../../ui/useLoadMore";
import { catalogue } from "../../base/words/catalogue";
import { and, day } from "../../base/words/formats";
import { explain } from "../../base/words/errors";
import { stateOf } from "../../base/words/status";
import rowsCss from "../../ui/Rows.module.css";
import { EditSeedList } from "./Seeds";
import { providers } from "./seedProviders";
import { summaryOf, UpdateSeeds } from "./UpdateSeeds";
import { within } from "../../base/queries";
import { seedListQuery, seedUpdatesQuery, seedsQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("sending.seedList", {
	sending: "Sending setup",
	lists: "Seed lists",
	views: "Views of the seed list",
	addresses: "Addresses",
	history: "History",
	edit: "Edit",
	update: "Update addresses",
	dashboard: "Open vendor dashboard",
	vendor: "Vendor",
	senders: "Senders",
	none: "No sender: copies are sent only if a broadcast selects the list",
	usual: "New broadcasts",
	on: "On by default",
	off: "Only if selected",
	updated: "Last update",
	never: "Never. It has no addresses to send to.",
	due: "Due",
	dueText: "The vendor replaces the addresses on {at}",
	stale: "Gets copies until",
	staleTitle: "This list gets no copies: its addresses are out of date",
	staleText: "The vendor has replaced them. Update the list with the vendor's current addresses.",
	soonTitle: "The addresses need an update soon",
	noRotation: "Never: the vendor keeps its addresses",
	search: "Search addresses",
	status: "Status",
	all: "All",
	email: "Address",
	provider: "Provider",
	reason: "Reason",
	reasons: {
		contact: "Belongs to one of your contacts",
		removed_by_sync: "Not in the last update",
		retired_by_user: "Retired manually",
		hard_bounce: "Bounced permanently",
	},
	pause: "Pause",
	resume: "Resume",
	retire: "Retire",
	reactivate: "Reactivate",
	did: "{email}: {status}",
	empty: "No addresses yet",
	emptyText: "Paste the addresses you got from the vendor.",
	noMatch: "No address matches",
	actions: "Actions for {email}",
	when: "When",
	who: "Who",
	what: "What",
	replace: "Replaced",
	changes: "Changed",
	result: "Result",
	sendable: "Can get copies",
	noHistory: "This list has never been updated",
	system: "Packetboat",
	count: "{count, plural, one {# address} other {# addresses}}",
});

/** SeedList shows the addresses of a seed list, and updates them. */
export default function SeedList() {
	const { id = "" } = useParams<{ id: string }>();
	const [, navigate] = useLocation();
	const disabledReason = useDisabledReason("PUT /seed-lists/{id}/seeds");
	const editDisabledReason = useDisabledReason("PUT /seed-lists/{id}");
	const [tab] = useParam("tab", "addresses");
	const [editing, setEditing] = useParam("edit");
	const [updating, setUpdating] = useParam("update");
	const list = useQuery(seedListQuery(id));
	const breadcrumbs = [
		{ name: words.sending, to: to.sending() },
		{ name: words.lists, to: to.seedLists() },
	];
	const seedList = list.data;
	if (!seedList || isGone(list.error))
		return (
			<NotFound
				query={list}
				list={words.lists}
				to={to.seedLists()}
				breadcrumbs={breadcrumbs}
				unsavedInput={{ kinds: ["seed_list"], id }}
			/>
		);
	const isDueSoon = seedList.freshness === "due_soon" || seedList.freshness === "grace";
	return (
		<Page
			wide
			title={seedList.name}
			breadcrumbs={breadcrumbs}
			status={<StateBadge kind="freshness" state={seedList.freshness} />}
			actions={
				<>
					<Button kind="edit" disabledReason={editDisabledReason} onClick={() => setEditing("1")}>
						{words.edit}
					</Button>
					<Button variant="primary" disabledReason={disabledReason} onClick={() => setUpdating("1")}>
						{words.update}
					</Button>
				</>
			}
		>
			{seedList.freshness === "stale" && (
				<Callout tone="danger" title={words.staleTitle}>
					{words.staleText}
				</Callout>
			)}
			{isDueSoon && (
				<Callout tone="warning" title={words.soonTitle}>
					{seedList.rotates_at && words.dueText({ at: day(seedList.rotates_at) })}
				</Callout>
			)}
			<Card>
				<Facts
					rows={[
						[words.updated, seedList.refreshed_at ? <Time key="r" at={seedList.refreshed_at} /> : words.never],
						[
							words.due,
							seedList.rotation_days === null
								? words.noRotation
								: seedList.rotates_at && <Time key="d" at={seedList.rotates_at} />,
						],
						...(seedList.stale_at ? ([[words.stale, day(seedList.stale_at)]] as [string, string][]) : []),
						[
							words.senders,
							seedList.sending_identities.length > 0
								? and(seedList.sending_identities.map((identity) => identity.email_address))
								: words.none,
						],
						[words.usual, seedList.include_by_default ? words.on : words.off],
						[
							words.vendor,
							seedList.vendor_dashboard_url && /^https?:/.test(seedList.vendor_dashboard_url) ? (
								<a key="v" href={seedList.vendor_dashboard_url} target="_blank" rel="noreferrer">
									{seedList.vendor_label || words.dashboard}
								</a>
							) : (
								seedList.vendor_label
							),
						],
					]}
				/>
			</Card>
			<Tabs
				label={words.views}
				current={tab}
				tabs={[
					{
						id: "addresses",
						name: words.addresses,
						count: seedList.address_counts.active + seedList.address_counts.paused,
					},
					{ id: "history", name: words.history },
				]}
			/>
			{tab === "history" ? (
				<History id={id} />
			) : (
				<Addresses list={seedList} disabledReason={disabledReason} onUpdate={() => setUpdating("1")} />
			)}
			{editing && (
				<EditSeedList
					list={seedList}
					onClose={() => setEditing("")}
					onDone={(created) => (created ? setEditing("") : navigate(to.seedLists()))}
				/>
			)}
			{updating && <UpdateSeeds list={seedList} onClose={() => setUpdating("")} />}
		</Page>
	);
}

const moves: { [status in SeedRow["status"]]: ("pause" | "resume" | "retire" | "reactivate")[] } = {
	active: ["pause", "retire"],
	paused: ["resume", "retire"],
	retired: ["reactivate"],
	conflict: ["retire"],
};

function Addresses({
	list,
	disabledReason,
	onUpdate,
}: {
	list: SeedListRow;
	disabledReason?: string;
	onUpdate: () => void;
}) {
	const client = useQueryClient();
	const [search, setSearch] = useTextParam("q");
	const [status, setStatus] = useParam("status");
	const seeds = useInfiniteQuery(seedsQuery(list.id, search, status));
	const onEnd = useLoadMore(seeds);
	const mutation = useMutation({
		mutationFn: (variables: { seed: SeedRow; action: "pause" | "resume" | "retire" | "reactivate" }) =>
			api(`POST /seed-lists/{id}/seeds/{seed_id}/${variables.action}`, {
				path: { id: list.id, seed_id: variables.seed.id },
			}),
		onSuccess: (now) => {
			toast(words.did({ email: now.email, status: stateOf("seed", now.status).word }));
			void client.invalidateQueries(within("seed_list", list.id));
			void client.invalidateQueries(within("seed_lists"));
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const rows = seeds.data?.pages.flatMap((page) => page.data) ?? [];
	const menu = (seed: SeedRow) => (
		<Menu
			small
			label={words.actions({ email: seed.email })}
			actions={moves[seed.status].map((action) => ({
				id: action,
				label: words[action],
				disabledReason,
				run: () => mutation.mutate({ seed, action }),
			}))}
		/>
	);
	const reason = (seed: SeedRow) => (seed.status_reason ? words.reasons[seed.status_reason] : null);
	return (
		<>
			<Tools label={words.search} value={search} onChange={setSearch}>
				<Select
					label={words.status}
					hideLabel
					value={status}
					onChange={setStatus}
					choices={[
						{ value: "", label: words.all },
						...(["active", "paused", "retired", "conflict"] as const).map((value) => ({
							value,
							label: stateOf("seed", value).word,
						})),
					]}
				/>
			</Tools>
			{seeds.isPending ? (
				<Skeleton rows={6} height={36} />
			) : seeds.isError ? (
				<Failure error={seeds.error} retry={() => void seeds.refetch()} />
			) : rows.length === 0 ? (
				search || status ? (
					<NoMatch
						title={words.noMatch}
						filters={[
							searched(search, setSearch),
							status !== "" && { name: stateOf("seed", status).word, remove: () => setStatus("") },
						]}
					/>
				) : (
					<Empty
						title={words.empty}
						action={
							<Button variant="primary" disabledReason={disabledReason} onClick={onUpdate}>
								{words.update}
							</Button>
						}
					>
						{words.emptyText}
					</Empty>
				)
			) : (
				<Table
					found={`${status} ${search}`}
					fill
					label={words.addresses}
					rows={rows}
					rowKey={(seed) => seed.id}
					rowName={(seed) => seed.email}
					total={seeds.data?.pages[0]?.total}
					onEnd={onEnd}
					columns={[
						{ id: "email", name: words.email, cell: (seed) => seed.email },
						{ id: "provider", name: words.provider, width: 90, cell: (seed) => providers[seed.provider] },
						{
							id: "status",
							name: words.status,
							width: 136,
							minWidth: 128,
							cell: (seed) => <StateBadge kind="seed" state={seed.status} />,
						},
						{ id: "reason", name: words.reason, width: 210, minWidth: 140, cell: (seed) => reason(seed) ?? <NotSet /> },
						{ id: "actions", name: "", width: 56, align: "end", cell: menu },
					]}
					card={(seed) => (
						<span className={rowsCss.card}>
							<span className={rowsCss.name}>
								<b>{seed.email}</b>
								<span>{reason(seed) ?? providers[seed.provider]}</span>
							</span>
							<StateBadge kind="seed" state={seed.status} />
							{menu(seed)}
						</span>
					)}
				/>
			)}
		</>
	);
}

function History({ id }: { id: string }) {
	const syncs = useQuery(seedUpdatesQuery(id));
	if (syncs.isPending) return <Skeleton rows={4} />;
	if (syncs.isError) return <Failure error={syncs.error} retry={() => void syncs.refetch()} />;
	if (syncs.data.data.length === 0) return <Empty title={words.noHistory} />;
	return (
		<List
			label={words.history}
			rows={syncs.data.data}
			rowKey={(update) => update.sync_id ?? update.created_at}
			columns={[
				{ id: "when", name: words.when, cell: (update) => <Time at={update.created_at} /> },
				{
					id: "who",
					name: words.who,
					cell: (update) => (update.actor.type === "system" ? words.system : update.actor.name || update.actor.type),
				},
				{ id: "what", name: words.what, cell: (update) => (update.kind === "replace" ? words.replace : words.changes) },
				{ id: "result", name: words.result, cell: (update) => summaryOf(update) },
				{
					id: "sendable",
					name: words.sendable,
					end: true,
					cell: (update) => `${update.sendable_before} → ${update.sendable_after}`,
				},
			]}
		/>
	);
}
