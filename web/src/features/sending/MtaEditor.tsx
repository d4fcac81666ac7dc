import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { useLocation } from "wouter";
import { api, isConflict, newKey, request } from "../../api/client";
import type { MtaConfigBody, MtaConfigRow, ReturnPathRecordRow } from "../../api/schema";
import { useDisabledReason } from "../../base/session";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { DrawerAction } from "../../ui/DrawerAction";
import { FormFooter } from "../../ui/FormFooter";
import { Columns, Radios, Select, Switch, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { InUse } from "../../ui/Holders";
import { RestoredCallout, useDraftForm } from "../../ui/draftForm";
import { Card, Callout } from "../../ui/Page";
import { Locked } from "../../ui/Locked";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import css from "./Mta.module.css";
import { MtaDependants } from "./MtaDependants";
import { mtaTypes } from "./Sending";
import { MtaRows, type Row } from "./MtaRows";
import { bodyOfThrottle, type Throttle, Throttles, throttleOf, throttlesTitle } from "./Throttles";
import { within } from "../../base/queries";
import { mtaQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("sending.mtaEditor", {
	add: "Add sending server",
	type: "Type",
	about: {
		smtp: "Through your own or a provider's server, by SMTP.",
		direct_mx:
			"Directly to the recipients' servers. This needs port 25, reverse DNS, and patience while your address becomes known.",
		ses: "Through the Amazon SES API.",
		sink: "To nobody: email goes to the built-in mailbox. For trying things out.",
	},
	name: "Name",
	host: "Host",
	port: "Port",
	tls: "Encryption",
	tlsKinds: { starttls: "STARTTLS", implicit: "TLS", none: "None" },
	auth: "Authentication",
	authKinds: { none: "None", plain: "PLAIN", login: "LOGIN", cram_md5: "CRAM-MD5" },
	username: "Username",
	password: "Password",
	unchanged: "Set. Leave empty to keep it.",
	again: "Enter it again, because the host, port, encryption or username changes.",
	region: "Region",
	accessKey: "Access key ID",
	secretKey: "Secret access key",
	configurationSet: "Configuration set",
	active: "Active",
	off: "Once you save this, no mail leaves through it.",
	limits: "Limits",
	changeLimits: "Change limits",
	perSecond: "Emails per second",
	perMinute: "Emails per minute",
	perHour: "Emails per hour",
	perDay: "Emails per day",
	connections: "Connections",
	perConnection: "Emails per connection",
	warmup: "Warm-up",
	warmupHelp: "Start with few emails a day and increase while health is good.",
	start: "Emails on the first day",
	growth: "Daily growth, %",
	started: "First day",
	startedHelp: "If empty, the day you save it.",
	each: "Each address warms up separately, from its own first day.",
	directTls: { opportunistic: "If the server offers it", required: "Always" },
	ips: "Outgoing IP addresses",
	ipsAbout:
		"Addresses of this machine. The hostname must resolve to the address, and the address back to the hostname.",
	ip: "IP address",
	helo: "Hostname",
	addIp: "Add address",
	removeIp: "Remove address {ip}",
	patterns: "Simulated refusals",
	patternsAbout: "To test failures: an address or a domain, where * matches any characters. The first match decides.",
	pattern: "Recipient",
	response: "Answer",
	addPattern: "Add pattern",
	removePattern: "Remove pattern {pattern}",
	failures: "If delivery fails",
	retry: "Retry for, in hours",
	retryHelp: "After 1, 5, 15 and 30 minutes, 1, 2 and 4 hours, then every 4 hours.",
	records: "Return path records",
	recordsAbout:
		"Only if bounces go back to that server instead of here: the DNS records it requires for your sending domains.",
	recordType: "Type",
	recordHost: "Host",
	recordValue: "Value",
	recordPriority: "Priority",
	addRecord: "Add record",
	removeRecord: "Remove record {name}",
	save: "Save",
	saved: "Saved",
	remove: "Delete",
	removeTitle: "Delete {name}?",
	removeText: "Its settings, password and health are deleted permanently.",
});

const names = () => ({
	name: words.name,
	"settings.host": words.host,
	"settings.port": words.port,
	"settings.tls": words.tls,
	"settings.auth": words.auth,
	"settings.username": words.username,
	"settings.region": words.region,
	"settings.access_key_id": words.accessKey,
	"settings.configuration_set": words.configurationSet,
	active: words.active,
	"caps.max_per_second": words.perSecond,
	"caps.max_per_minute": words.perMinute,
	"caps.max_per_hour": words.perHour,
	"caps.max_per_day": words.perDay,
	"caps.max_connections": words.connections,
	"caps.max_messages_per_connection": words.perConnection,
	domain_throttles: throttlesTitle(),
	"warmup.enabled": words.warmup,
	"warmup.start_per_day": words.start,
	"warmup.growth_pct": words.growth,
	"warmup.started_on": words.started,
	"retry.max_age_hours": words.retry,
	"settings.ips": words.ips,
	"settings.fail_patterns": words.patterns,
	return_path_records: words.records,
});

type Type = MtaConfigRow["type"];
/** relays reports whether mail of a type leaves through a server of others, to which bounces may come back. */
const relays = (type: string) => type === "smtp" || type === "ses";

const bodyOfRecord = (row: Row) => ({
	type: row.type,
	host: row.host?.trim() || null,
	value: row.value?.trim(),
	...(row.type === "MX" && row.priority && { priority: Number(row.priority) }),
});

type Settings = { [name: string]: unknown };

const caps = {
	max_per_second: "perSecond",
	max_per_minute: "perMinute",
	max_per_hour: "perHour",
	max_per_day: "perDay",
	max_connections: "connections",
	max_messages_per_connection: "perConnection",
} as const;

/** valuesOf returns the fields of the form. */
function valuesOf(lane?: MtaConfigRow) {
	const settings = (lane?.settings ?? {}) as Settings;
	const text = (name: string, initial = "") => String(settings[name] ?? initial);
	const limit = (value: number | null | undefined) => String(value ?? "");
	const list = <R,>(rows: unknown, toRow: (row: R) => Row) => ((rows ?? []) as R[]).map(toRow);
	return {
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
		"warmup.started_on": lane?.warmup.started_on ?? "",
		"retry.max_age_hours": limit(lane?.retry.max_age_hours),
		"settings.ips": list<{ ip: string; helo_host: string }>(settings.ips, (row) => ({
			ip: row.ip,
			helo_host: row.helo_host,
		})),
		"settings.fail_patterns": list<{ pattern: string; response: string }>(settings.fail_patterns, (row) => ({
			pattern: row.pattern,
			response: row.response,
		})),
		return_path_records: list<ReturnPathRecordRow>(lane?.return_path_records, (row) => ({
			type: row.type,
			host: row.host ?? "",
			value: row.value,
			priority: String(row.priority ?? ""),
		})),
	};
}

/** Editor creates or changes an MTA config. The caller may say what follows; otherwise its page opens. */
export function Editor({
	lane,
	onSaved,
}: {
	lane?: MtaConfigRow & { revision: string | null };
	onSaved?: (lane: MtaConfigRow) => Promise<void>;
}) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const disabledReason = useDisabledReason("POST /mta-configs");
	const locked = useDisabledReason("PUT /mta-configs/{id}");
	const [deleting, setDeleting] = useState(false);
	const [idempotencyKey] = useState(newKey);
	const s = (lane?.settings ?? {}) as Settings;
	const id = useId();
	const form = useDraftForm(valuesOf(lane), {
		kind: "mta_config",
		id: lane?.id,
		title: lane?.name ?? words.add,
		canEdit: !disabledReason,
		secret: ["settings.password", "settings.secret_access_key"],
		read: async () => {
			const response = await request("GET /mta-configs/{id}", { path: { id: lane?.id ?? "" }, query: {} });
			return { values: valuesOf(response.data), revision: response.revision };
		},
		names: names(),
	});
	const values = form.values;
	const problems = form.problems.byPath;
	const type = values.type as Type;
	const field = (
		name: keyof typeof values,
		label: string,
		more: { type?: string; help?: string; optional?: boolean } = {},
	) => (
		<TextField
			key={name}
			label={label}
			path={name}
			value={String(values[name])}
			onChange={(value) => form.set({ [name]: value })}
			error={problems[name]}
			autoComplete="off"
			spellCheck={false}
			{...more}
		/>
	);
	/** Whether the stored password would be sent to another server, or in another way, which the server refuses. */
	const serverChanged = (["host", "port", "tls", "username"] as const).some(
		(name) => values[`settings.${name}`].trim() !== String(s[name] ?? ""),
	);
	const count = (text: string) => (text === "" ? null : Number(text));
	const send = () =>
		form.submit(async (values, revision) => {
			const settings: { [name: string]: unknown } = {};
			if (type === "smtp") {
				Object.assign(settings, {
					host: values["settings.host"].trim(),
					port: Number(values["settings.port"]),
					tls: values["settings.tls"],
					auth: values["settings.auth"],
				});
				if (values["settings.auth"] !== "none") {
					settings.username = values["settings.username"];
					if (values["settings.password"]) settings.password = values["settings.password"];
				} else if (s.has_password) settings.password = null; // which stays with its host, and is not needed any more
			} else if (type === "direct_mx") {
				Object.assign(settings, {
					tls: values["settings.tls"],
					ips: values["settings.ips"].map((row) => ({ ip: row.ip?.trim(), helo_host: row.helo_host?.trim() })),
				});
			} else if (type === "sink") {
				settings.fail_patterns = values["settings.fail_patterns"];
			} else if (type === "ses") {
				Object.assign(settings, {
					region: values["settings.region"],
					access_key_id: values["settings.access_key_id"],
					configuration_set: values["settings.configuration_set"] || null,
				});
				if (values["settings.secret_access_key"]) settings.secret_access_key = values["settings.secret_access_key"];
			}
			const bounds: { [name: string]: unknown } = {};
			for (const name of Object.keys(caps) as (keyof typeof caps)[]) {
				const value = values[`caps.${name}`];
				// Connections always have a limit: an empty field leaves it as it is.
				if (value !== "" || (name !== "max_connections" && name !== "max_messages_per_connection"))
					bounds[name] = count(value);
			}
			const warmup: { [name: string]: unknown } = { enabled: values["warmup.enabled"] };
			if (values["warmup.enabled"]) {
				if (values["warmup.start_per_day"]) warmup.start_per_day = Number(values["warmup.start_per_day"]);
				if (values["warmup.growth_pct"]) warmup.growth_pct = Number(values["warmup.growth_pct"]);
				warmup.started_on = values["warmup.started_on"] || null;
			}
			const body = {
				name: values.name,
				active: values.active,
				caps: bounds,
				domain_throttles: values.domain_throttles.map(bodyOfThrottle),
				warmup,
				...(values["retry.max_age_hours"] && { retry: { max_age_hours: Number(values["retry.max_age_hours"]) } }),
				...(relays(type) && { return_path_records: values.return_path_records.map(bodyOfRecord) }),
				...(Object.keys(settings).length > 0 && { settings }),
				...(!lane && { type }),
			} as MtaConfigBody;
			const response = lane
				? await request("PUT /mta-configs/{id}", { path: { id: lane.id }, body, revision })
				: await request("POST /mta-configs", { body, idempotencyKey });
			const saved = response.data;
			void client.invalidateQueries(within("mta_configs"));
			client.setQueryData(mtaQuery(saved.id).queryKey, { ...saved, revision: response.revision });
			form.set({ "settings.password": "", "settings.secret_access_key": "" });
			toast(words.saved);
			if (onSaved) await onSaved(saved);
			else if (!lane) navigate(to.mta(saved.id), { replace: true });
		});
	const remove = useMutation({
		mutationFn: () =>
			api("DELETE /mta-configs/{id}", { path: { id: lane?.id ?? "" }, revision: lane?.revision ?? undefined }),
		onError: (error) => lane && isConflict(error) && void client.invalidateQueries(within("mta_config", lane.id)),
		onSuccess: () => {
			void client.invalidateQueries(within("mta_configs"));
			navigate(to.sending());
		},
	});
	return (
		<form
			id={id}
			noValidate
			style={{ display: "contents" }}
			onSubmit={(event) => {
				event.preventDefault();
				if (!disabledReason) void send();
			}}
		>
			<RestoredCallout form={form} />
			<FormProblems problems={form.problems} />
			<Locked disabledReason={locked}>
				{!lane && (
					<Card>
						<Radios
							label={words.type}
							value={type}
							onChange={(value) =>
								form.set({ type: value, "settings.tls": value === "direct_mx" ? "opportunistic" : "starttls" })
							}
							choices={(["smtp", "ses", "direct_mx", "sink"] as const).map((type) => ({
								value: type,
								label: mtaTypes[type],
								help: words.about[type],
							}))}
						/>
					</Card>
				)}
				<Card title={mtaTypes[type]}>
					{field("name", words.name)}
					{type === "smtp" && (
						<Columns>
							{field("settings.host", words.host)}
							{field("settings.port", words.port, { type: "number" })}
							<Select
								label={words.tls}
								value={values["settings.tls"]}
								onChange={(value) => form.set({ "settings.tls": value })}
								choices={Object.entries(words.tlsKinds).map(([value, label]) => ({ value, label }))}
								error={problems["settings.tls"]}
							/>
							<Select
								label={words.auth}
								value={values["settings.auth"]}
								onChange={(value) => form.set({ "settings.auth": value })}
								choices={Object.entries(words.authKinds).map(([value, label]) => ({ value, label }))}
								error={problems["settings.auth"]}
							/>
							{values["settings.auth"] !== "none" && field("settings.username", words.username)}
							{values["settings.auth"] !== "none" &&
								field("settings.password", words.password, {
									type: "password",
									help: s.has_password ? (serverChanged ? words.again : words.unchanged) : undefined,
								})}
						</Columns>
					)}
					{type === "ses" && (
						<Columns>
							{field("settings.region", words.region)}
							{field("settings.access_key_id", words.accessKey)}
							{field("settings.secret_access_key", words.secretKey, {
								type: "password",
								help: s.has_secret_access_key ? words.unchanged : undefined,
							})}
							{field("settings.configuration_set", words.configurationSet, { optional: true })}
						</Columns>
					)}
					{type === "direct_mx" && (
						<>
							<Columns>
								<Select
									label={words.tls}
									value={values["settings.tls"]}
									onChange={(value) => form.set({ "settings.tls": value })}
									choices={Object.entries(words.directTls).map(([value, label]) => ({ value, label }))}
									error={problems["settings.tls"]}
								/>
							</Columns>
							<MtaRows
								title={words.ips}
								description={words.ipsAbout}
								path="settings.ips"
								columns={[
									{ name: "ip", label: words.ip },
									{ name: "helo_host", label: words.helo },
								]}
								rows={values["settings.ips"]}
								blank={{ ip: "", helo_host: "" }}
								add={words.addIp}
								removeLabel={(row, index) => words.removeIp({ ip: row.ip || String(index + 1) })}
								problems={problems}
								disabledReason={disabledReason}
								onChange={(rows) => form.set({ "settings.ips": rows })}
							/>
						</>
					)}
					{type === "sink" && (
						<MtaRows
							title={words.patterns}
							description={words.patternsAbout}
							path="settings.fail_patterns"
							columns={[
								{ name: "pattern", label: words.pattern },
								{ name: "response", label: words.response },
							]}
							rows={values["settings.fail_patterns"]}
							blank={{ pattern: "", response: "550 5.1.1 no such user" }}
							add={words.addPattern}
							removeLabel={(row, index) => words.removePattern({ pattern: row.pattern || String(index + 1) })}
							problems={problems}
							disabledReason={disabledReason}
							onChange={(rows) => form.set({ "settings.fail_patterns": rows })}
						/>
					)}
					<Switch
						label={words.active}
						checked={values.active}
						onChange={(active) => form.set({ active })}
						disabledReason={locked ? undefined : disabledReason}
					/>
					{lane?.active && !values.active && (
						<Callout tone="warning" title={words.off}>
							<MtaDependants id={lane.id} />
						</Callout>
					)}
				</Card>
				<Card title={lane ? words.changeLimits : words.limits}>
					<Columns>
						{(Object.keys(caps) as (keyof typeof caps)[]).map((name) =>
							field(`caps.${name}`, words[caps[name]], { type: "number", optional: true }),
						)}
					</Columns>
					<Throttles
						list={values.domain_throttles}
						problems={problems}
						disabledReason={disabledReason}
						onChange={(domain_throttles) => form.set({ domain_throttles })}
					/>
					<Switch
						label={words.warmup}
						help={words.warmupHelp}
						checked={values["warmup.enabled"]}
						onChange={(value) => form.set({ "warmup.enabled": value })}
						disabledReason={locked ? undefined : disabledReason}
					/>
					{values["warmup.enabled"] && (
						<Columns>
							{field("warmup.start_per_day", words.start, { type: "number", optional: true })}
							{field("warmup.growth_pct", words.growth, { type: "number", optional: true })}
							{field("warmup.started_on", words.started, { type: "date", optional: true, help: words.startedHelp })}
						</Columns>
					)}
					{type === "direct_mx" && values["warmup.enabled"] && <p className={css.muted}>{words.each}</p>}
				</Card>
				<Card title={words.failures}>
					<Columns>
						{field("retry.max_age_hours", words.retry, { type: "number", optional: !lane, help: words.retryHelp })}
					</Columns>
					{relays(type) && (
						<MtaRows
							title={words.records}
							description={words.recordsAbout}
							path="return_path_records"
							columns={[
								{
									name: "type",
									label: words.recordType,
									choices: ["MX", "TXT", "CNAME"].map((type) => ({ value: type, label: type })),
								},
								{ name: "host", label: words.recordHost, optional: true },
								{ name: "value", label: words.recordValue },
								{
									name: "priority",
									label: words.recordPriority,
									type: "number",
									optional: true,
									hidden: (row) => row.type !== "MX",
								},
							]}
							rows={values.return_path_records}
							blank={{ type: "MX", host: "", value: "", priority: "" }}
							add={words.addRecord}
							removeLabel={(row, index) => words.removeRecord({ name: `${row.type} ${row.value || index + 1}` })}
							problems={problems}
							disabledReason={disabledReason}
							onChange={(return_path_records) => form.set({ return_path_records })}
						/>
					)}
				</Card>
			</Locked>
			<FormFooter>
				<DrawerAction form={id} busy={form.busy} disabledReason={disabledReason}>
					{words.save}
				</DrawerAction>
				{lane && (
					<Button variant="quiet" disabledReason={disabledReason} onClick={() => setDeleting(true)}>
						{words.remove}
					</Button>
				)}
			</FormFooter>
			{deleting && lane && (
				<Confirm
					title={words.removeTitle({ name: lane.name })}
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
