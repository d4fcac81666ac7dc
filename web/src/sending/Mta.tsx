import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useParams } from "wouter";
import { ApiError, api, newKey } from "../api/client";
import type { MtaConfigBody, MtaConfigRow } from "../api/schema";
import { useKey, useSession, useWhyNot } from "../app/session";
import { StateBadge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Dialog";
import { Columns, Radios, Select, Switch, TextField } from "../ui/Field";
import { Figure, Figures } from "../ui/Figure";
import { FormProblems } from "../ui/FormProblems";
import { useForm } from "../ui/form";
import { Gone } from "../ui/Gone";
import { Card, Notice, Page } from "../ui/Page";
import { Failure, Skeleton } from "../ui/States";
import { toast } from "../ui/Toast";
import { catalogue, full } from "../words/catalogue";
import { explain } from "../words/errors";
import { mtaTypes } from "./Sending";

const words = catalogue({
	sending: "Sending set-up",
	add: "Add an MTA config",
	type: "How mail leaves",
	about: {
		smtp: "Through a server of yours or of a provider, by SMTP.",
		direct_mx: "Straight to the servers of recipients. It needs port 25, reverse DNS and patience while your address becomes known.",
		ses: "Through Amazon's API.",
		sink: "Nowhere: mail lands in the built-in mailbox. For trying things out.",
	},
	name: "Name",
	host: "Host",
	port: "Port",
	tls: "Encryption",
	tlsKinds: { starttls: "STARTTLS", implicit: "TLS from the start", none: "None" },
	auth: "Login",
	authKinds: { none: "None", plain: "PLAIN", login: "LOGIN", cram_md5: "CRAM-MD5" },
	username: "User name",
	password: "Password",
	unchanged: "Set. Leave empty to keep it.",
	region: "Region",
	accessKey: "Access key id",
	secretKey: "Secret access key",
	configurationSet: "Configuration set",
	active: "Active",
	limits: "Limits",
	perHour: "Mails an hour",
	perDay: "Mails a day",
	connections: "Connections",
	warmup: "Warm-up",
	warmupHelp: "Begin with few mails a day, and raise them while health is good.",
	start: "First day",
	growth: "Growth a day, %",
	save: "Save",
	saved: "Saved",
	health: "Health",
	sent: "Sent today",
	left: "Remaining today",
	lastError: "Last error",
	test: "Try it now",
	testHelp: "Sends one mail and shows what the server says.",
	to: "To",
	took: (ms: number) => `Taken in ${full(ms)} ms`,
	refused: "Refused",
	remove: "Delete",
	removeTitle: (name: string) => `Delete ${name}?`,
	removeText: "Senders and broadcasts that name it need another.",
});

type Type = MtaConfigRow["type"];
type Settings = { [name: string]: unknown };

/** MtaPage shows or creates an MTA config. */
export default function MtaPage() {
	const { id = "new" } = useParams<{ id: string }>();
	const key = useKey();
	const found = useQuery({
		queryKey: key("mta-config", id),
		enabled: id !== "new",
		queryFn: ({ signal }) => api("GET /mta-configs/{id}", { path: { id }, signal }),
		refetchInterval: 15_000,
	});
	const trail = [{ name: words.sending, to: "/sending" }];
	if (found.error instanceof ApiError && found.error.status === 404) return <Gone list={words.sending} to="/sending" />;
	if (found.isError) return <Failure error={found.error} retry={() => void found.refetch()} />;
	if (id !== "new" && !found.data) {
		return (
			<Page title=" " trail={trail}>
				<Skeleton rows={8} />
			</Page>
		);
	}
	return (
		<Page title={found.data?.name ?? words.add} trail={trail} status={found.data && <StateBadge kind="mta" state={found.data.active ? found.data.health.state : "off"} />}>
			{found.data && <Health lane={found.data} />}
			<Editor key={found.data?.id ?? "new"} lane={found.data} />
		</Page>
	);
}

/** Health shows what an MTA config has sent, and tries it with one mail. */
export function Health({ lane: l }: { lane: MtaConfigRow }) {
	const { user } = useSession();
	const why = useWhyNot("POST /mta-configs/{id}/test");
	const [to, setTo] = useState(user.email);
	const test = useMutation({ mutationFn: () => api("POST /mta-configs/{id}/test", { path: { id: l.id }, body: { to }, idempotencyKey: newKey() }) });
	return (
		<Card title={words.health}>
			<Figures>
				<Figure name={words.sent} value={full(l.health.sent_today)} />
				{l.health.remaining_today !== null && <Figure name={words.left} value={full(l.health.remaining_today)} />}
			</Figures>
			{l.health.last_error && (
				<Notice tone="warning" title={words.lastError}>
					{l.health.last_error}
				</Notice>
			)}
			<form
				onSubmit={(e) => {
					e.preventDefault();
					test.mutate();
				}}
			>
				<Columns>
					<TextField label={words.to} type="email" help={words.testHelp} value={to} onChange={setTo} after={<Button type="submit" why={why} busy={test.isPending}>{words.test}</Button>} />
				</Columns>
			</form>
			{test.data && (
				<Notice tone={test.data.accepted ? "success" : "danger"} title={test.data.accepted ? words.took(test.data.latency_ms) : words.refused}>
					<code>{[test.data.smtp_code, test.data.smtp_response].filter(Boolean).join(" ")}</code>
				</Notice>
			)}
			{test.error && <Notice tone="danger">{explain(test.error)}</Notice>}
		</Card>
	);
}

/** Editor creates or changes an MTA config. The caller may say what follows; otherwise its page opens. */
export function Editor({ lane, onSaved }: { lane?: MtaConfigRow; onSaved?: (lane: MtaConfigRow) => Promise<void> }) {
	const key = useKey();
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const why = useWhyNot("POST /mta-configs");
	const [deleting, setDeleting] = useState(false);
	const [idempotencyKey] = useState(newKey);
	const s = (lane?.settings ?? {}) as Settings;
	const text = (name: string, initial = "") => String(s[name] ?? initial);
	const form = useForm({
		type: (lane?.type ?? "smtp") as string,
		name: lane?.name ?? "",
		"settings.host": text("host"),
		"settings.port": text("port", "587"),
		"settings.tls": text("tls", "starttls"),
		"settings.auth": text("auth", "plain"),
		"settings.username": text("username"),
		"settings.password": "",
		"settings.region": text("region", "eu-central-1"),
		"settings.access_key_id": text("access_key_id"),
		"settings.secret_access_key": "",
		"settings.configuration_set": text("configuration_set"),
		active: lane?.active ?? true,
		"caps.max_per_hour": lane?.caps.max_per_hour?.toString() ?? "",
		"caps.max_per_day": lane?.caps.max_per_day?.toString() ?? "",
		"caps.max_connections": lane?.caps.max_connections?.toString() ?? "",
		"warmup.enabled": lane?.warmup.enabled ?? false,
		"warmup.start_per_day": lane?.warmup.start_per_day?.toString() ?? "",
		"warmup.growth_pct": lane?.warmup.growth_pct?.toString() ?? "",
	});
	const v = form.values;
	const p = form.problems.byPath;
	const type = v.type as Type;
	const field = (name: keyof typeof v, label: string, more: { type?: string; help?: string; optional?: boolean } = {}) => (
		<TextField key={name} label={label} path={name} value={String(v[name])} onChange={(x) => form.set({ [name]: x })} error={p[name]} autoComplete="off" spellCheck={false} {...more} />
	);
	const count = (x: string) => (x === "" ? null : Number(x));
	const send = () =>
		form.submit(async () => {
			const settings: { [name: string]: unknown } = {};
			if (type === "smtp") {
				Object.assign(settings, { host: v["settings.host"].trim(), port: Number(v["settings.port"]), tls: v["settings.tls"], auth: v["settings.auth"] });
				if (v["settings.auth"] !== "none") {
					settings.username = v["settings.username"];
					if (v["settings.password"]) settings.password = v["settings.password"];
				}
			} else if (type === "ses") {
				Object.assign(settings, { region: v["settings.region"], access_key_id: v["settings.access_key_id"], configuration_set: v["settings.configuration_set"] || null });
				if (v["settings.secret_access_key"]) settings.secret_access_key = v["settings.secret_access_key"];
			}
			const caps: { [name: string]: unknown } = { max_per_hour: count(v["caps.max_per_hour"]), max_per_day: count(v["caps.max_per_day"]) };
			if (v["caps.max_connections"]) caps.max_connections = Number(v["caps.max_connections"]);
			const warmup: { [name: string]: unknown } = { enabled: v["warmup.enabled"] };
			if (v["warmup.enabled"]) {
				if (v["warmup.start_per_day"]) warmup.start_per_day = Number(v["warmup.start_per_day"]);
				if (v["warmup.growth_pct"]) warmup.growth_pct = Number(v["warmup.growth_pct"]);
			}
			const body = { name: v.name, active: v.active, caps, warmup, ...(Object.keys(settings).length > 0 && { settings }), ...(!lane && { type }) } as MtaConfigBody;
			const saved = lane ? await api("PUT /mta-configs/{id}", { path: { id: lane.id }, body }) : await api("POST /mta-configs", { body, idempotencyKey });
			void client.invalidateQueries({ queryKey: key("mta-configs") });
			client.setQueryData(key("mta-config", saved.id), saved);
			toast(words.saved);
			if (onSaved) await onSaved(saved);
			else if (!lane) navigate(`/sending/mta/${saved.id}`, { replace: true });
		});
	const remove = useMutation({
		mutationFn: () => api("DELETE /mta-configs/{id}", { path: { id: lane?.id ?? "" } }),
		onSuccess: () => {
			void client.invalidateQueries({ queryKey: key("mta-configs") });
			navigate("/sending");
		},
	});
	return (
		<form
			noValidate
			style={{ display: "contents" }}
			onSubmit={(e) => {
				e.preventDefault();
				if (!why) void send();
			}}
		>
			<FormProblems problems={form.problems} />
			{!lane && (
				<Card>
					<Radios
						label={words.type}
						value={type}
						onChange={(t) => form.set({ type: t })}
						choices={(["smtp", "ses", "direct_mx", "sink"] as const).map((t) => ({ value: t, label: mtaTypes[t], help: words.about[t] }))}
					/>
				</Card>
			)}
			<Card title={mtaTypes[type]}>
				{field("name", words.name)}
				{type === "smtp" && (
					<>
						<Columns>
							{field("settings.host", words.host)}
							{field("settings.port", words.port, { type: "number" })}
							<Select label={words.tls} value={v["settings.tls"]} onChange={(x) => form.set({ "settings.tls": x })} choices={Object.entries(words.tlsKinds).map(([value, label]) => ({ value, label }))} error={p["settings.tls"]} />
						</Columns>
						<Columns>
							<Select label={words.auth} value={v["settings.auth"]} onChange={(x) => form.set({ "settings.auth": x })} choices={Object.entries(words.authKinds).map(([value, label]) => ({ value, label }))} error={p["settings.auth"]} />
							{v["settings.auth"] !== "none" && field("settings.username", words.username)}
							{v["settings.auth"] !== "none" && field("settings.password", words.password, { type: "password", help: lane ? words.unchanged : undefined })}
						</Columns>
					</>
				)}
				{type === "ses" && (
					<Columns>
						{field("settings.region", words.region)}
						{field("settings.access_key_id", words.accessKey)}
						{field("settings.secret_access_key", words.secretKey, { type: "password", help: lane ? words.unchanged : undefined })}
						{field("settings.configuration_set", words.configurationSet, { optional: true })}
					</Columns>
				)}
				<Switch label={words.active} checked={v.active} onChange={(active) => form.set({ active })} why={why} />
			</Card>
			<Card title={words.limits}>
				<Columns>
					{field("caps.max_per_hour", words.perHour, { type: "number", optional: true })}
					{field("caps.max_per_day", words.perDay, { type: "number", optional: true })}
					{field("caps.max_connections", words.connections, { type: "number", optional: true })}
				</Columns>
				<Switch label={words.warmup} help={words.warmupHelp} checked={v["warmup.enabled"]} onChange={(x) => form.set({ "warmup.enabled": x })} why={why} />
				{v["warmup.enabled"] && (
					<Columns>
						{field("warmup.start_per_day", words.start, { type: "number" })}
						{field("warmup.growth_pct", words.growth, { type: "number" })}
					</Columns>
				)}
			</Card>
			<div style={{ display: "flex", gap: 8 }}>
				<Button type="submit" look="primary" busy={form.busy} why={why}>
					{words.save}
				</Button>
				{lane && (
					<Button look="quiet" why={why} onClick={() => setDeleting(true)}>
						{words.remove}
					</Button>
				)}
			</div>
			{deleting && lane && (
				<Confirm
					title={words.removeTitle(lane.name)}
					action={words.remove}
					type={lane.name}
					busy={remove.isPending}
					error={remove.error && <p role="alert">{explain(remove.error)}</p>}
					onConfirm={() => remove.mutate()}
					onClose={() => setDeleting(false)}
				>
					<p>{words.removeText}</p>
				</Confirm>
			)}
		</form>
	);
}
