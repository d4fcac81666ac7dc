import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api } from "../../api/client";
import type { Contact, UpdateContactRequestBody } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useDisabledReason } from "../../base/session";
import { CodeField } from "../../ui/CodeField";
import { Combo } from "../../ui/Combo";
import { Columns, Select, Switch, TextField } from "../../ui/Field";
import { Card, Facts, Callout } from "../../ui/Page";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { number } from "../../base/words/formats";
import { explain, fieldSentenceOf } from "../../base/words/errors";
import { ofContacts, within } from "../../base/queries";

const words = catalogue("contacts.profile", {
	person: "Person",
	address: "Address",
	own: "Custom fields",
	first: "Origin",
	numbers: "Emails",
	email: "Email",
	first_name: "First name",
	last_name: "Last name",
	title: "Job title",
	company: "Company",
	phone: "Phone",
	website: "Website",
	external_id: "External ID",
	address_line1: "Address line 1",
	address_line2: "Address line 2",
	city: "City",
	state: "State or region",
	postal_code: "Postal code",
	country: "Country",
	timezone: "Time zone",
	stage: "Stage",
	noStage: "None",
	tags: "Tags",
	dnc: "Do not contact",
	dncHelp: "No email of any kind is sent while this is on.",
	saved: "Saved",
	duplicate: "Another contact has this address.",
	source: "Source",
	form: "Form {name}",
	touch: "First visit",
	campaign: "Campaign",
	landing: "Landing page",
	sent: "Sent",
	opened: "Opened",
	clicked: "Clicked",
	score: "Prospect score",
	yes: "Yes",
	no: "No",
	notSet: "Not set",
});

type Key = keyof UpdateContactRequestBody & keyof Contact;

const person: Key[] = ["email", "first_name", "last_name", "title", "company", "phone", "website", "external_id"];
const address: Key[] = ["address_line1", "address_line2", "city", "state", "postal_code", "country", "timezone"];

