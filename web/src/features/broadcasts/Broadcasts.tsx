import { RotateCw } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import type { BroadcastRow, MetricsRow } from "../../api/schema";
import { useParam, useTextParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { NextStep } from "../home/NextStep";
import { ActionBar } from "../../ui/ActionBar";
import { Badge, StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { Select } from "../../ui/Field";
import { Menu } from "../../ui/Menu";
import { NotSet, Page } from "../../ui/Page";
import { Empty, Failure, NoMatch, Skeleton, searched } from "../../ui/States";
import { Table } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { Tools } from "../../ui/Tools";
import { catalogue } from "../../base/words/catalogue";
import { day, dayTime, exact, exactNumber, percent } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import { stateOf } from "../../base/words/status";
import { useSegments } from "./Audience";
import rowsCss from "../../ui/Rows.module.css";
import css from "./Broadcasts.module.css";
import { CancelSend } from "./CancelSend";
import { NewBroadcast } from "./NewBroadcast";
import { Peek } from "./QuickView";
import { Sparkline } from "./Sparkline";
import { useActions, useBroadcasts, useCancelling, useMetrics, useUnsaved } from "./useBroadcasts";
import { to } from "../../base/paths";

const words = catalogue("broadcasts.broadcasts", {
	title: "Broadcasts",
	about: "Send one email to many people at once.",
	add: "New broadcast",
	search: "Search broadcasts",
	all: "All",
	archived: "Archived",
	tag: "Tag",
	allTags: "All tags",
	name: "Name",
	audience: "Audience",
	status: "Status",
	when: "When",
	recipients: "Recipients",
	opened: "Open rate",
	clicked: "Click rate",
	trend: "First days",
	empty: "Your first broadcast",
	emptyText:
		"Choose the audience, write the email, check it, and send it now or later. Nothing is sent before you confirm.",
	noMatch: "No broadcast matches",
	archive: "Archive",
	unarchive: "Restore from archive",
	copy: "Duplicate",
	delete: "Delete draft",
	deleteTitle: "Delete {name}?",
	deleteText: "The draft and its content will be deleted. This cannot be undone.",
	open: "Open",
	edit: "Edit",
	peek: "Preview",
	pause: "Pause",
	resume: "Resume",
	unschedule: "Unschedule",
	cancel: "Cancel send",
	report: "Report",
	more: "Actions of {name}",
	noSegment: "Nobody yet",
	older: "Show older",
	since: "Created since {when}.",
	recount: "Recount",
	selected: "{count, plural, one {# selected} other {# selected}}",
	deselect: "Clear selection",
	unsaved: "{count, plural, one {Not yet saved: # problem} other {Not yet saved: # problems}}",
});

const filters = ["draft", "scheduled", "sending", "paused", "completed", "failed", "cancelled"] as const;

const pageOf = (broadcast: BroadcastRow) =>
	broadcast.status === "draft" ? to.broadcastDraft(broadcast.id) : to.broadcast(broadcast.id);

/** can reports whether the server allows an action. */
const can = (broadcast: BroadcastRow, action: string) => (broadcast.available_actions ?? []).includes(action); // none in answers kept by an older version

/** Broadcasts is the list of all broadcasts. */
export default function Broadcasts() {
	const [path, navigate] = useLocation();
	const creating = path === to.newBroadcast();
	const [status, setStatus] = useParam("status");
	const [search, setSearch] = useTextParam("q");
	const [tag, setTag] = useParam("tag");
	const [peek, setPeek] = useParam("peek");
	const [segment] = useParam("segment");
	const [selected, setSelected] = useState<Set<string>>(new Set());
	const [deleting, setDeleting] = useState<BroadcastRow | null>(null);
	const disabledReason = useDisabledReason("POST /broadcasts");
	const archiveDisabledReason = useDisabledReason("POST /broadcasts/bulk-archive");
	const sendDisabledReason = useDisabledReason("POST /broadcasts/{broadcast_id}/pause");
	const archived = status === "archived";
	const { list, rows: all, since } = useBroadcasts(archived);
	const unsaved = useUnsaved();
	const tags = [...new Set(all.flatMap((broadcast) => broadcast.tags))].sort();
	const shown = all
		.filter(
			(broadcast) =>
				(archived || !status || broadcast.status === status) &&
				(!tag || broadcast.tags.includes(tag)) &&
				broadcast.name.toLowerCase().includes(search.toLowerCase()),
		)
		.sort((a, b) => Number(unsaved.has(b.id)) - Number(unsaved.has(a.id)));
	const metrics = useMetrics(shown);
	const segments = useSegments();
	const segmentNames = new Map(segments.map((segment) => [segment.segment_key, segment.name]));
	const { act, archive, busy } = useActions();
	const cancelling = useCancelling();
	const peeked = all.find((broadcast) => broadcast.id === peek);
	const selection = shown.filter((broadcast) => selected.has(broadcast.id)).map((broadcast) => broadcast.id);
	const rate = (metrics: MetricsRow | undefined, metric: "opened_rate" | "clicked_rate") =>
		metrics ? percent(metrics[metric]) : <NotSet />;
	const actions = (broadcast: BroadcastRow) => [
		{
			id: "open",
			label: broadcast.status === "draft" ? words.edit : broadcast.dispatch_started_at ? words.report : words.open,
			run: () => navigate(pageOf(broadcast)),
		},
		{ id: "peek", label: words.peek, run: () => setPeek(broadcast.id) },
		can(broadcast, "pause") && {
			id: "pause",
			label: words.pause,
			disabledReason: sendDisabledReason,
			run: () => act({ id: broadcast.id, action: "pause" }),
		},
		can(broadcast, "resume") && {
			id: "resume",
			label: words.resume,
			disabledReason: sendDisabledReason,
			run: () => act({ id: broadcast.id, action: "resume" }),
		},
		can(broadcast, "unschedule") && {
			id: "unschedule",
			label: words.unschedule,
			disabledReason: sendDisabledReason,
			run: () => act({ id: broadcast.id, action: "unschedule" }),
		},
		can(broadcast, "clone") && {
			id: "copy",
			label: words.copy,
			disabledReason,
			run: () => act({ id: broadcast.id, action: "clone" }),
		},
		can(broadcast, "archive") && {
			id: "archive",
			label: words.archive,
			disabledReason: archiveDisabledReason,
			run: () => archive([broadcast.id]),
		},
		can(broadcast, "unarchive") && {
			id: "unarchive",
			label: words.unarchive,
			disabledReason: archiveDisabledReason,
			run: () => act({ id: broadcast.id, action: "unarchive" }),
		},
		can(broadcast, "cancel") && {
			id: "cancel",
			label: words.cancel,
			danger: true,
			disabledReason: sendDisabledReason,
			run: () => cancelling.ask(broadcast.id),
		},
		can(broadcast, "delete") && {
			id: "delete",
			label: words.delete,
			danger: true,
			disabledReason,
			run: () => setDeleting(broadcast),
		},
	];
	const none = list.isSuccess && all.length === 0 && !archived && !status && !search;
	const addButton = (
		<Button kind="create" disabledReason={disabledReason} onClick={() => navigate(to.newBroadcast())}>
			{words.add}
		</Button>
	);
	return (
		<Page wide title={words.title} description={words.about} actions={!none && addButton}>
			{!none && (
				<Tools label={words.search} value={search} onChange={setSearch} loading={list.isPending}>
					{(tags.length > 0 || tag) && (
						<Select
							label={words.tag}
							hideLabel
							value={tag}
							onChange={setTag}
							choices={[{ value: "", label: words.allTags }, ...tags.map((tag) => ({ value: tag, label: tag }))]}
						/>
					)}
					<fieldset className={css.filters} aria-label={words.status}>
						<Button small variant="quiet" aria-pressed={!status} onClick={() => setStatus("")}>
							{words.all}
						</Button>
						{filters.map((filter) => {
							const n = all.filter((broadcast) => broadcast.status === filter).length;
							return (
								(n > 0 || status === filter) && (
									<Button
										key={filter}
										small
										variant="quiet"
										aria-pressed={status === filter}
										onClick={() => setStatus(filter)}
									>
										{stateOf("broadcast", filter).word} <span className={css.count}>{exactNumber(n)}</span>
									</Button>
								)
							);
						})}
						<Button small variant="quiet" aria-pressed={archived} onClick={() => setStatus(archived ? "" : "archived")}>
							{words.archived}
						</Button>
					</fieldset>
				</Tools>
			)}
			{selection.length > 0 && (
				<ActionBar>
					<p role="status">{words.selected({ count: selection.length })}</p>
					{!archived && (
						<Button
							small
							disabledReason={archiveDisabledReason}
							busy={busy}
							onClick={() => {
								archive(selection);
								setSelected(new Set());
							}}
						>
							{words.archive}
						</Button>
					)}
					<Button small variant="quiet" onClick={() => setSelected(new Set())}>
						{words.deselect}
					</Button>
				</ActionBar>
			)}
			{list.isPending ? (
				<Skeleton rows={8} height={36} />
			) : list.isError ? (
				<Failure error={list.error} retry={() => void list.refetch()} />
			) : shown.length === 0 ? (
				none ? (
					<Empty title={words.empty} action={addButton} example={<NextStep />}>
						{words.emptyText}
					</Empty>
				) : (
					<NoMatch
						title={words.noMatch}
						filters={[
							searched(search, setSearch),
							tag !== "" && { name: tag, remove: () => setTag("") },
							status !== "" && { name: stateOf("broadcast", status).word, remove: () => setStatus("") },
						]}
					/>
				)
			) : (
				<Table
					found={`${status} ${search} ${tag}`}
					fill
					label={words.title}
					rows={shown}
					rowKey={(broadcast) => broadcast.id}
					rowName={(broadcast) => broadcast.name}
					selected={selected}
					onSelect={setSelected}
					onOpen={(broadcast) => navigate(pageOf(broadcast))}
					onPeek={(broadcast) => setPeek(broadcast.id)}
					columns={[
						{
							id: "name",
							name: words.name,
							preferredWidth: 225,
							cell: (broadcast) => (
								<span className={rowsCss.name}>
									<Link href={pageOf(broadcast)} tabIndex={-1}>
										{broadcast.name}
									</Link>
									{unsaved.has(broadcast.id) ? (
										<Badge tone="warning">{words.unsaved({ count: unsaved.get(broadcast.id) ?? 1 })}</Badge>
									) : (
										broadcast.content.subject && <span>{broadcast.content.subject}</span>
									)}
								</span>
							),
						},
						{
							id: "status",
							name: words.status,
							width: 160,
							minWidth: 158,
							cell: (broadcast) => <StateBadge kind="broadcast" state={broadcast.status} />,
						},
						{
							id: "audience",
							name: words.audience,
							width: 160,
							minWidth: 120,
							droppable: true,
							cell: (broadcast) =>
								broadcast.include_segment_keys.map((key) => segmentNames.get(key) ?? key).join(", ") || words.noSegment,
						},
						{
							id: "when",
							name: words.when,
							width: 140,
							minWidth: 132,
							cell: (broadcast) =>
								broadcast.status === "scheduled" && broadcast.scheduled_at ? (
									<time dateTime={broadcast.scheduled_at} title={exact(broadcast.scheduled_at)}>
										{dayTime(broadcast.scheduled_at)}
									</time>
								) : (
									<Time at={broadcast.dispatch_started_at ?? broadcast.updated_at} />
								),
						},
						{
							id: "recipients",
							name: words.recipients,
							description: term("recipients").definition,
							width: 116,
							minWidth: 112,
							droppable: true,
							align: "end",
							cell: (broadcast) =>
								metrics.metricsById.has(broadcast.id) ? (
									exactNumber(metrics.metricsById.get(broadcast.id)?.total_recipients ?? 0)
								) : (
									<NotSet />
								),
						},
						{
							id: "opened",
							name: words.opened,
							description: term("opened").definition,
							width: 128,
							minWidth: 126,
							align: "end",
							cell: (broadcast) => rate(metrics.metricsById.get(broadcast.id), "opened_rate"),
						},
						{
							id: "clicked",
							name: words.clicked,
							description: term("clicked").definition,
							width: 104,
							minWidth: 90,
							align: "end",
							cell: (broadcast) => rate(metrics.metricsById.get(broadcast.id), "clicked_rate"),
						},
						{
							id: "trend",
							name: words.trend,
							width: 100,
							droppable: true,
							cell: (broadcast) => <Sparkline values={metrics.metricsById.get(broadcast.id)?.sparkline ?? []} />,
						},
						{
							id: "menu",
							name: "",
							width: 52,
							cell: (broadcast) => (
								<Menu small label={words.more({ name: broadcast.name })} actions={actions(broadcast)} />
							),
						},
					]}
					card={(broadcast) => (
						<span className={rowsCss.card}>
							<span className={rowsCss.name}>
								<b>{broadcast.name}</b>
								<span>
									{unsaved.has(broadcast.id)
										? words.unsaved({ count: unsaved.get(broadcast.id) ?? 1 })
										: (broadcast.content.subject ?? words.noSegment)}
								</span>
							</span>
							<StateBadge kind="broadcast" state={broadcast.status} />
							<Menu small label={words.more({ name: broadcast.name })} actions={actions(broadcast)} />
						</span>
					)}
				/>
			)}
			{!list.isPending && (all.length > 0 || archived) && (
				<div className={css.older}>
					<p>{words.since({ when: day(since) })}</p>
					{list.hasNextPage && (
						<Button small variant="quiet" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
							{words.older}
						</Button>
					)}
					{metrics.some && (
						<Button
							small
							variant="quiet"
							icon={<RotateCw aria-hidden size={14} />}
							busy={metrics.recount.isPending}
							onClick={() => metrics.recount.mutate()}
						>
							{words.recount}
						</Button>
					)}
				</div>
			)}
			{creating && !disabledReason && (
				<NewBroadcast segment={segment || undefined} onClose={() => navigate(to.broadcasts())} />
			)}
			{peeked && <Peek broadcast={peeked} to={pageOf(peeked)} onClose={() => setPeek("")} />}
			{cancelling.broadcast && (
				<CancelSend
					broadcast={cancelling.broadcast}
					busy={busy}
					onConfirm={() => {
						act({ id: cancelling.broadcast?.id ?? "", action: "cancel" });
						cancelling.done();
					}}
					onClose={cancelling.done}
				/>
			)}
			{deleting && (
				<Confirm
					title={words.deleteTitle({ name: deleting.name })}
					action={words.delete}
					onConfirm={() => {
						act({ id: deleting.id, action: "delete" });
						setDeleting(null);
					}}
					onClose={() => setDeleting(null)}
				>
					<p>{words.deleteText}</p>
				</Confirm>
			)}
		</Page>
	);
}
