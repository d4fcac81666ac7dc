import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, newKey, tagOf } from "../../api/client";
import type { EmailCategoryRow, EmailTypeRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { Button } from "../../ui/Button";
import { EditDrawer } from "../../ui/EditDrawer";
import { TextArea, TextField } from "../../ui/Field";
import { findRow, useEdited, useDraftForm } from "../../ui/draftForm";
import { Card } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import css from "./Senders.module.css";
import { within } from "../../base/queries";

const words = catalogue("sending.categories", {
	title: "Categories",
	about:
		"The types in a category are one choice on the preference page. Recipients keep or unsubscribe from them together.",
	add: "Add category",
	edit: "Category {name}",
	name: "Name",
	description: "Description",
	descriptionHelp: "Recipients see it on their preference page.",
	removeTitle: "Delete {name}?",
	removeText:
		"These types will have no category: {types, list}. Recipients' choices about the category are kept for each of them.",
	removeEmptyText: "No email type is in it.",
});

/** Categories lists the categories of email types, and changes them in a drawer. */
export function Categories({ types }: { types: EmailTypeRow[] }) {
	const disabledReason = useDisabledReason("POST /email-categories");
	const [open, setOpen] = useParam("category");
	const rows = useCollection("email_categories").data?.data ?? [];
	const edited = useEdited(rows, open);
	return (
		<Card
			title={words.title}
			actions={
				<Button small disabledReason={disabledReason} onClick={() => setOpen("new")}>
					{words.add}
				</Button>
			}
		>
			<p>{words.about}</p>
			<ul className={css.lanes}>
				{rows.map((category) => (
					<li key={category.id}>
						<button type="button" className={css.open} onClick={() => setOpen(category.id)}>
							{category.name} {category.description && <span>{category.description}</span>}
						</button>
					</li>
				))}
			</ul>
			{open && (open === "new" || edited) && (
				<Editor
					key={open}
					category={edited}
					members={types.filter((type) => type.category_id === edited?.id).map((type) => type.display_name)}
					onClose={() => setOpen("")}
				/>
			)}
		</Card>
	);
}

const valuesOf = (category?: EmailCategoryRow) => ({
	name: category?.name ?? "",
	description: category?.description ?? "",
});

function Editor({
	category,
	members,
	onClose,
}: {
	category?: EmailCategoryRow;
	members: string[];
	onClose: () => void;
}) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("PUT /email-categories/{id}");
	const [idempotencyKey] = useState(newKey);
	const form = useDraftForm(valuesOf(category), {
		kind: "email_category",
		id: category?.id,
		title: category?.name ?? words.add,
		canEdit: !disabledReason,
		read: async () => {
			const row = findRow(await api("GET /email-categories", {}), category?.id);
			return { values: valuesOf(row), revision: tagOf(row) };
		},
		names: { name: words.name, description: words.description },
	});
	const values = form.values;
	const problems = form.problems.byPath;
	const read = () => client.invalidateQueries(within("email_categories"));
	const send = () =>
		form.submit(async (values, revision) => {
			const body = { name: values.name, description: values.description || null };
			if (category) await api("PUT /email-categories/{id}", { path: { id: category.id }, body, revision });
			else await api("POST /email-categories", { body, idempotencyKey });
			await read();
			onClose();
		});
	return (
		<EditDrawer
			title={category ? words.edit({ name: category.name }) : words.add}
			form={form}
			disabledReason={disabledReason}
			remove={
				category && {
					title: words.removeTitle({ name: category.name }),
					text: members.length === 0 ? words.removeEmptyText : words.removeText({ types: members }),
					run: async () => {
						await api("DELETE /email-categories/{id}", { path: { id: category.id }, revision: tagOf(category) });
						await Promise.all([read(), client.invalidateQueries(within("email_types"))]);
						onClose();
					},
					reload: read,
				}
			}
			onSave={() => void send()}
			onClose={onClose}
		>
			<TextField
				label={words.name}
				path="name"
				value={values.name}
				onChange={(name) => form.set({ name })}
				error={problems.name}
				autoFocus
			/>
			<TextArea
				label={words.description}
				help={words.descriptionHelp}
				optional
				path="description"
				value={values.description}
				onChange={(description) => form.set({ description })}
				error={problems.description}
			/>
		</EditDrawer>
	);
}
