import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, newKey, request } from "../../api/client";
import type { SeedListRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { EditDrawer } from "../../ui/EditDrawer";
import { Checkbox, Columns, TextField } from "../../ui/Field";
import { useDraftForm } from "../../ui/draftForm";
import { List } from "../../ui/List";
import { NotSet, Page } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { and, exactNumber } from "../../base/words/formats";
import css from "./Senders.module.css";
import { within } from "../../base/queries";
import { to } from "../../base/paths";

const words = catalogue("sending.seeds", {
	title: "Seed lists",
	sending: "Sending setup",
	about:
		"Mailboxes that a vendor monitors to see whether your email reaches the inbox or the spam folder. They get copies of broadcasts that are not counted in reports.",
	add: "New seed list",
	edit: "Edit {name}",
	name: "Name",
	vendor: "Vendor",
	dashboard: "Dashboard",
	dashboardHelp: "A URL.",
	usual: "On by default for broadcasts of its senders",
	rotation: "The vendor replaces the addresses every",
	days: "days",
	rotationHelp: "Empty: never. After that time, the list is due for an update.",
	grace: "Keep sending copies for another",
	graceHelp: "After that, the list gets no copies until it is updated.",
	senders: "Senders",
	freshness: "State",
	addresses: "Active addresses",
	updated: "Updated",
	due: "Due",
	empty: "No seed lists yet",
	emptyText: "Services such as GlockApps or Validity give you a list of addresses and show where your email arrived.",
	removeTitle: "Delete {name}?",
	removeText:
		"{count, plural, one {Its address and its history are deleted with it.} other {Its # addresses and its history are deleted with it.}}",
	for: "for {senders}",
});

/** Seeds lists the seed lists. */
export default function Seeds() {
	const [, navigate] = useLocation();
	const disabledReason = useDisabledReason("POST /seed-lists");
	const [creating, setCreating] = useParam("new");
	const lists = useCollection("seed_lists");
	const button = (
		<Button kind="create" disabledReason={disabledReason} onClick={() => setCreating("1")}>
			{words.add}
		</Button>
	);
	return (
		<Page
			title={words.title}
			breadcrumbs={[{ name: words.sending, to: to.sending() }]}
			description={words.about}
			actions={lists.data?.data.length !== 0 && button}
		>
			{lists.isPending ? (
				<Skeleton rows={4} />
			) : lists.isError ? (
				<Failure error={lists.error} retry={() => void lists.refetch()} />
			) : lists.data.data.length === 0 ? (
				<Empty title={words.empty} action={button}>
					{words.emptyText}
				</Empty>
			) : (
				<List
					label={words.title}
					rows={lists.data.data}
					rowKey={(seedList) => seedList.id}
					columns={[
						{
							id: "name",
							name: words.name,
							cell: (seedList) => (
								<>
									<Link href={to.seedList(seedList.id)}>{seedList.name}</Link>
									{seedList.sending_identities.length > 0 && (
										<div className={css.muted}>
											{words.for({
												senders: and(seedList.sending_identities.map((identity) => identity.email_address)),
											})}
										</div>
									)}
								</>
							),
						},
						{
							id: "freshness",
							beside: true,
							name: words.freshness,
							cell: (seedList) => <StateBadge kind="freshness" state={seedList.freshness} />,
						},
						{
							id: "addresses",
							name: words.addresses,
							end: true,
							cell: (seedList) => exactNumber(seedList.address_counts.active),
						},
						{ id: "updated", name: words.updated, cell: (seedList) => <Time at={seedList.refreshed_at} /> },
						{
							id: "due",
							name: words.due,
							cell: (seedList) => (seedList.rotates_at ? <Time at={seedList.rotates_at} /> : <NotSet />),
						},
					]}
				/>
			)}
			{creating && (
				<EditSeedList
					onClose={() => setCreating("")}
					onDone={(seedList) => seedList && navigate(to.seedList(seedList.id))}
				/>
			)}
		</Page>
	);
}

const valuesOf = (seedList?: SeedListRow) => ({
	name: seedList?.name ?? "",
	vendor_label: seedList?.vendor_label ?? "",
	vendor_dashboard_url: seedList?.vendor_dashboard_url ?? "",
	include_by_default: seedList?.include_by_default ?? true,
	rotation_days: seedList ? String(seedList.rotation_days ?? "") : "30",
	rotation_grace_days: String(seedList?.rotation_grace_days ?? 5),
	sending_identity_ids: seedList?.sending_identities.map((identity) => identity.id) ?? [],
});

/** EditSeedList is the drawer in which a seed list is created, changed or deleted. */
export function EditSeedList({
	list,
	onClose,
	onDone,
}: {
	list?: SeedListRow & { revision: string | null };
	onClose: () => void;
	onDone: (created: SeedListRow | null) => void;
}) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason(list ? "PUT /seed-lists/{id}" : "POST /seed-lists");
	const [idempotencyKey] = useState(newKey);
	const senders = useCollection("sending_identities");
	const form = useDraftForm(valuesOf(list), {
		kind: "seed_list",
		id: list?.id,
		title: list?.name ?? words.add,
		canEdit: !disabledReason,
		read: async () => {
			const response = await request("GET /seed-lists/{id}", { path: { id: list?.id ?? "" } });
			return { values: valuesOf(response.data), revision: response.revision };
		},
		names: {
			name: words.name,
			vendor_label: words.vendor,
			vendor_dashboard_url: words.dashboard,
			rotation_days: words.rotation,
			rotation_grace_days: words.grace,
			sending_identity_ids: words.senders,
		},
	});
	const values = form.values;
	const problems = form.problems.byPath;
	const refresh = () =>
		Promise.all([
			client.invalidateQueries(within("seed_lists")),
			list && client.invalidateQueries(within("seed_list", list.id)),
		]);
	const send = () =>
		form.submit(async (values, revision) => {
			const body = {
				...values,
				vendor_label: values.vendor_label || null,
				vendor_dashboard_url: values.vendor_dashboard_url || null,
				rotation_days: values.rotation_days ? Number(values.rotation_days) : null,
				rotation_grace_days: Number(values.rotation_grace_days) || 0,
			};
			const created = list
				? await api("PUT /seed-lists/{id}", { path: { id: list.id }, body, revision })
				: await api("POST /seed-lists", { body, idempotencyKey });
			await refresh();
			onDone(created);
		});
	const all = list ? Object.values(list.address_counts).reduce((sum, count) => sum + count, 0) : 0;
	return (
		<EditDrawer
			title={list ? words.edit({ name: list.name }) : words.add}
			form={form}
			disabledReason={disabledReason}
			remove={
				list && {
					title: words.removeTitle({ name: list.name }),
					text: words.removeText({ count: all }),
					run: async () => {
						await api("DELETE /seed-lists/{id}", { path: { id: list.id }, revision: list.revision ?? undefined });
						void client.invalidateQueries(within("seed_lists"));
						onDone(null);
					},
					reload: refresh,
				}
			}
			onSave={() => void send()}
			onClose={onClose}
		>
			<TextField
				label={words.name}
				path="name"
				value={values.name}
				onChange={(name) => form.set({ name })}
				error={problems.name}
				autoFocus
			/>
			<TextField
				label={words.vendor}
				optional
				path="vendor_label"
				value={values.vendor_label}
				onChange={(vendor_label) => form.set({ vendor_label })}
				error={problems.vendor_label}
			/>
			<TextField
				label={words.dashboard}
				optional
				type="url"
				help={words.dashboardHelp}
				path="vendor_dashboard_url"
				value={values.vendor_dashboard_url}
				onChange={(vendor_dashboard_url) => form.set({ vendor_dashboard_url })}
				error={problems.vendor_dashboard_url}
			/>
			<Columns>
				<TextField
					label={words.rotation}
					optional
					inputMode="numeric"
					after={words.days}
					help={words.rotationHelp}
					path="rotation_days"
					value={values.rotation_days}
					onChange={(rotation_days) => form.set({ rotation_days })}
					error={problems.rotation_days}
				/>
				<TextField
					label={words.grace}
					inputMode="numeric"
					after={words.days}
					help={words.graceHelp}
					path="rotation_grace_days"
					value={values.rotation_grace_days}
					onChange={(rotation_grace_days) => form.set({ rotation_grace_days })}
					error={problems.rotation_grace_days}
				/>
			</Columns>
			<fieldset className={css.types}>
				<legend>{words.senders}</legend>
				{senders.data?.data.map((sender) => (
					<Checkbox
						key={sender.id}
						label={sender.email_address}
						checked={values.sending_identity_ids.includes(sender.id)}
						onChange={(checked) =>
							form.set({
								sending_identity_ids: checked
									? [...values.sending_identity_ids, sender.id]
									: values.sending_identity_ids.filter((id) => id !== sender.id),
							})
						}
					/>
				))}
				{problems.sending_identity_ids && <p role="alert">{problems.sending_identity_ids}</p>}
			</fieldset>
			<Checkbox
				label={words.usual}
				checked={values.include_by_default}
				onChange={(include_by_default) => form.set({ include_by_default })}
			/>
		</EditDrawer>
	);
}
