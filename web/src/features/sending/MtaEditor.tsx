import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ComponentProps, useId, useState } from "react";
import { useLocation } from "wouter";
import { api, isConflict, newKey, request } from "../../api/client";
import type { MtaConfigRow } from "../../api/schema";
import { useDisabledReason, useSession } from "../../base/session";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { DrawerAction, DrawerButton, DrawerCancel } from "../../ui/DrawerAction";
import { Folded } from "../../ui/Folded";
import { FormFooter } from "../../ui/FormFooter";
import { Columns, Radios, Select, Switch, TextField } from "../../ui/Field";
import { useSubmit } from "../../ui/form";
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
import { MtaRows } from "./MtaRows";
import { TestResult, testLabel, useStoredTest } from "./ConnectionTest";
import { RelayFields, relayNames } from "./RelayFields";
import { Throttles, throttlesTitle } from "./Throttles";
import { bodyOf, caps, type MtaValues, relays, type Settings, settingsOf, type Type, valuesOf } from "./mtaValues";
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
	tls: "Encryption",
	unchanged: "Set. Leave empty to keep it.",
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
	...relayNames(),
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

/** Editor creates or changes an MTA config. The caller may say what follows; otherwise its page opens. */
export function Editor({
	lane,
	onSaved,
	onCancel,
}: {
	lane?: MtaConfigRow & { revision: string | null };
	onSaved?: (lane: MtaConfigRow) => Promise<void>;
	/** What follows when somebody drops what was typed; only in a drawer. */
	onCancel?: () => void;
}) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const disabledReason = useDisabledReason("POST /mta-configs");
	const locked = useDisabledReason("PUT /mta-configs/{id}");
	const { user } = useSession();
	const storedTest = useStoredTest();
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
	const test = useSubmit(Object.keys(values));
	const problems = { ...test.problems.byPath, ...form.problems.byPath };
	const faulty = (...parts: string[]) =>
		Object.keys(problems).some((path) => parts.some((part) => path.startsWith(part)));
	const type = values.type as Type;
	const field = (
		name: keyof MtaValues,
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
	const [tested, setTested] = useState<{ of: string; result: ComponentProps<typeof TestResult>["result"] } | null>(
		null,
	);
	const connection = JSON.stringify([type, settingsOf(values, lane)]);
	const testConnection = () =>
		test.submit(async () => {
			setTested(null);
			const result = await api("POST /mta-configs/test", {
				body: {
					id: lane?.id,
					type,
					settings: settingsOf(values, lane),
					...(type === "direct_mx" && { to: user.email }),
				},
				idempotencyKey: newKey(),
			});
			setTested({ of: connection, result });
		});
	const send = () => {
		test.clear();
		return form.submit(async (values, revision) => {
			const body = bodyOf(values, lane);
			const response = lane
				? await request("PUT /mta-configs/{id}", { path: { id: lane.id }, body, revision })
				: await request("POST /mta-configs", { body, idempotencyKey });
			const saved = response.data;
			void client.invalidateQueries(within("mta_configs"));
			client.setQueryData(mtaQuery(saved.id).queryKey, { ...saved, revision: response.revision });
			form.set({ "settings.password": "", "settings.secret_access_key": "" });
			toast(words.saved);
			if (relays(saved.type) && saved.active && !saved.tested_at) storedTest.mutate(saved.id);
			if (onSaved) await onSaved(saved);
			else if (!lane) navigate(to.mta(saved.id), { replace: true });
		});
	};
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
			<FormProblems problems={test.problems} />
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
						<RelayFields values={values} problems={problems} field={field} stored={s} onChange={form.set} />
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
					<TestResult result={tested?.of === connection ? tested.result : undefined} />
				</Card>
				<Folded title={lane ? words.changeLimits : words.limits} open={faulty("caps", "domain_throttles", "warmup")}>
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
				</Folded>
				<Folded title={words.failures} open={faulty("retry", "return_path_records")}>
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
				</Folded>
			</Locked>
			<FormFooter>
				{onCancel && (
					<DrawerCancel
						onCancel={() => {
							form.discard();
							onCancel();
						}}
					/>
				)}
				<DrawerAction form={id} busy={form.busy} disabledReason={disabledReason}>
					{words.save}
				</DrawerAction>
				{type !== "sink" && (
					<DrawerButton disabledReason={disabledReason} busy={test.busy} onClick={() => void testConnection()}>
						{testLabel()}
					</DrawerButton>
				)}
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
