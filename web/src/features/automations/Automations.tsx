import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api } from "../../api/client";
import type { Automation } from "../../api/schema";
import { useParam, useTextParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import own from "../sequences/Sequences.module.css";
import { type Names, titleOf, triggerWords } from "../sequences/steps";
import { useNames } from "../sequences/useNames";
import { StateBadge } from "../../ui/Badge";
import { Button, LinkButton } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { Select } from "../../ui/Field";
import { List } from "../../ui/List";
import { Menu } from "../../ui/Menu";
import { Page } from "../../ui/Page";
import { Empty, Failure, NoMatch, Skeleton, searched } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toast";
import { Tools } from "../../ui/Tools";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import { explain } from "../../base/words/errors";
import { stateOf } from "../../base/words/status";
import { actionStep } from "./actions";
import { within } from "../../base/queries";
import { automationsQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("automations.automations", {
	title: "Automations",
	about: "One-step rules: when something happens to a contact, an action runs immediately.",
	add: "New automation",
	search: "Search automations",
	status: "State",
	all: "Not archived",
	every: "All",
	name: "Name",
	does: "What it does",
	runs: "Runs",
	last: "Last run",
	none: "No automation matches",
	empty: "No automations yet",
	emptyText: "For example: when somebody orders for more than 100, add the tag “vip” and notify the sales team.",
	actions: "Actions of {name}",
	pause: "Pause",
	activate: "Activate",
	archive: "Archive",
	delete: "Delete",
	deleteTitle: "Delete {name}?",
	deleteText: "Its runs are deleted with it ({runs, number} so far). What they did stays.",
	archived: "{name} archived",
	more: "Show more",
});

/** actionSummary returns a short description of the actions of an automation. */
export const actionSummary = (automation: Pick<Automation, "actions">, names: Names) =>
	automation.actions.map((action) => titleOf(actionStep(action), names)).join(" · ");

/** Automations lists the automations. */
export default function Automations() {
	const names = useNames();
	const disabledReason = useDisabledReason("POST /automations");
	const [search, setSearch] = useTextParam("q");
	const [status, setStatus] = useParam("status");
	const statuses = status === "all" ? "" : status || "active,paused";
	const list = useInfiniteQuery(automationsQuery(statuses, search));
	const rows = list.data?.pages.flatMap((page) => page.data) ?? [];
	const add = (
		<LinkButton kind="create" to={to.automation("new")} disabledReason={disabledReason}>
			{words.add}
		</LinkButton>
	);
	const none = list.isSuccess && rows.length === 0 && !search && !status;
	const choices = [
		{ value: "", label: words.all },
		...["active", "paused", "archived"].map((status) => ({ value: status, label: stateOf("automation", status).word })),
		{ value: "all", label: words.every },
	];
	return (
		<Page title={words.title} description={words.about} actions={!none && add}>
			{!none && (
				<Tools label={words.search} value={search} onChange={setSearch}>
					<Select label={words.status} hideLabel value={status} onChange={setStatus} choices={choices} />
				</Tools>
			)}
			{list.isPending ? (
				<Skeleton rows={6} />
			) : list.isError ? (
				<Failure error={list.error} retry={() => void list.refetch()} />
			) : rows.length === 0 ? (
				search || status ? (
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
					<Empty title={words.empty} action={add}>
						{words.emptyText}
					</Empty>
				)
			) : (
				<>
					<List
						label={words.title}
						rows={rows}
						rowKey={(automation) => automation.id}
						columns={[
							{
								id: "name",
								name: words.name,
								cell: (automation) => (
									<span className={own.named}>
										<Link href={to.automation(automation.id)}>{automation.name}</Link>
										<small>{triggerWords(automation.trigger_type, automation.trigger_config, names)}</small>
									</span>
								),
							},
							{ id: "does", name: words.does, cell: (automation) => actionSummary(automation, names) },
							{
								id: "status",
								beside: true,
								name: words.status,
								cell: (automation) => <StateBadge kind="automation" state={automation.status} />,
							},
							{
								id: "runs",
								name: words.runs,
								description: term("runs").definition,
								end: true,
								cell: (automation) => (
									<Link href={to.automation(automation.id, { tab: "runs" })}>{exactNumber(automation.run_count)}</Link>
								),
							},
							{ id: "last", name: words.last, cell: (automation) => <Time at={automation.last_run_at} /> },
							{ id: "actions", name: "", end: true, cell: (automation) => <RowMenu automation={automation} /> },
						]}
					/>
					{list.hasNextPage && (
						<div>
							<Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
								{words.more}
							</Button>
						</div>
					)}
				</>
			)}
		</Page>
	);
}

function RowMenu({ automation }: { automation: Automation }) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("PUT /automations/{id}");
	const [deleting, setDeleting] = useState(false);
	const refresh = () => void client.invalidateQueries(within("automations"));
	const update = useMutation({
		mutationFn: (status: string) => api("PUT /automations/{id}", { path: { id: automation.id }, body: { status } }),
		onSuccess: (_, status) => {
			if (status === "archived")
				toast(words.archived({ name: automation.name }), { undo: () => update.mutate(automation.status) });
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
		onSettled: refresh,
	});
	const remove = useMutation({
		mutationFn: () => api("DELETE /automations/{id}", { path: { id: automation.id } }),
		onSuccess: () => setDeleting(false),
		onSettled: refresh,
	});
	return (
		<>
			<Menu
				small
				label={words.actions({ name: automation.name })}
				actions={[
					automation.status === "active" && {
						id: "pause",
						label: words.pause,
						disabledReason,
						run: () => update.mutate("paused"),
					},
					automation.status !== "active" && {
						id: "activate",
						label: words.activate,
						disabledReason,
						run: () => update.mutate("active"),
					},
					automation.status !== "archived" && {
						id: "archive",
						label: words.archive,
						disabledReason,
						run: () => update.mutate("archived"),
					},
					{ id: "delete", label: words.delete, danger: true, disabledReason, run: () => setDeleting(true) },
				]}
			/>
			{deleting && (
				<Confirm
					title={words.deleteTitle({ name: automation.name })}
					action={words.delete}
					busy={remove.isPending}
					error={remove.error && <p role="alert">{explain(remove.error)}</p>}
					onConfirm={() => remove.mutate()}
					onClose={() => setDeleting(false)}
				>
					<p>{words.deleteText({ runs: automation.run_count })}</p>
				</Confirm>
			)}
		</>
	);
}
