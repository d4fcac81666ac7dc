import { useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { api } from "../../api/client";
import type { AccountSessionView } from "../../api/schema";
import { useDisabledReason } from "../../base/session";
import { zones } from "../settings/Account";
import { CodeField } from "../../ui/CodeField";
import { Combo } from "../../ui/Combo";
import { DrawerAction } from "../../ui/DrawerAction";
import { Columns, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { catalogue } from "../../base/words/catalogue";
import { useSetupChanged } from "./Setup";
import { within } from "../../base/queries";
import { accountQuery } from "../settings/queries";

const words = catalogue("home.accountStep", {
	name: "Name",
	nameHelp: "Of your company or team.",
	zone: "Time zone",
	zoneHelp: "Days in plans, reports and rules start at midnight in this time zone.",
	why: "The postal address appears below every email. Most countries require it in commercial email, so that recipients know who wrote to them.",
	line1: "Street or PO box",
	line2: "Address line 2",
	postal_code: "Postal code",
	city: "City",
	state: "State or region",
	country: "Country",
	save: "Save",
});

/** AccountStep asks for name, time zone and postal address of the account. */
export function AccountStep({ account }: { account: AccountSessionView }) {
	const client = useQueryClient();
	const changed = useSetupChanged();
	const disabledReason = useDisabledReason("PUT /settings/account");
	const localTimezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
	const address = account.postal_address as { [field: string]: string | null };
	const parts = ["line1", "line2", "postal_code", "city", "state", "country"] as const;
	const empty = parts.every((part) => !address[part]);
	const id = useId();
	const form = useForm({
		name: account.name,
		// A new account is in UTC until somebody says where it is.
		timezone: empty && account.timezone === "UTC" && zones.includes(localTimezone) ? localTimezone : account.timezone,
		...(Object.fromEntries(parts.map((part) => [`postal_address.${part}`, address[part] ?? ""])) as {
			[path: string]: string;
		}),
	});
	const values = form.values as { [path: string]: string };
	const save = () =>
		form.submit(async () => {
			const saved = await api("PUT /settings/account", {
				body: {
					name: values.name,
					timezone: values.timezone,
					postal_address: Object.fromEntries(parts.map((part) => [part, values[`postal_address.${part}`] || null])),
				},
			});
			client.setQueryData(accountQuery().queryKey, saved);
			await changed();
			void client.invalidateQueries(within("session"));
		});
	const field = (field: (typeof parts)[number]) => {
		const path = `postal_address.${field}`;
		return (
			<TextField
				label={words[field]}
				path={path}
				readOnly={Boolean(disabledReason)}
				value={values[path] ?? ""}
				onChange={(value) => form.set({ [path]: value })}
				error={form.problems.byPath[path]}
			/>
		);
	};
	return (
		<form
			id={id}
			noValidate
			style={{ display: "contents" }}
			onSubmit={(event) => {
				event.preventDefault();
				if (!disabledReason) void save();
			}}
		>
			<FormProblems problems={form.problems} />
			<TextField
				label={words.name}
				help={words.nameHelp}
				path="name"
				readOnly={Boolean(disabledReason)}
				value={values.name ?? ""}
				onChange={(name) => form.set({ name })}
				error={form.problems.byPath.name}
			/>
			<Combo
				label={words.zone}
				help={words.zoneHelp}
				options={zones.map((zone) => ({ id: zone, label: zone }))}
				value={values.timezone ?? null}
				onChange={(value) => value && form.set({ timezone: value })}
				error={form.problems.byPath.timezone}
			/>
			<p>{words.why}</p>
			{field("line1")}
			{field("line2")}
			<Columns>
				{field("postal_code")}
				{field("city")}
			</Columns>
			<Columns>
				{field("state")}
				<CodeField
					kind="country"
					label={words.country}
					path="postal_address.country"
					readOnly={Boolean(disabledReason)}
					value={values["postal_address.country"] ?? ""}
					onChange={(code) => form.set({ ["postal_address.country" as string]: code })}
					error={form.problems.byPath["postal_address.country"]}
				/>
			</Columns>
			<DrawerAction form={id} busy={form.busy} disabledReason={disabledReason}>
				{words.save}
			</DrawerAction>
		</form>
	);
}