/** Profile shows the fields of a contact. Each is saved by itself when it is left. */
export function Profile({
	contact,
	readOnly,
	onSaved,
}: {
	contact: Contact;
	readOnly: boolean;
	onSaved: (contact: Contact) => void;
}) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("PUT /contacts/{id}");
	const off = readOnly || disabledReason !== undefined;
	const [problems, setProblems] = useState<{ [path: string]: string }>({});
	const stages = useCollection("stages");
	const custom = useCollection("custom_fields");
	// A form is called by its name; one that was deleted by its key.
	const form = contact.source?.startsWith("form:") ? contact.source.slice("form:".length) : "";
	const forms = useCollection("forms", { enabled: form !== "" });
	const source = form
		? words.form({ name: forms.data?.data.find((f) => f.slug === form)?.name ?? form })
		: contact.source;
	const save = useMutation({
		mutationFn: (variables: { path: string; name?: string; body: UpdateContactRequestBody }) =>
			api("PUT /contacts/{id}", { path: { id: contact.id }, body: variables.body }),
		onSuccess: (next, variables) => {
			setProblems((previous) => ({ ...previous, [variables.path]: "" }));
			onSaved(next);
			void client.invalidateQueries(ofContacts());
			void client.invalidateQueries(within("contact", contact.id));
		},
		onError: (error, v) => {
			const problem =
				error instanceof ApiError && error.code === "DUPLICATE_EMAIL"
					? words.duplicate
					: error instanceof ApiError && error.fields[0]
						? fieldSentenceOf(error, error.fields[0], v.name)
						: explain(error);
			setProblems((previous) => ({ ...previous, [v.path]: problem }));
		},
	});
	const nameOf = (field: Key) => (words as unknown as { [key: string]: string })[field] ?? field;
	const text = (field: Key) =>
		field === "country" || field === "timezone" ? (
			<CodeField
				key={field}
				kind={field === "country" ? "country" : "zone"}
				label={nameOf(field)}
				value={String(contact[field] ?? "")}
				readOnly={off}
				error={problems[field] || undefined}
				onChange={(value) => save.mutate({ path: field, name: nameOf(field), body: { [field]: value || null } })}
			/>
		) : (
			<Saved
				key={field}
				label={nameOf(field)}
				value={String(contact[field] ?? "")}
				readOnly={off}
				error={problems[field]}
				onSave={(v) => save.mutate({ path: field, name: nameOf(field), body: { [field]: v || null } })}
			/>
		);
	return (
		<>
			{disabledReason && <Callout>{disabledReason}</Callout>}
			<Card title={words.person}>
				<Columns>{person.map((field) => text(field))}</Columns>
				<Columns>
					<Select
						label={words.stage}
						value={contact.stage_id ?? ""}
						disabled={off}
						onChange={(stage_id) => save.mutate({ path: "stage_id", body: { stage_id: stage_id || null } })}
						choices={[
							{ value: "", label: words.noStage },
							...(stages.data?.data ?? []).map((stage) => ({ value: stage.id, label: stage.name })),
						]}
					/>
				</Columns>
				<Switch
					label={words.dnc}
					help={words.dncHelp}
					checked={contact.do_not_contact}
					disabledReason={disabledReason}
					onChange={(do_not_contact) => save.mutate({ path: "do_not_contact", body: { do_not_contact } })}
				/>
			</Card>
			<Card title={words.address}>
				<Columns>{address.map((field) => text(field))}</Columns>
			</Card>
			{(custom.data?.data.length ?? 0) > 0 && (
				<Card title={words.own}>
					<Columns>
						{custom.data?.data.map((field) => {
							const path = `custom_fields.${field.field_key}`;
							const value = contact.custom_fields[field.field_key];
							const saveField = (value: unknown) =>
								save.mutate({ path, name: field.name, body: { custom_fields: { [field.field_key]: value } } });
							if (field.field_type === "boolean") {
								return (
									<Select
										key={field.id}
										label={field.name}
										disabled={off}
										value={value === true ? "true" : value === false ? "false" : ""}
										onChange={(value) => saveField(value === "" ? null : value === "true")}
										choices={[
											{ value: "", label: words.notSet },
											{ value: "true", label: words.yes },
											{ value: "false", label: words.no },
										]}
									/>
								);
							}
							if (field.field_type === "enum" && field.enum_values && !off) {
								return (
									<Combo
										key={field.id}
										label={field.name}
										allowsCustomValue={field.value_constraint === "open"}
										options={field.enum_values.map((item) => ({ id: item, label: item }))}
										value={value === null || value === undefined ? null : String(value)}
										onChange={saveField}
										error={problems[path]}
									/>
								);
							}
							const numeric = field.field_type === "number" || field.field_type === "currency";
							return (
								<Saved
									key={field.id}
									label={field.name}
									type={numeric ? "number" : field.field_type === "date" ? "date" : "text"}
									value={
										Array.isArray(value) ? value.join(", ") : value === null || value === undefined ? "" : String(value)
									}
									readOnly={off}
									error={problems[path]}
									onSave={(v) =>
										saveField(
											v === ""
												? null
												: numeric
													? Number(v)
													: field.field_type === "tags"
														? v
																.split(",")
																.map((text) => text.trim())
																.filter(Boolean)
														: v,
										)
									}
								/>
							);
						})}
					</Columns>
				</Card>
			)}
			<Card title={words.numbers}>
				<Facts
					rows={[
						[words.sent, number(contact.total_emails_sent)],
						[words.opened, number(contact.total_emails_opened)],
						[words.clicked, number(contact.total_emails_clicked)],
						[words.score, number(contact.prospect_score)],
					]}
				/>
			</Card>
			<Card title={words.first}>
				<Facts
					rows={[
						[words.source, source],
						[words.touch, contact.first_touch_at && <Time key="t" at={contact.first_touch_at} />],
						[words.campaign, contact.first_touch_campaign],
						[words.landing, contact.first_touch_landing_url],
					]}
				/>
			</Card>
		</>
	);
}

/** Saved is a field that saves itself when it is left, or on Enter. What the server refuses stays in it. */
function Saved({
	label,
	value,
	type = "text",
	readOnly,
	error,
	onSave,
}: {
	label: string;
	value: string;
	type?: string;
	readOnly: boolean;
	error?: string;
	onSave: (value: string) => void;
}) {
	const [text, setText] = useState<string | null>(null);
	const commit = () => {
		if (text !== null && text.trim() !== value) onSave(text.trim());
		else setText(null);
	};
	const shown = text !== null && (error || text.trim() !== value) ? text : value;
	return (
		<TextField
			label={label}
			type={type}
			value={shown}
			readOnly={readOnly}
			error={error || undefined}
			autoComplete="off"
			onChange={setText}
			onBlur={commit}
			onKeyDown={(event) => {
				if (event.key === "Enter") commit();
				if (event.key === "Escape") setText(null);
			}}
		/>
	);
}
