import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { api, isConflict, newKey, request, type Versioned } from "../../api/client";
import type { SegmentSession } from "../../api/schema";
import { useParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { jobsChanged } from "../../base/shell";
import { exportOf } from "../contacts/contactFields";
import { toDefinition, conditionAt, type Group, pathOf } from "../rules/groups";
import { useDraft } from "../../sync/useDraft";
import { Badge } from "../../ui/Badge";
import { Button, LinkButton } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { isGone, NotFound } from "../../ui/NotFound";
import { Menu } from "../../ui/Menu";
import { restoredText } from "../../ui/draftForm";
import { Card, Callout, Page } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { Tabs } from "../../ui/Tabs";
import { isOld } from "../../ui/Time";
import { toast } from "../../ui/Toast";
import { segmentName } from "../../base/words/builtInSegments";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { ago } from "../../base/words/formats";
import { lazyComponent } from "../../base/lazy";
import { definitionFault } from "./definitionFault";
import { Rules } from "./Rules";
import css from "./Segment.module.css";
import { within } from "../../base/queries";
import { segmentQuery } from "./queries";
import { to } from "../../base/paths";

const Members = lazyComponent(() => import("./Members").then((module) => ({ default: module.Members })));

const BulkJob = lazyComponent(() => import("../jobs/BulkJob").then((module) => ({ default: module.BulkJob })));

/** The columns of an export, besides the address and the names. */
const exported = ["global_status", "company", "country", "tags", "last_activity_at", "created_at"];

/** membersOf is the rule that selects the members of a list or segment. */
const membersOf = ({ type, segment_key }: SegmentSession): Group => ({
	logic: "and",
	conditions: [{ type: type === "static" ? "list" : "segment", operator: "in", segment_keys: [segment_key] }],
});

const words = catalogue("segments.segment", {
	segments: "Segments",
	views: "Views of the segment",
	rules: "Rule",
	members: "Members",
	use: "Used by",
	settings: "Name",
	save: "Save",
	saved: "Saved",
	recount: "Recount",
	write: "Write to these people",
	duplicate: "Duplicate",
	copyOf: "{name} copy",
	export: "Export",
	delete: "Delete",
	deleteTitle: "Delete {name}?",
	deleteText: "Only the segment is deleted. The contacts stay.",
	inUse: "This segment is in use and cannot be deleted yet",
	kinds: {
		broadcasts: "broadcast",
		sequences: "sequence",
		automations: "automation",
		forms: "form",
		segments: "segment",
	} as { [kind: string]: string },
	system: "Built in. It cannot be changed.",
	list: "List",
	rule: "By rule",
	systemWord: "Built in",
	count: "{total, number} members, {sendable, number} can be mailed",
	counted: "counted {when}",
	uncounted: "Not counted yet",
	nobody: "Nothing uses this segment.",
	conflict: "Somebody else changed the same part of this segment in the meantime.",
	mine: "Keep mine",
	theirs: "Use theirs",
	joined: "Somebody else changed another part of this segment in the meantime. Their change is included here.",
	discard: "Discard",
	clean: "No changes.",
	namesTitle: "Save the new rule?",
	names: "These use the segment and will follow the new rule:",
	broken: "The rule refers to something that was deleted",
	brokenText: "Its conditions say what they match now.",
});

/** SegmentPage shows a segment: its rule, its members, what uses it. */
export default function SegmentPage() {
	const { id = "" } = useParams<{ id: string }>();
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const [tab] = useParam("tab", "");
	const disabledReason = useDisabledReason("PUT /segments/{key}");
	const writeDisabledReason = useDisabledReason("POST /broadcasts");
	const createDisabledReason = useDisabledReason("POST /segments");
	const exportDisabledReason = useDisabledReason("POST /contacts/export");
	const [deleting, setDeleting] = useState(false);
	const [job, setJob] = useParam("job");
	const query = useQuery(segmentQuery(id));
	const remove = useMutation({
		mutationFn: () => api("DELETE /segments/{key}", { path: { key: id }, revision: query.data?.revision ?? undefined }),
		onSuccess: () => {
			void client.invalidateQueries(within("segments"));
			navigate(to.segments());
		},
		onError: () => void query.refetch(), // it, or what uses it, may be new
	});
	const recount = useMutation({
		mutationFn: () => api("POST /segments/{key}/refresh-count", { path: { key: id } }),
		onSuccess: () => void client.invalidateQueries(within("segment", id)),
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const exportMembers = useMutation({
		mutationFn: (segment: SegmentSession) =>
			api("POST /contacts/export", {
				idempotencyKey: newKey(),
				body: {
					format: "csv",
					bom: true,
					fields: exportOf(exported),
					selector: { definition: toDefinition(membersOf(segment)) },
				},
			}),
		onSuccess: ({ job_id }) => {
			jobsChanged(client);
			setJob(job_id);
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const breadcrumbs = [{ name: words.segments, to: to.segments() }];
	const segment = query.data?.data;
	if (!segment || isGone(query.error))
		return (
			<NotFound
				query={query}
				list={words.segments}
				to={to.segments()}
				breadcrumbs={breadcrumbs}
				unsavedInput={{ kinds: ["segment"], id }}
			/>
		);
	const system = segment.system_key !== null;
	const shown = tab || (segment.type === "dynamic" && !system ? "rules" : "members");
	const holders = holdersOf(segment);
	return (
		<Page
			wide
			title={segmentName(segment)}
			breadcrumbs={breadcrumbs}
			status={
				<Badge tone="neutral">{system ? words.systemWord : segment.type === "static" ? words.list : words.rule}</Badge>
			}
			description={
				segment.member_count === null || segment.member_count_total === null ? (
					words.uncounted
				) : (
					<>
						{words.count({ sendable: segment.member_count, total: segment.member_count_total })}
						{isOld(segment.member_count_evaluated_at) && (
							<> · {words.counted({ when: ago(segment.member_count_evaluated_at ?? "") })}</>
						)}
					</>
				)
			}
			actions={
				<>
					<Button busy={recount.isPending} onClick={() => recount.mutate()}>
						{words.recount}
					</Button>
					<LinkButton to={to.newBroadcast({ segment: segment.segment_key })} disabledReason={writeDisabledReason}>
						{words.write}
					</LinkButton>
					<Menu
						actions={[
							segment.definition !== null && {
								id: "duplicate",
								label: words.duplicate,
								disabledReason: createDisabledReason,
								run: () =>
									navigate(
										to.newSegment({
											rule: JSON.stringify(segment.definition),
											name: words.copyOf({ name: segmentName(segment) }),
										}),
									),
							},
							{
								id: "export",
								label: words.export,
								disabledReason: exportDisabledReason,
								run: () => exportMembers.mutate(segment),
							},
							!system && {
								id: "delete",
								label: words.delete,
								danger: true,
								disabledReason,
								run: () => setDeleting(true),
							},
						]}
					/>
				</>
			}
		>
			<Tabs
				label={words.views}
				current={shown}
				tabs={[
					...(system || segment.type === "static" ? [] : [{ id: "rules", name: words.rules }]),
					{ id: "members", name: words.members },
					...(system ? [] : [{ id: "use", name: words.use, count: holders.length }]),
				]}
			/>
			<Suspense>{job && <BulkJob key={job} id={job} onClose={() => setJob("")} />}</Suspense>
			{shown === "rules" && query.data && (
				<Edit
					key={segment.segment_key}
					server={query.data}
					disabledReason={disabledReason}
					onSaved={() => void query.refetch()}
				/>
			)}
			<Suspense fallback={<Skeleton rows={6} />}>{shown === "members" && <Members segment={segment} />}</Suspense>
			{shown === "use" && (
				<Card title={words.use}>
					{holders.length === 0 && <p>{words.nobody}</p>}
					<Holders holders={holders} />
				</Card>
			)}
			{deleting && (
				<Confirm
					title={words.deleteTitle({ name: segment.name })}
					action={words.delete}
					busy={remove.isPending}
					error={remove.error && <p role="alert">{explain(remove.error)}</p>}
					onConfirm={() => remove.mutate()}
					onClose={() => setDeleting(false)}
				>
					<p>{words.deleteText}</p>
					{holders.length > 0 && (
						<Callout tone="warning" title={words.inUse}>
							<Holders holders={holders} />
						</Callout>
					)}
				</Confirm>
			)}
		</Page>
	);
}

type Holder = { kind: string; name: string; id: string; status: string };

/** holdersOf returns the records that use a segment. */
const holdersOf = (segment: SegmentSession): Holder[] =>
	Object.entries(segment.usage ?? {}).flatMap(([kind, all]) =>
		all.map((holder) => ({
			kind,
			name: holder.name,
			id: holder.id ?? holder.segment_key ?? "",
			status: holder.status ?? "",
		})),
	);

/** States in which a record does nothing by itself. */
const inactiveStates = ["draft", "archived"];

/** Holders lists the records that use the segment, with links to them. */
function Holders({ holders }: { holders: Holder[] }) {
	return (
		<ul className={css.sample}>
			{holders.map((holder) => (
				<li key={holder.kind + holder.id}>
					<Link href={`/${holder.kind}/${holder.id}`}>{holder.name}</Link>{" "}
					<span className={css.muted}>{words.kinds[holder.kind] ?? holder.kind.replaceAll("_", " ")}</span>
				</li>
			))}
		</ul>
	);
}

/** Draft is what can be written of a segment. */
type Draft = { name: string; rule: Group };

const draftOf = (segment: SegmentSession): Draft => ({
	name: segment.name,
	rule: (segment.definition as Group | null) ?? { logic: "and", conditions: [] },
});

function Edit({
	server,
	disabledReason,
	onSaved,
}: {
	server: Versioned<SegmentSession>;
	disabledReason?: string;
	onSaved: () => void;
}) {
	const client = useQueryClient();
	const segment = server.data;
	const path = { key: segment.segment_key };
	const store = useDraft<SegmentSession, Draft>(
		{
			kind: "segment",
			id: segment.id,
			title: (draft) => draft.name,
			load: () => request("GET /segments/{key}", { path, query: { include_usage: true } }),
			save: (_, draft, revision) =>
				request("PUT /segments/{key}", {
					path,
					body: { name: draft.name, definition: toDefinition(draft.rule) },
					revision,
				}),
			fieldsOf: draftOf,
			reviewed: true,
		},
		server,
		{ autosaveAfter: null, readOnly: disabledReason !== undefined },
	);
	const { values: draft, changed, conflict, mergedChanges, restored } = store.state;
	const [fault, setFault] = useState<ReturnType<typeof definitionFault>>(null);
	const [asking, setAsking] = useState(false);
	const form = useForm({ name: segment.name });
	// What is live follows the new rule at once, so it is named before.
	const live = holdersOf(segment).filter((holder) => !inactiveStates.includes(holder.status));
	const savedRule = JSON.stringify(server.data.definition ?? null);
	const ruleChanged = JSON.stringify(draft.rule) !== savedRule;
	const isUnresolved = (warning: { path: string }) =>
		JSON.stringify(conditionAt(draft.rule, pathOf(warning.path))) ===
		JSON.stringify(conditionAt(draftOf(segment).rule, pathOf(warning.path)));
	const warnings = (segment.warnings ?? []).filter(isUnresolved);
	const saveDisabledReason = changed.length > 0 ? undefined : words.clean;
	const send = () =>
		form.submit(async () => {
			setFault(null);
			try {
				await store.save();
				void client.invalidateQueries(within("segments"));
				toast(words.saved);
				onSaved();
			} catch (error) {
				if (isConflict(error)) {
					onSaved();
					return;
				}
				setFault(definitionFault(error));
				throw error;
			}
		});
	return (
		<>
			{disabledReason && <Callout>{disabledReason}</Callout>}
			{conflict ? (
				<Callout tone="warning" title={words.conflict}>
					<div className={css.choices}>
						<Button small onClick={() => store.resolveConflict(new Set())}>
							{words.mine}
						</Button>
						<Button
							small
							onClick={() => store.resolveConflict(new Set(conflict.conflicts.map((conflict) => conflict.group)))}
						>
							{words.theirs}
						</Button>
					</div>
				</Callout>
			) : mergedChanges ? (
				<Callout title={words.joined} />
			) : restored && changed.length > 0 ? (
				<Callout title={restoredText(restored)}>
					<Button small onClick={() => store.discard()}>
						{words.discard}
					</Button>
				</Callout>
			) : null}
			<FormProblems problems={form.problems} />
			{warnings.length > 0 && (
				<Callout tone="warning" title={words.broken}>
					<p>{words.brokenText}</p>
				</Callout>
			)}
			<Card>
				<TextField
					label={words.settings}
					path="name"
					value={draft.name}
					readOnly={disabledReason !== undefined}
					onChange={(name) => {
						form.set({ name });
						store.change({ name });
					}}
					error={form.problems.byPath.name}
				/>
			</Card>
			<Rules
				locked={disabledReason !== undefined}
				value={draft.rule}
				onChange={(rule) => {
					store.change({ rule });
					setFault(null);
				}}
				saved={
					segment.member_count_total !== null && segment.member_count_evaluated_at
						? { total: segment.member_count_total, at: segment.member_count_evaluated_at }
						: null
				}
				fault={fault}
				warnings={warnings}
				save={
					<Button
						variant="primary"
						busy={form.busy}
						disabledReason={disabledReason ?? saveDisabledReason}
						onClick={() => (ruleChanged && live.length > 0 ? setAsking(true) : void send())}
					>
						{words.save}
					</Button>
				}
			/>
			{asking && (
				<Confirm
					title={words.namesTitle}
					action={words.save}
					danger={false}
					onConfirm={() => {
						setAsking(false);
						void send();
					}}
					onClose={() => setAsking(false)}
				>
					<p>{words.names}</p>
					<Holders holders={live} />
				</Confirm>
			)}
		</>
	);
}
