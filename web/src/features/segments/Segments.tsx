import { useQuery } from "@tanstack/react-query";
import { Lock } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, newKey } from "../../api/client";
import type { SegmentSession } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useParam, useTextParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { Badge } from "../../ui/Badge";
import { Button, LinkButton } from "../../ui/Button";
import { Combo } from "../../ui/Combo";
import { Dialog } from "../../ui/Dialog";
import { Select, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { List } from "../../ui/List";
import { NotSet, Page } from "../../ui/Page";
import { Empty, Failure, NoMatch, Skeleton, searched } from "../../ui/States";
import { Time } from "../../ui/Time";
import { Tools } from "../../ui/Tools";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import rowsCss from "../../ui/Rows.module.css";
import { type Criterion, criteria, segmentName } from "../broadcasts/criteria";
import NameSegment from "../broadcasts/NameSegment";
import own from "./Segment.module.css";
import { segmentsWithUseQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("segments.segments", {
	title: "Segments",
	about: "Groups of contacts: segments by rule, which update automatically, and lists that you fill yourself.",
	add: "New segment",
	addList: "New list",
	search: "Search segments",
	kind: "Kind",
	all: "All kinds",
	dynamic: "By rule",
	static: "List",
	system: "Built in",
	name: "Name",
	sendable: "Can be mailed",
	total: "Members",
	age: "Counted",
	usedBy: "Used by",
	uses: "{count, plural, one {# use} other {# uses}}",
	unused: "Nothing",
	warnings: "Broken reference",
	builtIn: {
		all_sendable: "Everybody who can be mailed",
		engaged_30_days: "People who opened or clicked in the last 30 days",
		engaged_90_days: "People who opened or clicked in the last 90 days",
		new_contacts_30_days: "Contacts created in the last 30 days",
		never_engaged: "People who were sent five or more emails and neither opened nor clicked",
		soft_bouncing: "People whose emails bounce temporarily",
		sunset_candidates: "People who get email but have not reacted for a long time: consider stopping",
	} as { [key: string]: string },
	fromReport: "New from report",
	broadcast: "Broadcast",
	who: "Who",
	next: "Next",
	choose: "Choose a broadcast and which of its people.",
	empty: "No segment of your own yet",
	example: "Open this example",
	emptyText: "For example: people in Germany who clicked in an email in the last 30 days.",
	none: "No segment matches",
	create: "Create",
});

/** Segments lists segments by rule and lists. */
export default function Segments() {
	const [, navigate] = useLocation();
	const disabledReason = useDisabledReason("POST /segments");
	const [search, setSearch] = useTextParam("q");
	const [kind, setKind] = useParam("kind");
	const [creating, setCreating] = useState(false);
	const [reporting, setReporting] = useParam("from-report");
	const segments = useCollection("segments");
	const all = segments.data?.data ?? [];
	const rows = all
		.filter(
			(segment) =>
				segment.name.toLowerCase().includes(search.toLowerCase()) &&
				(!kind ||
					(kind === "system" ? segment.system_key !== null : segment.system_key === null && segment.type === kind)),
		)
		.sort((a, b) => Number(b.system_key !== null) - Number(a.system_key !== null));
	// What uses them comes after the rows.
	const used = useQuery(segmentsWithUseQuery());
	const more = new Map((used.data?.data ?? []).map((segment) => [segment.id, segment]));
	const usesOf = (segment: SegmentSession) =>
		Object.values(more.get(segment.id)?.usage ?? {}).reduce((sum, all) => sum + all.length, 0);
	const kinds = [
		{ value: "", label: words.all },
		{ value: "dynamic", label: words.dynamic },
		{ value: "static", label: words.static },
		{ value: "system", label: words.system },
	];
	return (
		<Page
			title={words.title}
			description={words.about}
			actions={
				<>
					<Button disabledReason={disabledReason} onClick={() => setReporting("1")}>
						{words.fromReport}
					</Button>
					<Button disabledReason={disabledReason} onClick={() => setCreating(true)}>
						{words.addList}
					</Button>
					<LinkButton kind="create" to={to.newSegment()} disabledReason={disabledReason}>
						{words.add}
					</LinkButton>
				</>
			}
		>
			<Tools label={words.search} value={search} onChange={setSearch}>
				<Select label={words.kind} hideLabel value={kind} onChange={setKind} choices={kinds} />
			</Tools>
			{segments.isPending ? (
				<Skeleton rows={6} />
			) : segments.isError ? (
				<Failure error={segments.error} retry={() => void segments.refetch()} />
			) : rows.length === 0 ? (
				<NoMatch
					title={words.none}
					filters={[
						searched(search, setSearch),
						kind !== "" && { name: kinds.find((k) => k.value === kind)?.label ?? kind, remove: () => setKind("") },
					]}
				/>
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(segment) => segment.id}
					columns={[
						{
							id: "name",
							name: words.name,
							cell: (segment) => (
								<span className={own.named}>
									<Link href={to.segment(segment.segment_key)}>{segment.name}</Link>
									{segment.system_key && words.builtIn[segment.system_key] && (
										<span className={own.muted}>{words.builtIn[segment.system_key]}</span>
									)}
								</span>
							),
						},
						{
							id: "kind",
							beside: true,
							name: words.kind,
							cell: (segment) =>
								segment.system_key ? (
									<span className={rowsCss.line}>
										<Lock aria-hidden size={14} /> {words.system}
									</span>
								) : segment.type === "static" ? (
									words.static
								) : (
									words.dynamic
								),
						},
						{
							id: "sendable",
							name: words.sendable,
							description: term("mailable").definition,
							end: true,
							cell: (segment) => (segment.member_count === null ? <NotSet /> : exactNumber(segment.member_count)),
						},
						{
							id: "total",
							name: words.total,
							description: term("members").definition,
							end: true,
							cell: (segment) =>
								segment.member_count_total === null ? <NotSet /> : exactNumber(segment.member_count_total),
						},
						{ id: "age", name: words.age, cell: (segment) => <Time at={segment.member_count_evaluated_at} /> },
						{
							id: "used",
							name: words.usedBy,
							end: true,
							cell: (segment) =>
								!used.data ? (
									<NotSet />
								) : usesOf(segment) === 0 ? (
									words.unused
								) : (
									<Link href={to.segment(segment.segment_key, { tab: "use" })}>
										{words.uses({ count: usesOf(segment) })}
									</Link>
								),
						},
						{
							id: "warnings",
							name: "",
							cell: (segment) =>
								(more.get(segment.id)?.warnings?.length ?? 0) > 0 && <Badge tone="warning">{words.warnings}</Badge>,
						},
					]}
				/>
			)}
			{segments.isSuccess && !search && !kind && all.every((segment) => segment.system_key !== null) && (
				<Empty
					title={words.empty}
					action={
						<LinkButton to={to.newSegment()} disabledReason={disabledReason}>
							{words.example}
						</LinkButton>
					}
				>
					{words.emptyText}
				</Empty>
			)}
			{reporting && <FromReport onClose={() => setReporting("")} />}
			{creating && (
				<NewList
					onClose={() => setCreating(false)}
					onCreated={(key) => navigate(to.segment(key, { tab: "members" }))}
				/>
			)}
		</Page>
	);
}

/** FromReport makes a segment of those to whom something happened by a broadcast. */
function FromReport({ onClose }: { onClose: () => void }) {
	const [broadcast, setBroadcast] = useState<string | null>(null);
	const [criterion, setCriterion] = useState<Criterion | null>(null);
	const [naming, setNaming] = useState(false);
	const sent = useCollection("broadcasts");
	const rows = (sent.data?.data ?? []).filter((broadcast) => !["draft", "scheduled"].includes(broadcast.status));
	const selected = rows.find((b) => b.id === broadcast);
	const ready = selected !== undefined && criterion !== null;
	if (naming && ready)
		return (
			<NameSegment
				id={selected.id}
				criterion={criterion}
				initial={segmentName(selected.name, criterion)}
				onClose={onClose}
			/>
		);
	return (
		<Dialog
			title={words.fromReport}
			onClose={onClose}
			onSubmit={() => ready && setNaming(true)}
			submit={{ label: words.next, disabledReason: ready ? undefined : words.choose }}
		>
			<Combo
				autoFocus
				label={words.broadcast}
				options={rows.map((broadcast) => ({ id: broadcast.id, label: broadcast.name }))}
				value={broadcast}
				onChange={setBroadcast}
			/>
			<Combo
				label={words.who}
				options={criteria()}
				value={criterion}
				onChange={(value) => setCriterion(value as Criterion | null)}
			/>
		</Dialog>
	);
}

function NewList({ onClose, onCreated }: { onClose: () => void; onCreated: (key: string) => void }) {
	const form = useForm({ name: "" });
	const [idempotencyKey] = useState(newKey);
	const send = () =>
		form.submit(async () =>
			onCreated(
				(await api("POST /segments", { body: { name: form.values.name, type: "static" }, idempotencyKey })).segment_key,
			),
		);
	return (
		<Dialog
			title={words.addList}
			onClose={onClose}
			onSubmit={() => void send()}
			submit={{ label: words.create, busy: form.busy }}
		>
			<FormProblems problems={form.problems} />
			<TextField
				label={words.name}
				path="name"
				value={form.values.name}
				onChange={(name) => form.set({ name })}
				error={form.problems.byPath.name}
				autoFocus
			/>
		</Dialog>
	);
}
