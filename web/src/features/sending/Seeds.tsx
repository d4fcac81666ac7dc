import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, newKey, request } from "../../api/client";
import type { SeedListRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useParam } from "../../base/params";
import { useWhyNot } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { EditDrawer } from "../../ui/EditDrawer";
import { Checkbox, Columns, TextField } from "../../ui/Field";
import { useKeptForm } from "../../ui/keptForm";
import { List } from "../../ui/List";
import { NotSet, Page } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { and, full } from "../../base/words/formats";
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
	const why = useWhyNot("POST /seed-lists");
	const [creating, setCreating] = useParam("new");
	const lists = useCollection("seed_lists");
	const button = (
		<Button kind="create" why={why} onClick={() => setCreating("1")}>
			{words.add}
		</Button>
	);
	return (
		<Page
			title={words.title}
			trail={[{ name: words.sending, to: to.sending() }]}
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
					rowKey={(l) => l.id}
					columns={[
						{
							id: "name",
							name: words.name,
							cell: (l) => (
								<>
									<Link href={to.seedList(l.id)}>{l.name}</Link>
									{l.sending_identities.length > 0 && (
										<div className={css.muted}>
											{words.for({ senders: and(l.sending_identities.map((s) => s.email_address)) })}
										</div>
									)}
								</>
							),
						},
						{
							id: "freshness",
							beside: true,
							name: words.freshness,
							cell: (l) => <StateBadge kind="freshness" state={l.freshness} />,
						},
						{ id: "addresses", name: words.addresses, end: true, cell: (l) => full(l.address_counts.active) },
						{ id: "updated", name: words.updated, cell: (l) => <Time at={l.refreshed_at} /> },
						{ id: "due", name: words.due, cell: (l) => (l.rotates_at ? <Time at={l.rotates_at} /> : <NotSet />) },
					]}
				/>
			)}
			{creating && <EditSeedList onClose={() => setCreating("")} onDone={(l) => l && navigate(to.seedList(l.id))} />}
		</Page>
	);
}

const valuesOf = (l?: SeedListRow) => ({
	name: l?.name ?? "",
	vendor_label: l?.vendor_label ?? "",
	vendor_dashboard_url: l?.vendor_dashboard_url ?? "",
	include_by_default: l?.include_by_default ?? true,
	rotation_days: l ? String(l.rotation_days ?? "") : "30",
	rotation_grace_days: String(l?.rotation_grace_days ?? 5),
	sending_identity_ids: l?.sending_identities.map((s) => s.id) ?? [],
});

/** EditSeedList is the drawer in which a seed list is created, changed or deleted. */
export function EditSeedList({
	list: l,
	onClose,
	onDone,
}: {
	list?: SeedListRow & { revision: string | null };
	onClose: () => void;
	onDone: (made: SeedListRow | null) => void;
}) {
	const client = useQueryClient();
	const why = useWhyNot(l ? "PUT /seed-lists/{id}" : "POST /seed-lists");
	const [idempotencyKey] = useState(newKey);
	const senders = useCollection("sending_identities");
	const form = useKeptForm(valuesOf(l), {
		kind: "seed_list",
		id: l?.id,
		title: l?.name ?? words.add,
		may: !why,
		read: async () => {
			const got = await request("GET /seed-lists/{id}", { path: { id: l?.id ?? "" } });
			return { values: valuesOf(got.data), revision: got.revision };
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
	const v = form.values;
	const p = form.problems.byPath;
	const refresh = () =>
		Promise.all([
			client.invalidateQueries(within("seed_lists")),
			l && client.invalidateQueries(within("seed_list", l.id)),
		]);
	const send = () =>
		form.submit(async (v, revision) => {
			const body = {
				...v,
				vendor_label: v.vendor_label || null,
				vendor_dashboard_url: v.vendor_dashboard_url || null,
				rotation_days: v.rotation_days ? Number(v.rotation_days) : null,
				rotation_grace_days: Number(v.rotation_grace_days) || 0,
			};
			const made = l
				? await api("PUT /seed-lists/{id}", { path: { id: l.id }, body, revision })
				: await api("POST /seed-lists", { body, idempotencyKey });
			await refresh();
			onDone(made);
		});
	const all = l ? Object.values(l.address_counts).reduce((a, b) => a + b, 0) : 0;
	return (
		<EditDrawer
			title={l ? words.edit({ name: l.name }) : words.add}
			form={form}
			why={why}
			remove={
				l && {
					title: words.removeTitle({ name: l.name }),
					text: words.removeText({ count: all }),
					run: async () => {
						await api("DELETE /seed-lists/{id}", { path: { id: l.id }, revision: l.revision ?? undefined });
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
				value={v.name}
				onChange={(name) => form.set({ name })}
				error={p.name}
				autoFocus
			/>
			<TextField
				label={words.vendor}
				optional
				path="vendor_label"
				value={v.vendor_label}
				onChange={(vendor_label) => form.set({ vendor_label })}
				error={p.vendor_label}
			/>
			<TextField
				label={words.dashboard}
				optional
				type="url"
				help={words.dashboardHelp}
				path="vendor_dashboard_url"
				value={v.vendor_dashboard_url}
				onChange={(vendor_dashboard_url) => form.set({ vendor_dashboard_url })}
				error={p.vendor_dashboard_url}
			/>
			<Columns>
				<TextField
					label={words.rotation}
					optional
					inputMode="numeric"
					after={words.days}
					help={words.rotationHelp}
					path="rotation_days"
					value={v.rotation_days}
					onChange={(rotation_days) => form.set({ rotation_days })}
					error={p.rotation_days}
				/>
				<TextField
					label={words.grace}
					inputMode="numeric"
					after={words.days}
					help={words.graceHelp}
					path="rotation_grace_days"
					value={v.rotation_grace_days}
					onChange={(rotation_grace_days) => form.set({ rotation_grace_days })}
					error={p.rotation_grace_days}
				/>
			</Columns>
			<fieldset className={css.types}>
				<legend>{words.senders}</legend>
				{senders.data?.data.map((s) => (
					<Checkbox
						key={s.id}
						label={s.email_address}
						checked={v.sending_identity_ids.includes(s.id)}
						onChange={(on) =>
							form.set({
								sending_identity_ids: on
									? [...v.sending_identity_ids, s.id]
									: v.sending_identity_ids.filter((x) => x !== s.id),
							})
						}
					/>
				))}
				{p.sending_identity_ids && <p role="alert">{p.sending_identity_ids}</p>}
			</fieldset>
			<Checkbox
				label={words.usual}
				checked={v.include_by_default}
				onChange={(include_by_default) => form.set({ include_by_default })}
			/>
		</EditDrawer>
	);
}
