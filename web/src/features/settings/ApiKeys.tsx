import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, newKey } from "../../api/client";
import type { APIKey } from "../../api/schema";
import { useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Confirm, Dialog } from "../../ui/Dialog";
import { Checkbox, Select, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { List } from "../../ui/List";
import { Menu } from "../../ui/Menu";
import { NotSet, Callout, Page } from "../../ui/Page";
import { Secret } from "../../ui/Secret";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import css from "./Settings.module.css";
import { within } from "../../base/queries";
import { apiKeysQuery, scopesQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("settings.apiKeys", {
	title: "API keys",
	settings: "Settings",
	about: "Programs use this workspace with an API key, limited to its scopes.",
	add: "New API key",
	actions: "Actions for {name}",
	name: "Name",
	nameHelp: "What uses it, such as “web shop”.",
	prefix: "Starts with",
	scopes: "Scopes",
	count: "{count, plural, one {# scope} other {# scopes}}",
	implies: "includes {others}",
	preset: "Preset",
	custom: "Custom",
	all: "Everything",
	read: "Read everything",
	none: "Nothing",
	status: "Status",
	used: "Last used",
	expires: "Expires",
	never: "Never",
	days: "In {count, plural, one {# day} other {# days}}",
	create: "Create",
	secret: "Your new API key",
	rotate: "Rotate",
	rotateTitle: "Rotate {name}?",
	rotateText: "A new key is created. You can switch your program over before the old one expires.",
	grace: "The old key keeps working",
	graces: { 0: "Not at all", 3600: "For one hour", 86400: "For one day" },
	search: "Search scopes",
	noScope: "No scope matches.",
	revoke: "Revoke",
	revokeTitle: "Revoke {name}?",
	revokeText: "Programs with this key are refused immediately. This cannot be undone.",
	empty: "No API keys yet",
	emptyText: "A key lets a program add contacts, record events and send broadcasts.",
});

/** A request with a key. */
const example = `curl ${location.origin}/t/shop/api/contacts -H 'X-API-Key: pbk_…' -d '{"email": "ada@example.com"}'`;

/** ApiKeys lists the keys of programs. */
export default function ApiKeys() {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /auth/api-keys");
	const [creating, setCreating] = useState(false);
	const [secret, setSecret] = useState<string | null>(null);
	const [grace, setGrace] = useState("86400");
	const [asking, setAsking] = useState<{ key: APIKey; action: "rotate" | "revoke" } | null>(null);
	const keys = useQuery({ ...apiKeysQuery(), enabled: !disabledReason });
	const refresh = () => client.invalidateQueries(within("api_keys"));
	const action = useMutation({
		mutationFn: async (variables: { key: APIKey; action: "rotate" | "revoke" }) => {
			if (variables.action === "rotate") {
				const rotated = await api("POST /auth/api-keys/{id}/rotate", {
					path: { id: variables.key.id },
					body: { grace_seconds: Number(grace) },
					idempotencyKey: newKey(),
				});
				setSecret(rotated.key);
			} else await api("DELETE /auth/api-keys/{id}", { path: { id: variables.key.id } });
		},
		onSuccess: () => {
			setAsking(null);
			void refresh();
		},
	});
	const add = (
		<Button kind="create" disabledReason={disabledReason} onClick={() => setCreating(true)}>
			{words.add}
		</Button>
	);
	const rows = keys.data?.data ?? [];
	return (
		<Page
			title={words.title}
			breadcrumbs={[{ name: words.settings, to: to.settings() }]}
			description={words.about}
			actions={(!keys.isSuccess || rows.length > 0) && add}
		>
			{disabledReason ? (
				<Callout>{disabledReason}</Callout>
			) : keys.isPending ? (
				<Skeleton rows={4} />
			) : keys.isError ? (
				<Failure error={keys.error} retry={() => void keys.refetch()} />
			) : rows.length === 0 ? (
				<Empty title={words.empty} action={add} example={<pre>{example}</pre>}>
					{words.emptyText}
				</Empty>
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(apiKey) => apiKey.id}
					columns={[
						{ id: "name", name: words.name, cell: (apiKey) => <b>{apiKey.name}</b> },
						{ id: "prefix", name: words.prefix, cell: (apiKey) => <code>{apiKey.prefix}</code> },
						{
							id: "scopes",
							name: words.scopes,
							cell: (apiKey) => (
								<span title={apiKey.scopes.join(", ")}>{words.count({ count: apiKey.scopes.length })}</span>
							),
						},
						{
							id: "status",
							beside: true,
							name: words.status,
							cell: (apiKey) => <StateBadge kind="key" state={apiKey.status} />,
						},
						{ id: "used", name: words.used, cell: (apiKey) => <Time at={apiKey.last_used_at} /> },
						{
							id: "expires",
							name: words.expires,
							cell: (apiKey) => (apiKey.expires_at ? <Time at={apiKey.expires_at} /> : <NotSet />),
						},
						{
							id: "actions",
							name: "",
							end: true,
							cell: (apiKey) =>
								apiKey.status === "active" && (
									<Menu
										small
										label={words.actions({ name: apiKey.name })}
										actions={[
											{ id: "rotate", label: words.rotate, run: () => setAsking({ key: apiKey, action: "rotate" }) },
											{
												id: "revoke",
												label: words.revoke,
												danger: true,
												run: () => setAsking({ key: apiKey, action: "revoke" }),
											},
										]}
									/>
								),
						},
					]}
				/>
			)}
			{creating && (
				<Create
					onClose={() => setCreating(false)}
					onCreated={(secret) => {
						setCreating(false);
						setSecret(secret);
						void refresh();
					}}
				/>
			)}
			{secret && <Secret title={words.secret} secret={secret} onClose={() => setSecret(null)} />}
			{asking && (
				<Confirm
					title={
						asking.action === "rotate"
							? words.rotateTitle({ name: asking.key.name })
							: words.revokeTitle({ name: asking.key.name })
					}
					action={asking.action === "rotate" ? words.rotate : words.revoke}
					danger={asking.action === "revoke"}
					type={asking.action === "revoke" ? asking.key.name : undefined}
					busy={action.isPending}
					error={action.error && <p role="alert">{explain(action.error)}</p>}
					onConfirm={() => action.mutate(asking)}
					onClose={() => setAsking(null)}
				>
					<p>{asking.action === "rotate" ? words.rotateText : words.revokeText}</p>
					{asking.action === "rotate" && (
						<Select
							label={words.grace}
							value={grace}
							onChange={setGrace}
							choices={Object.entries(words.graces).map(([value, label]) => ({ value, label }))}
						/>
					)}
				</Confirm>
			)}
		</Page>
	);
}

function Create({ onClose, onCreated }: { onClose: () => void; onCreated: (secret: string) => void }) {
	const [idempotencyKey] = useState(newKey);
	const form = useForm({ name: "", scopes: [] as string[], expires: "" });
	const scopes = useQuery(scopesQuery());
	const all = scopes.data?.data ?? [];
	const [search, setSearch] = useState("");
	const query = search.trim().toLowerCase();
	const matches = all.filter((scope) => `${scope.scope} ${scope.description}`.toLowerCase().includes(query));
	const areas = [...new Set(matches.map((scope) => scope.scope.split(":")[0] ?? ""))];
	const values = form.values;
	const send = () =>
		form.submit(async () => {
			const created = await api("POST /auth/api-keys", {
				body: {
					name: values.name,
					scopes: values.scopes,
					expires_at: values.expires ? new Date(Date.now() + Number(values.expires) * 86_400_000).toISOString() : null,
				},
				idempotencyKey,
			});
			onCreated(created.key);
		});
	const presets: { [name: string]: string[] } = {
		none: [],
		read: all.filter((scope) => scope.scope.endsWith(":read")).map((scope) => scope.scope),
		all: all.map((scope) => scope.scope),
	};
	const preset =
		Object.entries(presets).find(
			([, list]) => list.length === values.scopes.length && list.every((scope) => values.scopes.includes(scope)),
		)?.[0] ?? "custom";
	return (
		<Dialog
			drawer="wide"
			title={words.add}
			onClose={onClose}
			onSubmit={() => void send()}
			submit={{ label: words.create, busy: form.busy }}
		>
			<FormProblems problems={form.problems} />
			<TextField
				label={words.name}
				help={words.nameHelp}
				path="name"
				value={values.name}
				onChange={(name) => form.set({ name })}
				error={form.problems.byPath.name}
				autoFocus
			/>
			<Select
				label={words.expires}
				value={values.expires}
				onChange={(expires) => form.set({ expires })}
				choices={[
					{ value: "", label: words.never },
					...[30, 90, 365].map((n) => ({ value: String(n), label: words.days({ count: n }) })),
				]}
			/>
			<Select
				label={words.preset}
				value={preset}
				onChange={(value) => presets[value] && form.set({ scopes: presets[value] })}
				choices={[
					{ value: "custom", label: words.custom, disabled: preset !== "custom" },
					{ value: "none", label: words.none },
					{ value: "read", label: words.read },
					{ value: "all", label: words.all },
				]}
				error={form.problems.byPath.scopes}
			/>
			<TextField label={words.search} type="search" value={search} onChange={setSearch} autoComplete="off" />
			{matches.length === 0 && all.length > 0 && <p>{words.noScope}</p>}
			<div className={css.scopes} data-path="scopes" tabIndex={-1}>
				{areas.map((area) => (
					<fieldset key={area}>
						<legend className={css.area}>{area.replaceAll(/[_-]/g, " ")}</legend>
						{matches
							.filter((scope) => scope.scope.split(":")[0] === area)
							.map((scope) => (
								<Checkbox
									key={scope.scope}
									label={<code>{scope.scope}</code>}
									help={[
										scope.description,
										scope.implies.length > 0 && words.implies({ others: scope.implies.join(", ") }),
									]
										.filter(Boolean)
										.join(" · ")}
									checked={values.scopes.includes(scope.scope)}
									onChange={(checked) =>
										form.set({
											scopes: checked
												? [...values.scopes, scope.scope]
												: values.scopes.filter((x) => x !== scope.scope),
										})
									}
								/>
							))}
					</fieldset>
				))}
			</div>
		</Dialog>
	);
}
