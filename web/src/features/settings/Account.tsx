import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { api, request } from "../../api/client";
import type { AccountSessionView, UpdateAccountRequestBody } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useDisabledReason, useWorkspace } from "../../base/session";
import { CodeField } from "../../ui/CodeField";
import { Button } from "../../ui/Button";
import { Combo } from "../../ui/Combo";
import { Confirm } from "../../ui/Dialog";
import { Columns, Select, Switch, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { RestoredCallout, useDraftForm } from "../../ui/draftForm";
import { Card, Callout, Page } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { within } from "../../base/queries";
import { accountQuery } from "./queries";
import { outside, to } from "../../base/paths";

const words = catalogue("settings.account", {
	title: "Workspace",
	settings: "Settings",
	who: "Identity",
	name: "Name",
	website: "Website",
	logo: "Logo",
	logoHelp: "Shown on pages for recipients. An https URL.",
	zone: "Time zone",
	zoneHelp: "Days in reports and rules start at midnight in this time zone.",
	locale: "Language of pages for recipients",
	currency: "Currency",
	address: "Postal address",
	addressHelp: "Most laws require it in commercial email. It appears at the bottom of yours.",
	line1: "Address line 1",
	line2: "Address line 2",
	postal: "Postal code",
	city: "City",
	state: "State or region",
	country: "Country",
	defaults: "Defaults",
	type: "Email type",
	mta: "Sending server",
	sender: "Sender",
	none: "None",
	unsubscribing: "Unsubscribing",
	scope: "The unsubscribe link in an email stops",
	scopeType: "emails of its type",
	scopeGlobal: "all email",
	opt: "Confirm new subscriptions by email (double opt-in)",
	save: "Save",
	saved: "Saved",
	danger: "Delete this workspace",
	dangerText:
		"All contacts, emails, reports and settings are deleted permanently after 30 days. Until then, the operator can restore the workspace.",
	remove: "Delete workspace",
	removeTitle: "Delete {name}?",
	deleted: "The workspace is being deleted.",
});

/** Account has the settings of the workspace. */
export default function Account() {
	const account = useQuery(accountQuery());
	const disabledReason = useDisabledReason("PUT /settings/account");
	return (
		<Page title={words.title} breadcrumbs={[{ name: words.settings, to: to.settings() }]}>
			{disabledReason && <Callout>{disabledReason}</Callout>}
			{account.isPending ? (
				<Skeleton rows={10} />
			) : account.isError ? (
				<Failure error={account.error} retry={() => void account.refetch()} />
			) : (
				<Forms account={account.data} />
			)}
		</Page>
	);
}

/** Concern is a form of its own, with its own Save. */
function SettingsCard<T extends { [field: string]: string | boolean }>({
	kind,
	account,
	title,
	description,
	valuesOf,
	names,
	body,
	children,
}: {
	/** Of its working copy. */
	kind: string;
	account: AccountSessionView;
	title: string;
	description?: string;
	valuesOf: (account: AccountSessionView) => T;
	names: { [F in keyof T]: string };
	body: (values: T) => UpdateAccountRequestBody;
	children: (
		form: ReturnType<typeof useDraftForm<T>>,
		text: (field: keyof T & string, label: string, help?: string) => ReactNode,
		readOnly: boolean,
	) => ReactNode;
}) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("PUT /settings/account");
	const form = useDraftForm(valuesOf(account), {
		kind,
		id: account.tenant_id,
		title,
		canEdit: !disabledReason,
		read: async () => {
			const response = await request("GET /settings/account", {});
			return { values: valuesOf(response.data), revision: response.revision };
		},
		names,
	});
	const send = () =>
		form.submit(async (values, revision) => {
			const saved = await api("PUT /settings/account", { body: body(values), revision });
			client.setQueryData(accountQuery().queryKey, saved);
			void client.invalidateQueries(within("session"));
			toast(words.saved);
		});
	const text = (field: keyof T & string, label: string, help?: string) => (
		<TextField
			key={field}
			label={label}
			help={help}
			path={field}
			value={String(form.values[field])}
			readOnly={disabledReason !== undefined}
			error={form.problems.byPath[field]}
			autoComplete="off"
			onChange={(value) => form.set({ [field]: value } as Partial<T>)}
		/>
	);
	return (
		<Card title={title}>
			<form
				noValidate
				style={{ display: "flex", flexDirection: "column", gap: 16 }}
				onSubmit={(event) => {
					event.preventDefault();
					if (!disabledReason) void send();
				}}
			>
				{description && <p>{description}</p>}
				<RestoredCallout form={form} />
				<FormProblems problems={form.problems} />
				{children(form, text, disabledReason !== undefined)}
				<div>
					<Button type="submit" busy={form.busy} disabledReason={disabledReason}>
						{words.save}
					</Button>
				</div>
			</form>
		</Card>
	);
}

