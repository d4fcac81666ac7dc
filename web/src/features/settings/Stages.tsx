import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ArrowDown, ArrowUp } from "lucide-react";
import { useState } from "react";
import { api, isConflict, newKey, tagOf } from "../../api/client";
import type { StageRow } from "../../api/schema";
import { collectionQuery, useCollection } from "../../base/collections";
import { useDisabledReason } from "../../base/session";
import { Badge } from "../../ui/Badge";
import { Button, IconButton } from "../../ui/Button";
import { useSorting } from "../../ui/drag";
import { Grip } from "../../ui/Grip";
import { Confirm, Dialog } from "../../ui/Dialog";
import { Select, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { RestoredCallout, findRow, useDraftForm } from "../../ui/draftForm";
import { List } from "../../ui/List";
import { Menu } from "../../ui/Menu";
import { Page } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import css from "./Settings.module.css";
import { within } from "../../base/queries";
import { to } from "../../base/paths";

const words = catalogue("settings.stages", {
	title: "Stages",
	settings: "Settings",
	about: "Where a contact stands. The category decides which score counts.",
	add: "New stage",
	actions: "Actions for {name}",
	edit: "Stage {name}",
	name: "Name",
	slug: "Key",
	category: "Category",
	categories: {
		prospect: "Prospect",
		customer: "Customer",
		churned: "Churned",
		disqualified: "Disqualified",
		partner: "Partner",
	},
	initial: "Default for new contacts",
	makeInitial: "Use for new contacts",
	rename: "Edit",
	order: "Order",
	up: "Move {name} up",
	down: "Move {name} down",
	save: "Save",
	cancel: "Cancel",
	remove: "Delete",
	removeTitle: "Delete stage {name}?",
	replacement: "Move its contacts to",
});

/** Stages lists the stages of contacts, in their order. */
export default function Stages() {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /settings/stages");
	const [editing, setEditing] = useState<StageRow | "new" | null>(null);
	const [removing, setRemoving] = useState("");
	const stages = useCollection("stages");
	const rows = stages.data?.data ?? [];
	const removed = rows.find((stage) => stage.id === removing);
	const order = useMutation({
		// The list is read first: this stage takes the place of another in the order that others have made meanwhile.
		mutationFn: async ({ id, to }: { id: string; to: string }) => {
			const list = await api("GET /settings/stages", {});
			const now = list.data.map((stage) => stage.id);
			if (!now.includes(id) || !now.includes(to)) return list;
			const ids = now.filter((other) => other !== id);
			ids.splice(now.indexOf(to), 0, id);
			return api("PUT /settings/stages/order", { body: { ids } });
		},
		onSuccess: (next) => client.setQueryData(collectionQuery("stages").queryKey, next),
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const initial = useMutation({
		mutationFn: (stage: StageRow) =>
			api("PUT /settings/stages/{id}", { path: { id: stage.id }, body: { is_default: true }, revision: tagOf(stage) }),
		onSettled: () => void client.invalidateQueries(within("stages")),
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const move = (index: number, offset: number) => {
		const [stage, other] = [rows[index], rows[index + offset]];
		if (stage && other) order.mutate({ id: stage.id, to: other.id });
	};
	const sorting = useSorting((from, to) => move(from, to - from));
	return (
		<Page
			title={words.title}
			breadcrumbs={[{ name: words.settings, to: to.settings() }]}
			description={words.about}
			actions={
				<Button kind="create" disabledReason={disabledReason} onClick={() => setEditing("new")}>
					{words.add}
				</Button>
			}
		>
			{stages.isPending ? (
				<Skeleton rows={5} />
			) : stages.isError ? (
				<Failure error={stages.error} retry={() => void stages.refetch()} />
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(stage) => stage.id}
					columns={[
						{
							id: "name",
							name: words.name,
							cell: (stage) => (
								<div className={css.stage} {...sorting.item(rows.indexOf(stage))}>
									{!disabledReason && <Grip {...sorting.handle(rows.indexOf(stage))} />}
									<span aria-hidden className={css.dot} style={{ background: stage.color ?? "var(--neutral-tint)" }} />
									<b>{stage.name}</b> {stage.is_default && <Badge tone="progress">{words.initial}</Badge>}
								</div>
							),
						},
						{ id: "slug", name: words.slug, cell: (stage) => <code>{stage.slug}</code> },
						{ id: "category", name: words.category, cell: (stage) => words.categories[stage.category] },
						{
							id: "order",
							name: words.order,
							cell: (stage) => {
								const i = rows.indexOf(stage);
								return (
									// biome-ignore lint/a11y/noStaticElementInteractions: its buttons are pressed; the keys go with them
									<span
										className={css.order}
										onKeyDown={(event) => {
											const offset = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
											if (!event.altKey || disabledReason || offset === 0 || !rows[i + offset]) return;
											event.preventDefault();
											move(i, offset);
										}}
									>
										<IconButton
											small
											label={words.up({ name: stage.name })}
											icon={<ArrowUp aria-hidden />}
											disabledReason={disabledReason}
											aria-disabled={i === 0 || undefined}
											onClick={() => i > 0 && move(i, -1)}
										/>
										<IconButton
											small
											label={words.down({ name: stage.name })}
											icon={<ArrowDown aria-hidden />}
											disabledReason={disabledReason}
											aria-disabled={i === rows.length - 1 || undefined}
											onClick={() => i < rows.length - 1 && move(i, 1)}
										/>
									</span>
								);
							},
						},
						{
							id: "actions",
							name: "",
							end: true,
							cell: (stage) => (
								<Menu
									small
									label={words.actions({ name: stage.name })}
									actions={[
										{ id: "edit", label: words.rename, disabledReason, run: () => setEditing(stage) },
										!stage.is_default && {
											id: "initial",
											label: words.makeInitial,
											disabledReason,
											run: () => initial.mutate(stage),
										},
										{
											id: "remove",
											label: words.remove,
											danger: true,
											disabledReason,
											run: () => setRemoving(stage.id),
										},
									]}
								/>
							),
						},
					]}
				/>
			)}
			{editing && <Editor stage={editing === "new" ? undefined : editing} onClose={() => setEditing(null)} />}
			{removed && (
				<Remove
					stage={removed}
					others={rows.filter((stage) => stage.id !== removed.id)}
					onClose={() => setRemoving("")}
				/>
			)}
		</Page>
	);
}

function Editor({ stage, onClose }: { stage?: StageRow; onClose: () => void }) {
	const client = useQueryClient();
	const [idempotencyKey] = useState(newKey);
	const valuesOf = (stage?: StageRow) => ({
		name: stage?.name ?? "",
		category: (stage?.category ?? "prospect") as string,
	});
	const form = useDraftForm(valuesOf(stage), {
		kind: "stage",
		id: stage?.id,
		title: stage?.name ?? words.add,
		canEdit: true,
		read: async () => {
			const row = findRow(await api("GET /settings/stages", {}), stage?.id);
			return { values: valuesOf(row), revision: tagOf(row) };
		},
		names: { name: words.name, category: words.category },
	});
	const send = () =>
		form.submit(async (values, revision) => {
			const body = { name: values.name, category: values.category as StageRow["category"] };
			if (stage) await api("PUT /settings/stages/{id}", { path: { id: stage.id }, body, revision });
			else await api("POST /settings/stages", { body, idempotencyKey });
			await client.invalidateQueries(within("stages"));
			onClose();
		});
	return (
		<Dialog
			title={stage ? words.edit({ name: stage.name }) : words.add}
			onClose={onClose}
			onSubmit={() => void send()}
			footer={
				<>
					<Button
						onClick={() => {
							form.discard();
							onClose();
						}}
					>
						{words.cancel}
					</Button>
					<Button type="submit" variant="primary" busy={form.busy}>
						{words.save}
					</Button>
				</>
			}
		>
			<RestoredCallout form={form} />
			<FormProblems problems={form.problems} />
			<TextField
				label={words.name}
				path="name"
				value={form.values.name}
				onChange={(name) => form.set({ name })}
				error={form.problems.byPath.name}
				autoFocus
			/>
			<Select
				label={words.category}
				value={form.values.category}
				onChange={(category) => form.set({ category })}
				choices={Object.entries(words.categories).map(([value, label]) => ({ value, label }))}
				error={form.problems.byPath.category}
			/>
		</Dialog>
	);
}

function Remove({ stage, others, onClose }: { stage: StageRow; others: StageRow[]; onClose: () => void }) {
	const client = useQueryClient();
	const [replacement, setReplacement] = useState(others[0]?.id ?? "");
	const remove = useMutation({
		mutationFn: () =>
			api("DELETE /settings/stages/{id}", {
				path: { id: stage.id },
				query: { replacement_stage_id: replacement },
				revision: tagOf(stage),
			}),
		onError: (error) => isConflict(error) && void client.invalidateQueries(within("stages")),
		onSuccess: () => {
			void client.invalidateQueries(within("stages"));
			onClose();
		},
	});
	return (
		<Confirm
			title={words.removeTitle({ name: stage.name })}
			action={words.remove}
			busy={remove.isPending}
			error={remove.error && <p role="alert">{explain(remove.error)}</p>}
			onConfirm={() => remove.mutate()}
			onClose={onClose}
		>
			<Select
				label={words.replacement}
				value={replacement}
				onChange={setReplacement}
				choices={others.map((stage) => ({ value: stage.id, label: stage.name }))}
			/>
		</Confirm>
	);
}
