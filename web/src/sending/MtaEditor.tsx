import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, newKey } from "../api/client";
import type { MtaConfigBody, MtaConfigRow } from "../api/schema";
import { useKey, useWhyNot } from "../app/session";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Dialog";
import { Columns, Radios, Select, Switch, TextField } from "../ui/Field";
import { FormProblems } from "../ui/FormProblems";
import { InUse } from "../ui/Holders";
import { KeptNotice, useKeptForm } from "../ui/keptForm";
import { Card, Notice } from "../ui/Page";
import { toast } from "../ui/Toast";
import { catalogue } from "../words/catalogue";
import css from "./Mta.module.css";
import { MtaDependants } from "./MtaDependants";
import { mtaTypes } from "./Sending";
import { bodyOfThrottle, type Throttle, Throttles, throttleOf } from "./Throttles";

const words = catalogue({
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
	off: "Once this is saved, no mail leaves through it.",
	limits: "Change the limits",
	perSecond: "Mails a second",
	perMinute: "Mails a minute",
	perHour: "Mails an hour",
	perDay: "Mails a day",
	connections: "Connections",
	perConnection: "Mails a connection",
	warmup: "Warm-up",
	warmupHelp: "Begin with few mails a day, and raise them while health is good.",
	start: "Mails on the first day",
	growth: "Growth a day, %",
	save: "Save",
	saved: "Saved",
	remove: "Delete",
	removeTitle: (name: string) => `Delete ${name}?`,
	removeText: "Its settings, its password and its health are deleted for good.",
});

type Type = MtaConfigRow["type"];
type Settings = { [name: string]: unknown };

const caps = {
	max_per_second: words.perSecond,
	max_per_minute: words.perMinute,
	max_per_hour: words.perHour,
	max_per_day: words.perDay,
	max_connections: words.connections,
	max_messages_per_connection: words.perConnection,
} as const;

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
	const limit = (n: number | null | undefined) => String(n ?? "");
	const values = {
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
		"caps.max_per_second": limit(lane?.caps.max_per_second),
		"caps.max_per_minute": limit(lane?.caps.max_per_minute),
		"caps.max_per_hour": limit(lane?.caps.max_per_hour),
		"caps.max_per_day": limit(lane?.caps.max_per_day),
		"caps.max_connections": limit(lane?.caps.max_connections),
		"caps.max_messages_per_connection": limit(lane?.caps.max_messages_per_connection),
		domain_throttles: (lane?.domain_throttles ?? []).map(throttleOf) as Throttle[],
		"warmup.enabled": lane?.warmup.enabled ?? false,
		"warmup.start_per_day": limit(lane?.warmup.start_per_day),
		"warmup.growth_pct": limit(lane?.warmup.growth_pct),
	};
	const form = useKeptForm(values, { kind: "mta_config", id: lane?.id, title: lane?.name ?? words.add, may: !why, secret: ["settings.password", "settings.secret_access_key"] });
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
			const bounds: { [name: string]: unknown } = {};
			for (const name of Object.keys(caps) as (keyof typeof caps)[]) {
				const value = v[`caps.${name}`];
				// Connections always have a limit: an empty field leaves it as it is.
				if (value !== "" || (name !== "max_connections" && name !== "max_messages_per_connection")) bounds[name] = count(value);
			}
			const warmup: { [name: string]: unknown } = { enabled: v["warmup.enabled"] };
			if (v["warmup.enabled"]) {
				if (v["warmup.start_per_day"]) warmup.start_per_day = Number(v["warmup.start_per_day"]);
				if (v["warmup.growth_pct"]) warmup.growth_pct = Number(v["warmup.growth_pct"]);
			}
			const body = { name: v.name, active: v.active, caps: bounds, domain_throttles: v.domain_throttles.map(bodyOfThrottle), warmup, ...(Object.keys(settings).length > 0 && { settings }), ...(!lane && { type }) } as MtaConfigBody;
			const saved = lane ? await api("PUT /mta-configs/{id}", { path: { id: lane.id }, body }) : await api("POST /mta-configs", { body, idempotencyKey });
			void client.invalidateQueries({ queryKey: key("mta-configs") });
			client.setQueryData(key("mta-config", saved.id), saved);
			form.set({ "settings.password": "", "settings.secret_access_key": "" });
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
			<KeptNotice form={form} />
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
							{v["settings.auth"] !== "none" && field("settings.password", words.password, { type: "password", help: s.has_password ? words.unchanged : undefined })}
						</Columns>
					</>
				)}
				{type === "ses" && (
					<Columns>
						{field("settings.region", words.region)}
						{field("settings.access_key_id", words.accessKey)}
						{field("settings.secret_access_key", words.secretKey, { type: "password", help: s.has_secret_access_key ? words.unchanged : undefined })}
						{field("settings.configuration_set", words.configurationSet, { optional: true })}
					</Columns>
				)}
				<Switch label={words.active} checked={v.active} onChange={(active) => form.set({ active })} why={why} />
				{lane?.active && !v.active && (
					<Notice tone="warning" title={words.off}>
						<MtaDependants id={lane.id} />
					</Notice>
				)}
			</Card>
			<Card title={words.limits}>
				<Columns>{(Object.keys(caps) as (keyof typeof caps)[]).map((name) => field(`caps.${name}`, caps[name], { type: "number", optional: true }))}</Columns>
				<Throttles list={v.domain_throttles} problems={p} why={why} onChange={(domain_throttles) => form.set({ domain_throttles })} />
				<Switch label={words.warmup} help={words.warmupHelp} checked={v["warmup.enabled"]} onChange={(x) => form.set({ "warmup.enabled": x })} why={why} />
				{v["warmup.enabled"] && (
					<Columns>
						{field("warmup.start_per_day", words.start, { type: "number", optional: true })}
						{field("warmup.growth_pct", words.growth, { type: "number", optional: true })}
					</Columns>
				)}
			</Card>
			<div className={css.end}>
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
					error={remove.error && <InUse error={remove.error} />}
					onConfirm={() => remove.mutate()}
					onClose={() => setDeleting(false)}
				>
					<p>{words.removeText}</p>
					<MtaDependants id={lane.id} />
				</Confirm>
			)}
		</form>
	);
}