/** zones are the names of time zones. */
export const zones =
	typeof Intl.supportedValuesOf === "function" ? ["UTC", ...Intl.supportedValuesOf("timeZone")] : ["UTC"];

function Forms({ account }: { account: AccountSessionView }) {
	const types = useCollection("email_types");
	const lanes = useCollection("mta_configs");
	const senders = useCollection("sending_identities");
	return (
		<>
			<SettingsCard
				kind="account_who"
				account={account}
				title={words.who}
				valuesOf={(account) => ({
					name: account.name,
					website_url: account.website_url ?? "",
					logo_url: account.logo_url ?? "",
					timezone: account.timezone,
					locale: account.locale,
					currency_code: account.currency_code,
				})}
				names={{
					name: words.name,
					website_url: words.website,
					logo_url: words.logo,
					timezone: words.zone,
					locale: words.locale,
					currency_code: words.currency,
				}}
				body={(values) => ({ ...values, website_url: values.website_url || null, logo_url: values.logo_url || null })}
			>
				{(form, text, readOnly) => (
					<Columns>
						{text("name", words.name)}
						{text("website_url", words.website)}
						{text("logo_url", words.logo, words.logoHelp)}
						<Combo
							label={words.zone}
							help={words.zoneHelp}
							options={zones.map((zone) => ({ id: zone, label: zone }))}
							value={form.values.timezone}
							onChange={(value) => value && form.set({ timezone: value })}
							error={form.problems.byPath.timezone}
						/>
						<CodeField
							kind="language"
							label={words.locale}
							path="locale"
							value={form.values.locale}
							readOnly={readOnly}
							onChange={(locale) => form.set({ locale })}
							error={form.problems.byPath.locale}
						/>
						<CodeField
							kind="currency"
							label={words.currency}
							path="currency_code"
							value={form.values.currency_code}
							readOnly={readOnly}
							onChange={(currency_code) => form.set({ currency_code })}
							error={form.problems.byPath.currency_code}
						/>
					</Columns>
				)}
			</SettingsCard>
			<SettingsCard
				kind="account_address"
				account={account}
				title={words.address}
				description={words.addressHelp}
				valuesOf={({ postal_address }) => ({
					"postal_address.line1": postal_address.line1 ?? "",
					"postal_address.line2": postal_address.line2 ?? "",
					"postal_address.postal_code": postal_address.postal_code ?? "",
					"postal_address.city": postal_address.city ?? "",
					"postal_address.state": postal_address.state ?? "",
					"postal_address.country": postal_address.country ?? "",
				})}
				names={{
					"postal_address.line1": words.line1,
					"postal_address.line2": words.line2,
					"postal_address.postal_code": words.postal,
					"postal_address.city": words.city,
					"postal_address.state": words.state,
					"postal_address.country": words.country,
				}}
				body={(values) => ({
					postal_address: Object.fromEntries(
						Object.entries(values).map(([key, value]) => [key.slice("postal_address.".length), value || null]),
					),
				})}
			>
				{(form, text, readOnly) => (
					<Columns>
						{text("postal_address.line1", words.line1)}
						{text("postal_address.line2", words.line2)}
						{text("postal_address.postal_code", words.postal)}
						{text("postal_address.city", words.city)}
						{text("postal_address.state", words.state)}
						<CodeField
							kind="country"
							label={words.country}
							path="postal_address.country"
							value={form.values["postal_address.country"]}
							readOnly={readOnly}
							onChange={(code) => form.set({ "postal_address.country": code })}
							error={form.problems.byPath["postal_address.country"]}
						/>
					</Columns>
				)}
			</SettingsCard>
			<SettingsCard
				kind="account_defaults"
				account={account}
				title={words.defaults}
				valuesOf={(account) => ({
					default_email_type_key: account.default_email_type_key ?? "",
					default_mta_config_key: account.default_mta_config_key ?? "",
					default_sending_identity_email: account.default_sending_identity_email ?? "",
				})}
				names={{
					default_email_type_key: words.type,
					default_mta_config_key: words.mta,
					default_sending_identity_email: words.sender,
				}}
				body={(module) => Object.fromEntries(Object.entries(module).map(([key, value]) => [key, value || null]))}
			>
				{(form) => (
					<Columns>
						<Select
							label={words.type}
							value={form.values.default_email_type_key}
							onChange={(value) => form.set({ default_email_type_key: value })}
							choices={[
								{ value: "", label: words.none },
								...(types.data?.data ?? []).map((emailType) => ({
									value: emailType.type_key,
									label: emailType.display_name,
								})),
							]}
							error={form.problems.byPath.default_email_type_key}
						/>
						<Select
							label={words.mta}
							value={form.values.default_mta_config_key}
							onChange={(value) => form.set({ default_mta_config_key: value })}
							choices={[
								{ value: "", label: words.none },
								...(lanes.data?.data ?? []).map((lane) => ({ value: lane.key, label: lane.name })),
							]}
							error={form.problems.byPath.default_mta_config_key}
						/>
						<Select
							label={words.sender}
							value={form.values.default_sending_identity_email}
							onChange={(value) => form.set({ default_sending_identity_email: value })}
							choices={[
								{ value: "", label: words.none },
								...(senders.data?.data ?? []).map((sender) => ({
									value: sender.email_address,
									label: sender.email_address,
								})),
							]}
							error={form.problems.byPath.default_sending_identity_email}
						/>
					</Columns>
				)}
			</SettingsCard>
			<SettingsCard
				kind="account_leaving"
				account={account}
				title={words.unsubscribing}
				valuesOf={(account) => ({
					unsubscribe_scope: account.unsubscribe_scope as string,
					double_opt_in_default: account.double_opt_in_default,
				})}
				names={{ unsubscribe_scope: words.scope, double_opt_in_default: words.opt }}
				body={(values) => values}
			>
				{(form) => (
					<>
						<Select
							label={words.scope}
							value={form.values.unsubscribe_scope}
							onChange={(value) => form.set({ unsubscribe_scope: value })}
							choices={[
								{ value: "type", label: words.scopeType },
								{ value: "global", label: words.scopeGlobal },
							]}
						/>
						<Switch
							label={words.opt}
							checked={form.values.double_opt_in_default}
							onChange={(checked) => form.set({ double_opt_in_default: checked })}
						/>
					</>
				)}
			</SettingsCard>
			<DeleteWorkspace account={account} />
		</>
	);
}

function DeleteWorkspace({ account }: { account: AccountSessionView }) {
	const workspace = useWorkspace();
	const disabledReason = useDisabledReason("DELETE /settings/account");
	const [asking, setAsking] = useState(false);
	const remove = useMutation({
		mutationFn: () => api("DELETE /settings/account", { body: { confirm_slug: workspace?.tenant_slug ?? "" } }),
		onSuccess: () => {
			toast(words.deleted);
			location.assign(outside.workspaces);
		},
	});
	return (
		<Card title={words.danger} tone="danger">
			<p>{words.dangerText}</p>
			<div>
				<Button variant="danger" disabledReason={disabledReason} onClick={() => setAsking(true)}>
					{words.remove}
				</Button>
			</div>
			{asking && (
				<Confirm
					title={words.removeTitle({ name: account.name })}
					action={words.remove}
					type={account.slug}
					busy={remove.isPending}
					error={remove.error && <p role="alert">{explain(remove.error)}</p>}
					onConfirm={() => remove.mutate()}
					onClose={() => setAsking(false)}
				>
					<p>{words.dangerText}</p>
				</Confirm>
			)}
		</Card>
	);
}
