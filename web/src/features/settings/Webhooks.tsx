import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, newKey, request } from "../../api/client";
import type { WebhookRow } from "../../api/schema";
import { useParam } from "../../base/params";
import { useWhyNot } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { EditDrawer } from "../../ui/EditDrawer";
import { Checkbox, Radios, Switch, TextField } from "../../ui/Field";
import { useKeptForm } from "../../ui/keptForm";
import { List } from "../../ui/List";
import { Callout, Page } from "../../ui/Page";
import { Secret } from "../../ui/Secret";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { eventGroups, eventNames, type EventType } from "../../base/words/events";
import css from "./Webhooks.module.css";
import { within } from "../../base/queries";
import { webhooksQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("settings.webhooks", {
	title: "Webhooks",
	settings: "Settings",
	about: "Notify your programs of what happens, by requests to your URLs.",
	add: "New webhook",
	edit: "Edit webhook",
	url: "URL",
	urlHelp: "An https URL that answers with a status from 200 to 299 within 15 seconds.",
	description: "Description",
	events: "Events",
	all: "All events, including new ones",
	some: "Selected events",
	count: "{count, plural, one {# event} other {# events}}",
	active: "Send events",
	activeHelp: "Events that happen while it is off are not kept for it.",
	status: "Status",
	success: "Last success",
	failure: "Last failure",
	secret: "Webhook secret",
	empty: "No webhooks yet",
	emptyText: "For example, your shop marks an address as invalid when an email bounces.",
	removeTitle: "Delete the webhook to {url}?",
	removeText: "Waiting deliveries are not sent any more, and its delivery history is deleted.",
});

/** A request that an endpoint gets, in short. */
const example = `POST https://shop.example.com/mail
{"type": "email.bounced", "data": {"email": "ada@example.com"}}`;

/** Webhooks lists the endpoints of a workspace. */
export default function Webhooks() {
	const [, navigate] = useLocation();
	const why = useWhyNot("GET /settings/webhooks");
	const whyAdd = useWhyNot("POST /settings/webhooks");
	const [creating, setCreating] = useParam("new");
	const [made, setMade] = useState<{ id: string; secret: string } | null>(null);
	const hooks = useQuery({ ...webhooksQuery(), enabled: !why });
	const button = (
		<Button kind="create" why={whyAdd} onClick={() => setCreating("1")}>
			{words.add}
		</Button>
	);
	return (
		<Page
			title={words.title}
			trail={[{ name: words.settings, to: to.settings() }]}
			description={words.about}
			actions={hooks.data?.data.length !== 0 && button}
		>
			{why ? (
				<Callout>{why}</Callout>
			) : hooks.isPending ? (
				<Skeleton rows={4} />
			) : hooks.isError ? (
				<Failure error={hooks.error} retry={() => void hooks.refetch()} />
			) : hooks.data.data.length === 0 ? (
				<Empty title={words.empty} action={button} example={<pre>{example}</pre>}>
					{words.emptyText}
				</Empty>
			) : (
				<List
					label={words.title}
					rows={hooks.data.data}
					rowKey={(w) => w.id}
					columns={[
						{
							id: "url",
							name: words.url,
							cell: (w) => (
								<>
									<Link href={to.webhook(w.id)} className={css.url}>
										{w.url}
									</Link>
									{w.description && <div className={css.muted}>{w.description}</div>}
								</>
							),
						},
						{
							id: "status",
							beside: true,
							name: words.status,
							cell: (w) => <StateBadge kind="webhook" state={w.status} />,
						},
						{
							id: "events",
							name: words.events,
							cell: (w) =>
								w.event_types.includes("*") ? eventNames["*"] : words.count({ count: w.event_types.length }),
						},
						{ id: "success", name: words.success, cell: (w) => <Time at={w.last_success_at} /> },
						{ id: "failure", name: words.failure, cell: (w) => <Time at={w.last_failure_at} /> },
					]}
				/>
			)}
			{creating && !made && (
				<EditWebhook onClose={() => setCreating("")} onMade={(id, secret) => setMade({ id, secret })} />
			)}
			{made && <Secret title={words.secret} secret={made.secret} onClose={() => navigate(to.webhook(made.id))} />}
		</Page>
	);
}

type Props = {
	webhook?: WebhookRow & { revision: string | null };
	onClose: () => void;
	onMade?: (id: string, secret: string) => void;
	onDeleted?: () => void;
};

const valuesOf = (w?: WebhookRow) => ({
	url: w?.url ?? "https://",
	description: w?.description ?? "",
	event_types: (w?.event_types.filter((t) => t !== "*") ?? []) as EventType[],
	all: !w || w.event_types.includes("*"),
	active: w?.active ?? true,
});

/** EditWebhook is the drawer in which an endpoint is created, changed or deleted. */
export function EditWebhook({ webhook: w, onClose, onMade, onDeleted }: Props) {
	const client = useQueryClient();
	const why = useWhyNot(w ? "PUT /settings/webhooks/{id}" : "POST /settings/webhooks");
	const [idempotencyKey] = useState(newKey);
	const form = useKeptForm(valuesOf(w), {
		kind: "webhook",
		id: w?.id,
		title: w?.url ?? words.add,
		may: !why,
		read: async () => {
			const got = await request("GET /settings/webhooks/{id}", { path: { id: w?.id ?? "" } });
			return { values: valuesOf(got.data), revision: got.revision };
		},
		names: {
			url: words.url,
			description: words.description,
			event_types: words.events,
			all: words.all,
			active: words.active,
		},
	});
	const v = form.values;
	const p = form.problems.byPath;
	const refresh = () =>
		Promise.all([client.invalidateQueries(within("webhooks")), w && client.invalidateQueries(within("webhook", w.id))]);
	const send = () =>
		form.submit(async (v, revision) => {
			const body = {
				url: v.url.trim(),
				description: v.description || null,
				event_types: v.all ? ["*"] : v.event_types,
				active: v.active,
			};
			if (w) {
				await api("PUT /settings/webhooks/{id}", { path: { id: w.id }, body, revision });
				await refresh();
				onClose();
				return;
			}
			const made = await api("POST /settings/webhooks", { body, idempotencyKey });
			void refresh();
			onMade?.(made.id, made.secret);
		});
	const pick = (events: EventType[], on: boolean) =>
		form.set({
			event_types: on ? [...new Set([...v.event_types, ...events])] : v.event_types.filter((t) => !events.includes(t)),
		});
	return (
		<EditDrawer
			title={w ? words.edit : words.add}
			form={form}
			why={why}
			remove={
				w && {
					title: words.removeTitle({ url: w.url }),
					text: words.removeText,
					run: async () => {
						await api("DELETE /settings/webhooks/{id}", { path: { id: w.id }, revision: w.revision ?? undefined });
						void client.invalidateQueries(within("webhooks"));
						onDeleted?.();
					},
					reload: refresh,
				}
			}
			onSave={() => void send()}
			onClose={onClose}
		>
			<TextField
				label={words.url}
				type="url"
				help={words.urlHelp}
				path="url"
				value={v.url}
				onChange={(url) => form.set({ url })}
				error={p.url}
				autoFocus
				autoComplete="off"
			/>
			<TextField
				label={words.description}
				optional
				path="description"
				value={v.description}
				onChange={(description) => form.set({ description })}
				error={p.description}
			/>
			{w && (
				<Switch
					label={words.active}
					help={words.activeHelp}
					checked={v.active}
					onChange={(active) => form.set({ active })}
				/>
			)}
			<Radios
				label={words.events}
				value={v.all ? "all" : "some"}
				onChange={(x) => form.set({ all: x === "all" })}
				choices={[
					{ value: "all", label: words.all },
					{ value: "some", label: words.some },
				]}
			/>
			{!v.all && (
				<div className={css.groups} data-path="event_types">
					{p.event_types && <p role="alert">{p.event_types}</p>}
					{eventGroups().map((g) => (
						<fieldset key={g.name} className={css.group}>
							<legend>{g.name}</legend>
							{g.events.length > 1 && (
								<Checkbox
									label={eventNames["*"]}
									checked={g.events.every((t) => v.event_types.includes(t))}
									onChange={(on) => pick(g.events, on)}
								/>
							)}
							{g.events.map((t) => (
								<Checkbox
									key={t}
									label={eventNames[t]}
									checked={v.event_types.includes(t)}
									onChange={(on) => pick([t], on)}
								/>
							))}
						</fieldset>
					))}
				</div>
			)}
		</EditDrawer>
	);
}
