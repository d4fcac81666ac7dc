import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client";
import type { AccountSessionView } from "../../api/schema";
import { useDisabledReason } from "../../base/session";
import { CodeField } from "../../ui/CodeField";
import { Dialog } from "../../ui/Dialog";
import { Columns, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { within } from "../../base/queries";
import { accountQuery } from "../settings/queries";

const words = catalogue("broadcasts.addressDrawer", {
	title: "Postal address of this workspace",
	about: "It appears below every email. Many laws require it.",
	line1: "Street or PO box",
	line2: "Address line 2",
	postal_code: "Postal code",
	city: "City",
	state: "State or region",
	country: "Country",
	save: "Save",
});

const fields = ["line1", "line2", "postal_code", "city", "state", "country"] as const;

/** AddressDrawer asks for the account's postal address without leaving the draft. */
export function AddressDrawer({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
	const account = useQuery(accountQuery());
	if (!account.data) {
		return (
			<Dialog drawer="narrow" title={words.title} onClose={onClose}>
				<Skeleton rows={6} />
			</Dialog>
		);
	}
	return <AddressForm account={account.data} onClose={onClose} onDone={onDone} />;
}

function AddressForm({
	account,
	onClose,
	onDone,
}: {
	account: AccountSessionView;
	onClose: () => void;
	onDone: () => void;
}) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("PUT /settings/account");
	const address = account.postal_address as { [field: string]: string | null };
	const form = useForm(Object.fromEntries(fields.map((field) => [`postal_address.${field}`, address[field] ?? ""])));
	const send = () =>
		form.submit(async () => {
			await api("PUT /settings/account", {
				body: {
					postal_address: Object.fromEntries(
						fields.map((field) => [field, form.values[`postal_address.${field}`] || null]),
					),
				},
			});
			void client.invalidateQueries(within("account"));
			onDone();
		});
	const field = (field: (typeof fields)[number]) => {
		const path = `postal_address.${field}`;
		return (
			<TextField
				label={words[field]}
				path={path}
				value={form.values[path] ?? ""}
				onChange={(value) => form.set({ [path]: value })}
				error={form.problems.byPath[path]}
			/>
		);
	};
	return (
		<Dialog
			drawer="narrow"
			title={words.title}
			onClose={onClose}
			onSubmit={() => !disabledReason && void send()}
			submit={{ label: words.save, busy: form.busy, disabledReason }}
		>
			<p>{words.about}</p>
			<FormProblems problems={form.problems} />
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
					value={form.values["postal_address.country"] ?? ""}
					onChange={(code) => form.set({ "postal_address.country": code })}
					error={form.problems.byPath["postal_address.country"]}
				/>
			</Columns>
		</Dialog>
	);
}
