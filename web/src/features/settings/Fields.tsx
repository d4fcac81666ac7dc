import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, newKey } from "../../api/client";
import type { CustomFieldRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useDisabledReason } from "../../base/session";
import { Button } from "../../ui/Button";
import { Confirm, Dialog } from "../../ui/Dialog";
import { Checkbox, Select, TextArea, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { List } from "../../ui/List";
import { Callout, Page } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { within } from "../../base/queries";
import { fieldUseQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("settings.fields", {
	title: "Custom fields",
	settings: "Settings",
	about: "What you know about contacts besides name and address: a plan, a birthday, a shop.",
	add: "New field",
	name: "Name",
	key: "Key",
	keyHelp: "Templates and programs use it: custom_fields.KEY. It cannot be changed later.",
	type: "Type",
	types: {
		string: "Text",
		number: "Number",
		boolean: "Yes or no",
		date: "Date",
		datetime: "Date and time",
		time: "Time of day",
		enum: "Choice",
		tags: "Tags",
		email: "Email",
		url: "URL",
		timezone: "Time zone",
		country: "Country",
		currency: "Amount of money",
		contact: "Another contact",
	},
	choices: "Choices, one per line",
	strict: "Accept only these choices",
	currency: "Currency",
	create: "Create",
	remove: "Delete",
	removeTitle: "Delete field {name}?",
	removeText: "All contacts lose their value.",
	usedBy: "This field is in use",
	uses: {
		contacts: "{count, plural, one {# contact} other {# contacts}}",
		segments: "{count, plural, one {# segment} other {# segments}}",
		saved_filters: "{count, plural, one {# saved filter} other {# saved filters}}",
		automations: "{count, plural, one {# automation} other {# automations}}",
		sequences: "{count, plural, one {# sequence} other {# sequences}}",
		forms: "{count, plural, one {# form} other {# forms}}",
	},
	empty: "No custom fields yet",
	emptyText: "A field, such as “Plan”, can be used in segments, forms and emails.",
});

/** How a template names a field. */
const example = `Your plan is {{ contact.custom_fields.plan | default: "Free" }}.`;

/** Fields lists the workspace's own fields of contacts. */
export default function Fields() {
	const disabledReason = useDisabledReason("POST /settings/custom-fields");
	const [adding, setAdding] = useState(false);
	const [removing, setRemoving] = useState<CustomFieldRow | null>(null);
	const fields = useCollection("custom_fields");
	const rows = fields.data?.data ?? [];
	const add = (
		<Button kind="create" disabledReason={disabledReason} onClick={() => setAdding(true)}>
			{words.add}
		</Button>
	);
	return (
		<Page
			title={words.title}
			breadcrumbs={[{ name: words.settings, to: to.settings() }]}
			description={words.about}
			actions={(!fields.isSuccess || rows.length > 0) && add}
		>
			{fields.isPending ? (
				<Skeleton rows={4} />
			) : fields.isError ? (
				<Failure error={fields.error} retry={() => void fields.refetch()} />
			) : rows.length === 0 ? (
				<Empty title={words.empty} action={add} example={<pre>{example}</pre>}>
					{words.emptyText}
				</Empty>
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(field) => field.id}
					columns={[
						{ id: "name", name: words.name, cell: (field) => <b>{field.name}</b> },
						{ id: "key", name: words.key, cell: (field) => <code>{field.field_key}</code> },
						{ id: "type", name: words.type, cell: (field) => words.types[field.field_type] },
						{
							id: "actions",
							name: "",
							end: true,
							cell: (field) => (
								<Button small variant="quiet" disabledReason={disabledReason} onClick={() => setRemoving(field)}>
									{words.remove}
								</Button>
							),
						},
					]}
				/>
			)}
			{adding && <AddField onClose={() => setAdding(false)} />}
			{removing && <Remove field={removing} onClose={() => setRemoving(null)} />}
		</Page>
	);
}

/** AddField creates a custom field in a drawer. */
export function AddField({
	name = "",
	onClose,
	onAdded,
}: {
	name?: string;
	onClose: () => void;
	onAdded?: (field: CustomFieldRow) => void;
}) {
	const client = useQueryClient();
	const [idempotencyKey] = useState(newKey);
	const form = useForm({ name, field_key: "", field_type: "string", enum_values: "", strict: true, currency_code: "" });
	const values = form.values;
	const problems = form.problems.byPath;
	const derived = values.name
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, "_")
		.replace(/^_+|_+$/g, "");
	const send = () =>
		form.submit(async () => {
			const added = await api("POST /settings/custom-fields", {
				idempotencyKey,
				body: {
					name: values.name,
					field_key: values.field_key || derived,
					field_type: values.field_type,
					...(values.field_type === "enum" && {
						enum_values: values.enum_values
							.split("\n")
							.map((column) => column.trim())
							.filter(Boolean),
						value_constraint: values.strict ? "strict" : "open",
					}),
					...(values.field_type === "currency" && { currency_code: values.currency_code || null }),
				},
			});
			await client.invalidateQueries(within("custom_fields"));
			onAdded?.(added);
			onClose();
		});
	return (
		<Dialog
			drawer="narrow"
			title={words.add}
			onClose={onClose}
			onSubmit={() => void send()}
			submit={{ label: words.create, busy: form.busy }}
		>
			<FormProblems problems={form.problems} />
			<TextField
				label={words.name}
				path="name"
				value={values.name}
				onChange={(name) => form.set({ name })}
				error={problems.name}
				autoFocus
			/>
			<Select
				label={words.type}
				value={values.field_type}
				onChange={(field_type) => form.set({ field_type })}
				choices={Object.entries(words.types).map(([value, label]) => ({ value, label }))}
				error={problems.field_type}
			/>
			<TextField
				label={words.key}
				help={words.keyHelp}
				path="field_key"
				value={values.field_key || derived}
				onChange={(field_key) => form.set({ field_key })}
				error={problems.field_key}
			/>
			{values.field_type === "enum" && (
				<>
					<TextArea
						label={words.choices}
						path="enum_values"
						value={values.enum_values}
						onChange={(enum_values) => form.set({ enum_values })}
						error={problems.enum_values}
					/>
					<Checkbox label={words.strict} checked={values.strict} onChange={(strict) => form.set({ strict })} />
				</>
			)}
			{values.field_type === "currency" && (
				<TextField
					label={words.currency}
					path="currency_code"
					value={values.currency_code}
					onChange={(currency_code) => form.set({ currency_code })}
					error={problems.currency_code}
					maxLength={3}
				/>
			)}
		</Dialog>
	);
}

function Remove({ field, onClose }: { field: CustomFieldRow; onClose: () => void }) {
	const client = useQueryClient();
	const usage = useQuery(fieldUseQuery(field.id));
	const used = Object.entries(usage.data?.usage ?? {}).filter(([, count]) => count > 0);
	const remove = useMutation({
		mutationFn: () => api("DELETE /settings/custom-fields/{id}", { path: { id: field.id } }),
		onSuccess: () => {
			void client.invalidateQueries(within("custom_fields"));
			onClose();
		},
	});
	return (
		<Confirm
			title={words.removeTitle({ name: field.name })}
			action={words.remove}
			type={field.field_key}
			busy={remove.isPending}
			error={
				remove.error && (
					<p role="alert">{remove.error instanceof ApiError ? explain(remove.error) : String(remove.error)}</p>
				)
			}
			onConfirm={() => remove.mutate()}
			onClose={onClose}
		>
			<p>{words.removeText}</p>
			{used.length > 0 && (
				<Callout tone="warning" title={words.usedBy}>
					{used.map(([kind, count]) => words.uses[kind as keyof typeof words.uses]?.({ count }) ?? kind).join(", ")}
				</Callout>
			)}
		</Confirm>
	);
}
