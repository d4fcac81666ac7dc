import { useQueryClient } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { useState } from "react";
import { api, newKey, tagOf } from "../../api/client";
import type { EmailCategoryRow, EmailTypeRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Select, Switch, TextArea, TextField } from "../../ui/Field";
import { EditDrawer } from "../../ui/EditDrawer";
import { findRow, useEdited, useDraftForm } from "../../ui/draftForm";
import { List } from "../../ui/List";
import { Card, NotSet, Page } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { Categories } from "./Categories";
import css from "./Senders.module.css";
import { within } from "../../base/queries";
import { to } from "../../base/paths";

const words = catalogue("sending.types", {
	title: "Email types",
	sending: "Sending setup",
	about: "What recipients can unsubscribe from. They see the names and descriptions on their preference page.",
	add: "Add type",
	edit: "Type {name}",
	name: "Name",
	description: "Description",
	key: "Key",
	keyHelp: "For programs. Created from the name if empty. It cannot be changed later.",
	category: "Category",
	none: "None",
	listId: "Add a List-ID header",
	listIdHelp: "Mail programs use it to group emails.",
	active: "Active",
	off: "Off",
	state: "State",
	empty: "No email types yet",
	emptyText: "Newsletter, offers, events: each is a kind of email that a recipient may or may not want.",
	preview: "Preference page",
	previewAbout: "Recipients choose from:",
	previewNone: "Recipients have nothing to choose: no type is active.",
	listKey: "List-ID key",
	prefix: "UTM campaign prefix",
	removeTitle: "Delete {name}?",
	removeText: "Recipients' choices about it are deleted as well.",
});

/** Types lists the email types and their categories. */
export default function Types() {
	const disabledReason = useDisabledReason("POST /email-types");
	const [open, setOpen] = useParam("edit");
	const types = useCollection("email_types");
	const categories = useCollection("email_categories");
	const all = types.data?.data ?? [];
	const categoryName = new Map((categories.data?.data ?? []).map((category) => [category.id, category.name]));
	const edited = useEdited(all, open);
	return (
		<Page
			title={words.title}
			breadcrumbs={[{ name: words.sending, to: to.sending() }]}
			description={words.about}
			actions={
				<Button kind="create" disabledReason={disabledReason} onClick={() => setOpen("new")}>
					{words.add}
				</Button>
			}
		>
			{types.isPending ? (
				<Skeleton rows={4} />
			) : types.isError ? (
				<Failure error={types.error} retry={() => void types.refetch()} />
			) : all.length === 0 ? (
				<Empty title={words.empty}>{words.emptyText}</Empty>
			) : (
				<List
					label={words.title}
					rows={all}
					rowKey={(emailType) => emailType.id}
					columns={[
						{
							id: "name",
							name: words.name,
							cell: (emailType) => (
								<button type="button" className={css.open} onClick={() => setOpen(emailType.id)}>
									{emailType.display_name} <span>{emailType.type_key}</span>
								</button>
							),
						},
						{
							id: "category",
							name: words.category,
							cell: (emailType) => (emailType.category_id && categoryName.get(emailType.category_id)) || <NotSet />,
						},
						{ id: "description", name: words.description, cell: (emailType) => emailType.description ?? <NotSet /> },
						{
							id: "state",
							beside: true,
							name: words.state,
							cell: (emailType) =>
								emailType.active ? (
									<Badge tone="success">{words.active}</Badge>
								) : (
									<Badge tone="neutral">{words.off}</Badge>
								),
						},
					]}
				/>
			)}
			<Categories types={all} />
			<Choices types={all} categories={categories.data?.data ?? []} />
			{open && (open === "new" || edited) && (
				<Editor key={open} type={edited} categories={categories.data?.data ?? []} onClose={() => setOpen("")} />
			)}
		</Page>
	);
}

/** Choices shows what readers choose among on their preference page: categories, and types without one. */
function Choices({ types, categories }: { types: EmailTypeRow[]; categories: EmailCategoryRow[] }) {
	const active = types.filter((type) => type.active);
	const choices = [
		...categories
			.filter((category) => active.some((emailType) => emailType.category_id === category.id))
			.map((category) => ({ id: category.id, name: category.name, description: category.description })),
		...active
			.filter((emailType) => !emailType.category_id)
			.map((emailType) => ({ id: emailType.id, name: emailType.display_name, description: emailType.description })),
	];
	return (
		<Card title={words.preview}>
			<p>{choices.length > 0 ? words.previewAbout : words.previewNone}</p>
			<ul className={css.choices}>
				{choices.map((choice) => (
					<li key={choice.id}>
						<Check aria-hidden size={18} />
						<div>
							<b>{choice.name}</b>
							{choice.description && <p className={css.muted}>{choice.description}</p>}
						</div>
					</li>
				))}
			</ul>
		</Card>
	);
}

