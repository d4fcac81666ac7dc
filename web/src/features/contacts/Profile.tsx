import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api } from "../../api/client";
import type { Contact, UpdateContactRequestBody } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useWhyNot } from "../../base/session";
import { CodeField } from "../../ui/CodeField";
import { Combo } from "../../ui/Combo";
import { Columns, Select, Switch, TextField } from "../../ui/Field";
import { Card, Facts, Callout } from "../../ui/Page";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { number } from "../../base/words/formats";
import { explain, fieldSentenceOf } from "../../base/words/errors";
import { within } from "../../base/queries";

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
	contact: c,
	readOnly,
	onSaved,
}: {
	contact: Contact;
	readOnly: boolean;
	onSaved: (c: Contact) => void;
}) {
	const client = useQueryClient();
	const why = useWhyNot("PUT /contacts/{id}");
	const off = readOnly || why !== undefined;
	const [problems, setProblems] = useState<{ [path: string]: string }>({});
	const stages = useCollection("stages");
	const custom = useCollection("custom_fields");
	// A form is called by its name; one that was deleted by its key.
	const form = c.source?.startsWith("form:") ? c.source.slice("form:".length) : "";
	const forms = useCollection("forms", { enabled: form !== "" });
	const source = form ? words.form({ name: forms.data?.data.find((f) => f.slug === form)?.name ?? form }) : c.source;
	const save = useMutation({
		mutationFn: (v: { path: string; name?: string; body: UpdateContactRequestBody }) =>
			api("PUT /contacts/{id}", { path: { id: c.id }, body: v.body }),
		onSuccess: (next, v) => {
			setProblems((p) => ({ ...p, [v.path]: "" }));
			onSaved(next);
			void client.invalidateQueries(within("contacts"));
			void client.invalidateQueries(within("contact", c.id));
		},
		onError: (e, v) => {
			const found =
				e instanceof ApiError && e.code === "DUPLICATE_EMAIL"
					? words.duplicate
					: e instanceof ApiError && e.fields[0]
						? fieldSentenceOf(e, e.fields[0], v.name)
						: explain(e);
			setProblems((p) => ({ ...p, [v.path]: found }));
		},
	});
	const nameOf = (field: Key) => (words as unknown as { [f: string]: string })[field] ?? field;
	const text = (field: Key) =>
		field === "country" || field === "timezone" ? (
			<CodeField
				key={field}
				of={field === "country" ? "country" : "zone"}
				label={nameOf(field)}
				value={String(c[field] ?? "")}
				readOnly={off}
				error={problems[field] || undefined}
				onChange={(v) => save.mutate({ path: field, name: nameOf(field), body: { [field]: v || null } })}
			/>
		) : (
			<Saved
				key={field}
				label={nameOf(field)}
				value={String(c[field] ?? "")}
				readOnly={off}
				error={problems[field]}
				onSave={(v) => save.mutate({ path: field, name: nameOf(field), body: { [field]: v || null } })}
			/>
		);
	return (
		<>
			{why && <Callout>{why}</Callout>}
			<Card title={words.person}>
				<Columns>{person.map((f) => text(f))}</Columns>
				<Columns>
					<Select
						label={words.stage}
						value={c.stage_id ?? ""}
						disabled={off}
						onChange={(stage_id) => save.mutate({ path: "stage_id", body: { stage_id: stage_id || null } })}
						choices={[
							{ value: "", label: words.noStage },
							...(stages.data?.data ?? []).map((s) => ({ value: s.id, label: s.name })),
						]}
					/>
				</Columns>
				<Switch
					label={words.dnc}
					help={words.dncHelp}
					checked={c.do_not_contact}
					why={why}
					onChange={(do_not_contact) => save.mutate({ path: "do_not_contact", body: { do_not_contact } })}
				/>
			</Card>
			<Card title={words.address}>
				<Columns>{address.map((f) => text(f))}</Columns>
			</Card>
			{(custom.data?.data.length ?? 0) > 0 && (
				<Card title={words.own}>
					<Columns>
						{custom.data?.data.map((f) => {
							const path = `custom_fields.${f.field_key}`;
							const value = c.custom_fields[f.field_key];
							const put = (v: unknown) =>
								save.mutate({ path, name: f.name, body: { custom_fields: { [f.field_key]: v } } });
							if (f.field_type === "boolean") {
								return (
									<Select
										key={f.id}
										label={f.name}
										disabled={off}
										value={value === true ? "true" : value === false ? "false" : ""}
										onChange={(v) => put(v === "" ? null : v === "true")}
										choices={[
											{ value: "", label: words.notSet },
											{ value: "true", label: words.yes },
											{ value: "false", label: words.no },
										]}
									/>
								);
							}
							if (f.field_type === "enum" && f.enum_values && !off) {
								return (
									<Combo
										key={f.id}
										label={f.name}
										free={f.value_constraint === "open"}
										options={f.enum_values.map((v) => ({ id: v, label: v }))}
										value={value === null || value === undefined ? null : String(value)}
										onChange={put}
										error={problems[path]}
									/>
								);
							}
							const numeric = f.field_type === "number" || f.field_type === "currency";
							return (
								<Saved
									key={f.id}
									label={f.name}
									type={numeric ? "number" : f.field_type === "date" ? "date" : "text"}
									value={
										Array.isArray(value) ? value.join(", ") : value === null || value === undefined ? "" : String(value)
									}
									readOnly={off}
									error={problems[path]}
									onSave={(v) =>
										put(
											v === ""
												? null
												: numeric
													? Number(v)
													: f.field_type === "tags"
														? v
																.split(",")
																.map((t) => t.trim())
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
						[words.sent, number(c.total_emails_sent)],
						[words.opened, number(c.total_emails_opened)],
						[words.clicked, number(c.total_emails_clicked)],
						[words.score, number(c.prospect_score)],
					]}
				/>
			</Card>
			<Card title={words.first}>
				<Facts
					rows={[
						[words.source, source],
						[words.touch, c.first_touch_at && <Time key="t" at={c.first_touch_at} />],
						[words.campaign, c.first_touch_campaign],
						[words.landing, c.first_touch_landing_url],
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
	onSave: (v: string) => void;
}) {
	const [typed, setTyped] = useState<string | null>(null);
	const commit = () => {
		if (typed !== null && typed.trim() !== value) onSave(typed.trim());
		else setTyped(null);
	};
	const shown = typed !== null && (error || typed.trim() !== value) ? typed : value;
	return (
		<TextField
			label={label}
			type={type}
			value={shown}
			readOnly={readOnly}
			error={error || undefined}
			autoComplete="off"
			onChange={setTyped}
			onBlur={commit}
			onKeyDown={(e) => {
				if (e.key === "Enter") commit();
				if (e.key === "Escape") setTyped(null);
			}}
		/>
	);
}
