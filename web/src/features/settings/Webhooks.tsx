import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, newKey, request } from "../../api/client";
import type { WebhookRow } from "../../api/schema";
import { useParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { EditDrawer } from "../../ui/EditDrawer";
import { Checkbox, Radios, Switch, TextField } from "../../ui/Field";
import { useDraftForm } from "../../ui/draftForm";
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
	const disabledReason = useDisabledReason("GET /settings/webhooks");
	const addDisabledReason = useDisabledReason("POST /settings/webhooks");
	const [creating, setCreating] = useParam("new");
	const [created, setCreated] = useState<{ id: string; secret: string } | null>(null);
	const hooks = useQuery({ ...webhooksQuery(), enabled: !disabledReason });
	const button = (
		<Button kind="create" disabledReason={addDisabledReason} onClick={() => setCreating("1")}>
			{words.add}
		</Button>
	);
	return (
		<Page
			title={words.title}
			breadcrumbs={[{ name: words.settings, to: to.settings() }]}
			description={words.about}
			actions={hooks.data?.data.length !== 0 && button}
		>
			{disabledReason ? (
				<Callout>{disabledReason}</Callout>
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
					rowKey={(webhook) => webhook.id}
					columns={[
						{
							id: "url",
							name: words.url,
							cell: (webhook) => (
								<>
									<Link href={to.webhook(webhook.id)} className={css.url}>
										{webhook.url}
									</Link>
									{webhook.description && <div className={css.muted}>{webhook.description}</div>}
								</>
							),
						},
						{
							id: "status",
							beside: true,
							name: words.status,
							cell: (webhook) => <StateBadge kind="webhook" state={webhook.status} />,
						},
						{
							id: "events",
							name: words.events,
							cell: (webhook) =>
								webhook.event_types.includes("*")
									? eventNames["*"]
									: words.count({ count: webhook.event_types.length }),
						},
						{ id: "success", name: words.success, cell: (webhook) => <Time at={webhook.last_success_at} /> },
						{ id: "failure", name: words.failure, cell: (webhook) => <Time at={webhook.last_failure_at} /> },
					]}
				/>
			)}
			{creating && !created && (
				<EditWebhook onClose={() => setCreating("")} onCreated={(id, secret) => setCreated({ id, secret })} />
			)}
			{created && (
				<Secret title={words.secret} secret={created.secret} onClose={() => navigate(to.webhook(created.id))} />
			)}
		</Page>
	);
}

type Props = {
	webhook?: WebhookRow & { revision: string | null };
	onClose: () => void;
	onCreated?: (id: string, secret: string) => void;
	onDeleted?: () => void;
};

const valuesOf = (webhook?: WebhookRow) => ({
	url: webhook?.url ?? "https://",
	description: webhook?.description ?? "",
	event_types: (webhook?.event_types.filter((type) => type !== "*") ?? []) as EventType[],
	all: !webhook || webhook.event_types.includes("*"),
	active: webhook?.active ?? true,
});

/** EditWebhook is the drawer in which an endpoint is created, changed or deleted. */
export function EditWebhook({ webhook, onClose, onCreated, onDeleted }: Props) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason(webhook ? "PUT /settings/webhooks/{id}" : "POST /settings/webhooks");
	const [idempotencyKey] = useState(newKey);
	const form = useDraftForm(valuesOf(webhook), {
		kind: "webhook",
		id: webhook?.id,
		title: webhook?.url ?? words.add,
		canEdit: !disabledReason,
		read: async () => {
			const response = await request("GET /settings/webhooks/{id}", { path: { id: webhook?.id ?? "" } });
			return { values: valuesOf(response.data), revision: response.revision };
		},
		names: {
			url: words.url,
			description: words.description,
			event_types: words.events,
			all: words.all,
			active: words.active,
		},
	});
	const values = form.values;
	const problems = form.problems.byPath;
	const refresh = () =>
		Promise.all([
			client.invalidateQueries(within("webhooks")),
			webhook && client.invalidateQueries(within("webhook", webhook.id)),
		]);
	const send = () =>
		form.submit(async (values, revision) => {
			const body = {
				url: values.url.trim(),
				description: values.description || null,
				event_types: values.all ? ["*"] : values.event_types,
				active: values.active,
			};
			if (webhook) {
				await api("PUT /settings/webhooks/{id}", { path: { id: webhook.id }, body, revision });
				await refresh();
				onClose();
				return;
			}
			const created = await api("POST /settings/webhooks", { body, idempotencyKey });
			void refresh();
			onCreated?.(created.id, created.secret);
		});
	const pick = (events: EventType[], checked: boolean) =>
		form.set({
			event_types: checked
				? [...new Set([...values.event_types, ...events])]
				: values.event_types.filter((type) => !events.includes(type)),
		});
	return (
		<EditDrawer
			title={webhook ? words.edit : words.add}
			form={form}
			disabledReason={disabledReason}
			remove={
				webhook && {
					title: words.removeTitle({ url: webhook.url }),
					text: words.removeText,
					run: async () => {
						await api("DELETE /settings/webhooks/{id}", {
							path: { id: webhook.id },
							revision: webhook.revision ?? undefined,
						});
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
				value={values.url}
				onChange={(url) => form.set({ url })}
				error={problems.url}
				autoFocus
				autoComplete="off"
			/>
			<TextField
				label={words.description}
				optional
				path="description"
				value={values.description}
				onChange={(description) => form.set({ description })}
				error={problems.description}
			/>
			{webhook && (
				<Switch
					label={words.active}
					help={words.activeHelp}
					checked={values.active}
					onChange={(active) => form.set({ active })}
				/>
			)}
			<Radios
				label={words.events}
				value={values.all ? "all" : "some"}
				onChange={(value) => form.set({ all: value === "all" })}
				choices={[
					{ value: "all", label: words.all },
					{ value: "some", label: words.some },
				]}
			/>
			{!values.all && (
				<div className={css.groups} data-path="event_types">
					{problems.event_types && <p role="alert">{problems.event_types}</p>}
					{eventGroups().map((eventGroup) => (
						<fieldset key={eventGroup.name} className={css.group}>
							<legend>{eventGroup.name}</legend>
							{eventGroup.events.length > 1 && (
								<Checkbox
									label={eventNames["*"]}
									checked={eventGroup.events.every((event) => values.event_types.includes(event))}
									onChange={(checked) => pick(eventGroup.events, checked)}
								/>
							)}
							{eventGroup.events.map((event) => (
								<Checkbox
									key={event}
									label={eventNames[event]}
									checked={values.event_types.includes(event)}
									onChange={(checked) => pick([event], checked)}
								/>
							))}
						</fieldset>
					))}
				</div>
			)}
		</EditDrawer>
	);
}
