import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, newKey } from "../../api/client";
import { useDisabledReason } from "../../base/session";
import { LinkButton } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Columns, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { Callout } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { ofContacts } from "../../base/queries";
import { to } from "../../base/paths";

const words = catalogue("contacts.addContact", {
	title: "Add contact",
	email: "Email",
	first: "First name",
	last: "Last name",
	company: "Company",
	tags: "Tags",
	tagsHelp: "Separated by commas.",
	add: "Add contact",
	exists: "A contact with this address already exists.",
	open: "Open contact",
});

/** AddContact is a drawer with the fields of a new contact. */
export function AddContact({ onClose, onAdded }: { onClose: () => void; onAdded: (id: string) => void }) {
	const form = useForm({ email: "", first_name: "", last_name: "", company: "", tags: "" });
	const [other, setOther] = useState<string | null>(null);
	const [idempotencyKey] = useState(newKey);
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /contacts");
	const values = form.values;
	const send = () =>
		form.submit(async () => {
			setOther(null);
			try {
				const added = await api("POST /contacts", {
					idempotencyKey,
					body: {
						email: values.email.trim(),
						first_name: values.first_name || null,
						last_name: values.last_name || null,
						company: values.company || null,
						tags: values.tags
							.split(",")
							.map((text) => text.trim())
							.filter(Boolean),
					},
				});
				void client.invalidateQueries(ofContacts());
				onAdded(added.id);
			} catch (error) {
				if (error instanceof ApiError && error.code === "DUPLICATE_EMAIL") {
					const existing = await api("GET /contacts/lookup", { query: { email: values.email.trim() } }).catch(
						() => null,
					);
					if (existing) {
						setOther(existing.id);
						return;
					}
				}
				throw error;
			}
		});
	return (
		<Dialog
			drawer="narrow"
			title={words.title}
			onClose={onClose}
			onSubmit={() => void send()}
			submit={{ label: words.add, busy: form.busy, disabledReason }}
		>
			<FormProblems problems={form.problems} />
			{other && (
				<Callout tone="warning" title={words.exists}>
					<LinkButton small to={to.contact(other)}>
						{words.open}
					</LinkButton>
				</Callout>
			)}
			<TextField
				label={words.email}
				type="email"
				path="email"
				value={values.email}
				onChange={(email) => form.set({ email })}
				error={form.problems.byPath.email}
				autoFocus
				autoComplete="off"
			/>
			<Columns>
				<TextField
					label={words.first}
					optional
					path="first_name"
					value={values.first_name}
					onChange={(first_name) => form.set({ first_name })}
					error={form.problems.byPath.first_name}
					autoComplete="off"
				/>
				<TextField
					label={words.last}
					optional
					path="last_name"
					value={values.last_name}
					onChange={(last_name) => form.set({ last_name })}
					error={form.problems.byPath.last_name}
					autoComplete="off"
				/>
			</Columns>
			<TextField
				label={words.company}
				optional
				path="company"
				value={values.company}
				onChange={(company) => form.set({ company })}
				error={form.problems.byPath.company}
				autoComplete="off"
			/>
			<TextField
				label={words.tags}
				optional
				path="tags"
				help={words.tagsHelp}
				value={values.tags}
				onChange={(tags) => form.set({ tags })}
				error={form.problems.byPath.tags}
				autoComplete="off"
			/>
		</Dialog>
	);
}