const valuesOf = (type?: EmailTypeRow) => ({
	display_name: type?.display_name ?? "",
	type_key: type?.type_key ?? "",
	description: type?.description ?? "",
	category_id: type?.category_id ?? "",
	list_id_enabled: type?.list_id_enabled ?? true,
	list_key: type?.list_key ?? "",
	utm_campaign_prefix: type?.utm_campaign_prefix ?? "",
	active: type?.active ?? true,
});

function Editor({
	type,
	categories,
	onClose,
}: {
	type?: EmailTypeRow;
	categories: { id: string; name: string }[];
	onClose: () => void;
}) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("PUT /email-types/{id}");
	const [idempotencyKey] = useState(newKey);
	const form = useDraftForm(valuesOf(type), {
		kind: "email_type",
		id: type?.id,
		title: type?.display_name ?? words.add,
		canEdit: !disabledReason,
		read: async () => {
			const row = findRow(await api("GET /email-types", {}), type?.id);
			return { values: valuesOf(row), revision: tagOf(row) };
		},
		names: {
			display_name: words.name,
			description: words.description,
			category_id: words.category,
			list_id_enabled: words.listId,
			list_key: words.listKey,
			utm_campaign_prefix: words.prefix,
			active: words.active,
		},
	});
	const values = form.values;
	const problems = form.problems.byPath;
	const finish = async () => {
		await client.invalidateQueries(within("email_types"));
		onClose();
	};
	const send = () =>
		form.submit(async (values, revision) => {
			const { type_key, ...rest } = values;
			const body = {
				...rest,
				description: values.description || null,
				category_id: values.category_id || null,
				list_key: values.list_key || null,
				utm_campaign_prefix: values.utm_campaign_prefix || null,
			};
			if (type) await api("PUT /email-types/{id}", { path: { id: type.id }, body, revision });
			else await api("POST /email-types", { body: { ...body, ...(type_key && { type_key }) }, idempotencyKey });
			await finish();
		});
	return (
		<EditDrawer
			title={type ? words.edit({ name: type.display_name }) : words.add}
			form={form}
			disabledReason={disabledReason}
			remove={
				type && {
					title: words.removeTitle({ name: type.display_name }),
					text: words.removeText,
					run: async () => {
						await api("DELETE /email-types/{id}", { path: { id: type.id }, revision: tagOf(type) });
						await finish();
					},
					reload: () => client.invalidateQueries(within("email_types")),
				}
			}
			onSave={() => void send()}
			onClose={onClose}
		>
			<TextField
				label={words.name}
				path="display_name"
				value={values.display_name}
				onChange={(display_name) => form.set({ display_name })}
				error={problems.display_name}
				autoFocus
			/>
			<TextField
				label={words.key}
				path="type_key"
				help={words.keyHelp}
				readOnly={type !== undefined}
				value={values.type_key}
				onChange={(type_key) => form.set({ type_key })}
				error={problems.type_key}
				optional={!type}
			/>
			<TextArea
				label={words.description}
				optional
				path="description"
				value={values.description}
				onChange={(description) => form.set({ description })}
				error={problems.description}
			/>
			<Select
				label={words.category}
				value={values.category_id}
				onChange={(category_id) => form.set({ category_id })}
				choices={[
					{ value: "", label: words.none },
					...categories.map((category) => ({ value: category.id, label: category.name })),
				]}
			/>
			<Switch
				label={words.listId}
				help={words.listIdHelp}
				checked={values.list_id_enabled}
				onChange={(list_id_enabled) => form.set({ list_id_enabled })}
			/>
			{values.list_id_enabled && (
				<TextField
					label={words.listKey}
					optional
					path="list_key"
					value={values.list_key}
					onChange={(list_key) => form.set({ list_key })}
					error={problems.list_key}
					autoComplete="off"
					spellCheck={false}
				/>
			)}
			<TextField
				label={words.prefix}
				optional
				path="utm_campaign_prefix"
				value={values.utm_campaign_prefix}
				onChange={(utm_campaign_prefix) => form.set({ utm_campaign_prefix })}
				error={problems.utm_campaign_prefix}
				autoComplete="off"
				spellCheck={false}
			/>
			<Switch label={words.active} checked={values.active} onChange={(active) => form.set({ active })} />
		</EditDrawer>
	);
}
