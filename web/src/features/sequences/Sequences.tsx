import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, newKey } from "../../api/client";
import type { Sequence } from "../../api/schema";
import { useParam, useTextParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { LinkButton } from "../../ui/Button";
import { Confirm, Dialog } from "../../ui/Dialog";
import { Select, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { List } from "../../ui/List";
import { Menu } from "../../ui/Menu";
import { NotSet, Callout, Page } from "../../ui/Page";
import { Empty, Failure, NoMatch, Skeleton, searched } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toast";
import { Tools } from "../../ui/Tools";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber, percent } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import { explain } from "../../base/words/errors";
import { stateOf } from "../../base/words/status";
import own from "./Sequences.module.css";
import { createStarter, type Starter, starters } from "./starters";
import { triggerWords } from "./steps";
import { useNames } from "./useNames";
import { within } from "../../base/queries";
import { sequencesWithCountsQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("sequences.sequences", {
	title: "Sequences",
	about: "Emails and waits that guide each contact along a path, starting when something happens.",
	add: "New sequence",
	search: "Search sequences",
	status: "State",
	all: "Not archived",
	every: "All",
	name: "Name",
	inside: "Inside",
	entered: "Entered",
	completed: "Completed",
	converted: "Converted",
	changed: "Changed",
	none: "No sequence matches",
	empty: "No sequences yet",
	emptyText:
		"A sequence sends automatically. For example, it welcomes everybody who signs up, and writes again two days later to those who have not clicked. Start with one of these and adapt it.",
	blank: "Empty sequence",
	blankText: "Build your own from scratch.",
	begin: "Start with",
	nameLabel: "Name",
	create: "Create",
	actions: "Actions of {name}",
	pause: "Pause",
	duplicate: "Duplicate",
	archive: "Archive",
	unarchive: "Back to draft",
	delete: "Delete",
	deleteTitle: "Delete {name}?",
	deleteText: "It was never active, so nobody has ever been in it.",
	archiveTitle: "Archive {name}?",
	archiveText:
		"{count, plural, =0 {Nobody is inside.} one {# person is inside and will leave immediately. This cannot be undone.} other {# people are inside and will leave immediately. This cannot be undone.}}",
	archived: "{name} archived",
});

/** Sequences lists the sequences. */
export default function Sequences() {
	const [path, navigate] = useLocation();
	const disabledReason = useDisabledReason("POST /sequences");
	const names = useNames();
	const [search, setSearch] = useTextParam("q");
	const [status, setStatus] = useParam("status");
	const list = useQuery(sequencesWithCountsQuery());
	const all = list.data?.data ?? [];
	const rows = all.filter(
		(sequence) =>
			sequence.name.toLowerCase().includes(search.toLowerCase()) &&
			(status === "all" || (status ? sequence.status === status : sequence.status !== "archived")),
	);
	const creating = path === to.newSequence();
	const choices = [
		{ value: "", label: words.all },
		...["active", "paused", "draft", "archived"].map((status) => ({
			value: status,
			label: stateOf("sequence", status).word,
		})),
		{ value: "all", label: words.every },
	];
	return (
		<Page
			title={words.title}
			description={words.about}
			actions={
				<LinkButton kind="create" to={to.newSequence()} disabledReason={disabledReason}>
					{words.add}
				</LinkButton>
			}
		>
			{list.isPending ? (
				<Skeleton rows={6} />
			) : list.isError ? (
				<Failure error={list.error} retry={() => void list.refetch()} />
			) : all.length === 0 ? (
				<Empty title={words.empty} choices={<Starters disabledReason={disabledReason} />}>
					{words.emptyText}
				</Empty>
			) : (
				<>
					<Tools label={words.search} value={search} onChange={setSearch}>
						<Select label={words.status} hideLabel value={status} onChange={setStatus} choices={choices} />
					</Tools>
					{rows.length === 0 ? (
						<NoMatch
							title={words.none}
							filters={[
								searched(search, setSearch),
								status !== "" && {
									name: choices.find((choice) => choice.value === status)?.label ?? status,
									remove: () => setStatus(""),
								},
							]}
						/>
					) : (
						<List
							label={words.title}
							rows={rows}
							rowKey={(sequence) => sequence.id}
							columns={[
								{
									id: "name",
									name: words.name,
									cell: (sequence) => (
										<span className={own.named}>
											<Link href={to.sequence(sequence.id)}>{sequence.name}</Link>
											<small>
												{triggerWords(
													sequence.entry_trigger?.trigger_type as string | undefined,
													(sequence.entry_trigger?.trigger_config as { [key: string]: unknown } | undefined) ?? {},
													names,
												)}
											</small>
										</span>
									),
								},
								{
									id: "status",
									beside: true,
									name: words.status,
									cell: (sequence) => <StateBadge kind="sequence" state={sequence.status} />,
								},
								{
									id: "inside",
									name: words.inside,
									description: term("inside").definition,
									end: true,
									cell: (sequence) =>
										sequence.counts?.active ? (
											<Link href={to.sequence(sequence.id, { tab: "people", status: "active,paused" })}>
												{exactNumber(sequence.counts.active)}
											</Link>
										) : (
											exactNumber(0)
										),
								},
								{
									id: "entered",
									name: words.entered,
									description: term("entered").definition,
									end: true,
									cell: (sequence) => exactNumber(sequence.counts?.enrolled ?? 0),
								},
								{
									id: "completed",
									name: words.completed,
									description: term("completed").definition,
									end: true,
									cell: (sequence) => share(sequence, sequence.counts?.completed),
								},
								{
									id: "converted",
									name: words.converted,
									description: term("converted").definition,
									end: true,
									cell: (sequence) => share(sequence, sequence.counts?.converted),
								},
								{ id: "changed", name: words.changed, cell: (sequence) => <Time at={sequence.updated_at} /> },
								{ id: "actions", name: "", end: true, cell: (sequence) => <RowMenu sequence={sequence} /> },
							]}
						/>
					)}
				</>
			)}
			{creating && <NewSequence disabledReason={disabledReason} onClose={() => navigate(to.sequences())} />}
		</Page>
	);
}

function share(sequence: Sequence, count: number | undefined) {
	const enrolled = sequence.counts?.enrolled ?? 0;
	return enrolled === 0 ? <NotSet /> : `${exactNumber(count ?? 0)} (${percent((count ?? 0) / enrolled)})`;
}

function RowMenu({ sequence }: { sequence: Sequence }) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const disabledReason = useDisabledReason("POST /sequences/{id}/duplicate");
	const [pendingAction, setPendingAction] = useState<"archive" | "delete" | null>(null);
	const action = useMutation({
		mutationFn: async (action: "duplicate" | "archive" | "unarchive" | "delete" | "pause") => {
			const path = { id: sequence.id };
			if (action === "delete") await api("DELETE /sequences/{id}", { path });
			else if (action === "archive") await api("POST /sequences/{id}/archive", { path });
			else if (action === "unarchive") await api("POST /sequences/{id}/unarchive", { path });
			else if (action === "pause") await api("POST /sequences/{id}/pause", { path });
			else navigate(to.sequence((await api("POST /sequences/{id}/duplicate", { path, idempotencyKey: newKey() })).id));
		},
		onSuccess: (_, action) => {
			setPendingAction(null);
			if (action === "archive") toast(words.archived({ name: sequence.name }));
		},
		onError: (error) => !pendingAction && toast(explain(error), { tone: "danger" }),
		onSettled: () => void client.invalidateQueries(within("sequences")),
	});
	return (
		<>
			<Menu
				small
				label={words.actions({ name: sequence.name })}
				actions={[
					sequence.status === "active" && {
						id: "pause",
						label: words.pause,
						disabledReason,
						run: () => action.mutate("pause"),
					},
					{ id: "duplicate", label: words.duplicate, disabledReason, run: () => action.mutate("duplicate") },
					sequence.status !== "archived" && {
						id: "archive",
						label: words.archive,
						disabledReason,
						run: () => setPendingAction("archive"),
					},
					sequence.status === "archived" && {
						id: "unarchive",
						label: words.unarchive,
						disabledReason,
						run: () => action.mutate("unarchive"),
					},
					sequence.status === "draft" &&
						(sequence.counts?.enrolled ?? 0) === 0 && {
							id: "delete",
							label: words.delete,
							danger: true,
							disabledReason,
							run: () => setPendingAction("delete"),
						},
				]}
			/>
			{pendingAction && (
				<Confirm
					title={
						pendingAction === "archive"
							? words.archiveTitle({ name: sequence.name })
							: words.deleteTitle({ name: sequence.name })
					}
					action={pendingAction === "archive" ? words.archive : words.delete}
					busy={action.isPending}
					error={action.error && <p role="alert">{explain(action.error)}</p>}
					onConfirm={() => action.mutate(pendingAction)}
					onClose={() => setPendingAction(null)}
				>
					<p>
						{pendingAction === "archive"
							? words.archiveText({ count: sequence.counts?.active ?? 0 })
							: words.deleteText}
					</p>
				</Confirm>
			)}
		</>
	);
}

/** Starters are flows to begin with. */
function Starters({ disabledReason }: { disabledReason?: string }) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const create = useMutation({
		mutationFn: (id: Starter) => createStarter(id),
		onSuccess: (sequence) => navigate(to.sequence(sequence.id)),
		onError: (error) => toast(explain(error), { tone: "danger" }),
		onSettled: () => {
			for (const kind of ["sequences", "messages", "segments", "custom_fields"] as const)
				void client.invalidateQueries(within(kind));
		},
	});
	return (
		<>
			{disabledReason && <Callout>{disabledReason}</Callout>}
			<ul className={own.starters} aria-busy={create.isPending}>
				{starters().map((starter) => (
					<li key={starter.id}>
						<button
							type="button"
							aria-disabled={disabledReason || create.isPending ? true : undefined}
							title={disabledReason}
							onClick={() => !disabledReason && !create.isPending && create.mutate(starter.id)}
						>
							<b>{starter.name}</b>
							<span>{starter.text}</span>
							<small>{starter.makes}</small>
						</button>
					</li>
				))}
			</ul>
		</>
	);
}

function NewSequence({ disabledReason, onClose }: { disabledReason?: string; onClose: () => void }) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const form = useForm({ name: "" });
	const [idempotencyKey] = useState(newKey);
	const send = () =>
		form.submit(async () => {
			const created = await api("POST /sequences", { body: { name: form.values.name }, idempotencyKey });
			void client.invalidateQueries(within("sequences"));
			navigate(to.sequence(created.id));
		});
	return (
		<Dialog
			drawer="wide"
			title={words.add}
			onClose={onClose}
			onSubmit={() => !disabledReason && void send()}
			submit={{ label: words.create, busy: form.busy, disabledReason }}
		>
			<FormProblems problems={form.problems} />
			<section className={own.blank} aria-label={words.blank}>
				<h3>{words.blank}</h3>
				<p>{words.blankText}</p>
				<TextField
					label={words.nameLabel}
					path="name"
					value={form.values.name}
					onChange={(name) => form.set({ name })}
					error={form.problems.byPath.name}
					autoFocus
				/>
			</section>
			<section className={own.begin} aria-label={words.begin}>
				<h3>{words.begin}</h3>
				<Starters disabledReason={disabledReason} />
			</section>
		</Dialog>
	);
}
