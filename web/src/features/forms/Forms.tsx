import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, newKey } from "../../api/client";
import type { FormFieldInput } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useParam, useTextParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Radios, Select, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { List } from "../../ui/List";
import { NotSet, Page } from "../../ui/Page";
import { Empty, Failure, NoMatch, Skeleton, searched } from "../../ui/States";
import { Time } from "../../ui/Time";
import { Tools } from "../../ui/Tools";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import { within } from "../../base/queries";
import { formsQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("forms.forms", {
	title: "Forms",
	about: "Sign-up forms for your website. Everybody who submits one becomes a contact, with proof of consent.",
	add: "New form",
	search: "Search forms",
	status: "Status",
	current: "Drafts and published",
	draft: "Drafts",
	published: "Published",
	archived: "Archived",
	name: "Name",
	submissions: "Submissions",
	last: "Last submission",
	updated: "Changed",
	empty: "No forms yet",
	emptyText:
		"For example: a field for the email address, a checkbox “Send me the newsletter” and a button. Build it here, then put its code on your page.",
	none: "No form matches",
	noneArchived: "No form is archived",
	create: "Create",
	nameHelp: "Visitors do not see it.",
	start: "Start with",
	starts: {
		newsletter: { name: "Newsletter sign-up", about: "Email address and a consent checkbox" },
		contact: { name: "Contact details", about: "Name, company, address, phone" },
		blank: { name: "Email address only", about: "" },
	},
	labels: {
		email: "Email",
		first_name: "First name",
		last_name: "Last name",
		company: "Company",
		phone: "Phone",
		consent: "Send me the {type}",
	},
});

/** Forms lists the forms of a workspace. */
export default function Forms() {
	const [, navigate] = useLocation();
	const disabledReason = useDisabledReason("POST /forms");
	const [search, setSearch] = useTextParam("q");
	const [status, setStatus] = useParam("status");
	const [creating, setCreating] = useParam("new");
	const forms = useQuery(formsQuery(status));
	const all = forms.data?.data ?? [];
	const rows = all.filter((form) => form.name.toLowerCase().includes(search.toLowerCase()));
	const button = (
		<Button kind="create" disabledReason={disabledReason} onClick={() => setCreating("1")}>
			{words.add}
		</Button>
	);
	const none = forms.isSuccess && all.length === 0 && !status;
	const statuses = [
		{ value: "", label: words.current },
		{ value: "draft", label: words.draft },
		{ value: "published", label: words.published },
		{ value: "archived", label: words.archived },
	];
	return (
		<Page title={words.title} description={words.about} actions={!none && button}>
			{!none && (
				<Tools label={words.search} value={search} onChange={setSearch}>
					<Select label={words.status} hideLabel value={status} onChange={setStatus} choices={statuses} />
				</Tools>
			)}
			{forms.isPending ? (
				<Skeleton rows={6} />
			) : forms.isError ? (
				<Failure error={forms.error} retry={() => void forms.refetch()} />
			) : none ? (
				<Empty title={words.empty} action={button}>
					{words.emptyText}
				</Empty>
			) : rows.length === 0 ? (
				<NoMatch
					title={status === "archived" && !search ? words.noneArchived : words.none}
					filters={[
						searched(search, setSearch),
						status !== "" && {
							name: statuses.find((s) => s.value === status)?.label ?? status,
							remove: () => setStatus(""),
						},
					]}
				/>
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(form) => form.id}
					columns={[
						{ id: "name", name: words.name, cell: (form) => <Link href={to.form(form.id)}>{form.name}</Link> },
						{
							id: "status",
							beside: true,
							name: words.status,
							cell: (form) => <StateBadge kind="form" state={form.status} />,
						},
						{
							id: "submissions",
							name: words.submissions,
							description: term("submissions").definition,
							end: true,
							cell: (form) =>
								form.submission_count > 0 ? (
									<Link href={to.form(form.id, { tab: "submissions" })}>{exactNumber(form.submission_count)}</Link>
								) : (
									<NotSet />
								),
						},
						{ id: "last", name: words.last, cell: (form) => <Time at={form.last_submission_at} /> },
						{ id: "updated", name: words.updated, cell: (form) => <Time at={form.updated_at} /> },
					]}
				/>
			)}
			{creating && <NewForm onClose={() => setCreating("")} onCreated={(id) => navigate(to.form(id))} />}
		</Page>
	);
}

type Start = "newsletter" | "contact" | "blank";

function NewForm({ onClose, onCreated }: { onClose: () => void; onCreated: (id: string) => void }) {
	const client = useQueryClient();
	const form = useForm({ name: "", start: "newsletter" as Start });
	const [idempotencyKey] = useState(newKey);
	const types = useCollection("email_types");
	const fields = async (start: Start): Promise<FormFieldInput[]> => {
		const text = (binding: "first_name" | "last_name" | "company" | "phone"): FormFieldInput => ({
			type: "contact",
			binding,
			label: words.labels[binding],
		});
		const email: FormFieldInput = { type: "contact", binding: "email", label: words.labels.email, required: true };
		if (start === "contact") return [text("first_name"), text("last_name"), text("company"), email, text("phone")];
		if (start !== "newsletter") return [email];
		// Create may be pressed before the types are loaded.
		const all = types.data ?? (await types.refetch({ throwOnError: true, cancelRefetch: false })).data;
		const type = all?.data.find((emailType) => emailType.active);
		return type
			? [
					email,
					{
						type: "consent",
						binding: type.type_key,
						label: words.labels.consent({ type: type.display_name }),
						required: true,
					},
				]
			: [email];
	};
	const send = () =>
		form.submit(async () => {
			const created = await api("POST /forms", {
				body: { name: form.values.name, fields: await fields(form.values.start) },
				idempotencyKey,
			});
			void client.invalidateQueries(within("forms"));
			onCreated(created.id);
		});
	return (
		<Dialog
			title={words.add}
			onClose={onClose}
			onSubmit={() => void send()}
			submit={{ label: words.create, busy: form.busy }}
		>
			<FormProblems problems={form.problems} />
			<TextField
				label={words.name}
				help={words.nameHelp}
				path="name"
				value={form.values.name}
				onChange={(name) => form.set({ name })}
				error={form.problems.byPath.name}
				autoFocus
			/>
			<Radios
				label={words.start}
				value={form.values.start}
				onChange={(start) => form.set({ start: start as Start })}
				choices={(["newsletter", "contact", "blank"] as const).map((value) => ({
					value,
					label: words.starts[value].name,
					help: words.starts[value].about || undefined,
				}))}
			/>
		</Dialog>
	);
}
