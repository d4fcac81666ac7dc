import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, newKey, request } from "../../api/client";
import type { IdentityRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useDisabledReason } from "../../base/session";
import { EditDrawer } from "../../ui/EditDrawer";
import { Checkbox, Select, Switch, TextField } from "../../ui/Field";
import { useDraftForm } from "../../ui/draftForm";
import { catalogue } from "../../base/words/catalogue";
import css from "./Senders.module.css";
import { within } from "../../base/queries";

const words = catalogue("sending.senderEditor", {
	add: "Add sender",
	edit: "Sender {email}",
	name: "Name",
	email: "Address",
	emailHelp: "On one of your sending domains.",
	display: "Name that recipients see",
	reply: "Reply-to address",
	types: "Email types",
	mta: "Sending server",
	account: "Workspace default",
	utm: "UTM source",
	active: "Active",
	removeTitle: "Delete {email}?",
	removeText: "Drafts that use it need another sender.",
	line: "In the inbox",
	links: "Host for content links",
	linksHelp: "Links in the email use this host instead of their own.",
	images: "Host for images",
	imagesHelp: "Image addresses use this host instead of their own.",
});

const valuesOf = (sender?: IdentityRow) => ({
	email_address: sender?.email_address ?? "",
	display_name: sender?.display_name ?? "",
	reply_to: sender?.reply_to ?? "",
	email_type_ids: sender?.email_type_ids ?? [],
	default_mta_config_id: sender?.default_mta_config_id ?? "",
	utm_code: sender?.utm_code ?? "",
	content_rewrite_domain: sender?.content_rewrite_domain ?? "",
	image_rewrite_domain: sender?.image_rewrite_domain ?? "",
	active: sender?.active ?? true,
});

/** SenderEditor creates, changes or deletes a sender, in a drawer. */
export function SenderEditor({
	sender,
	onClose,
	onDeleted,
}: {
	sender?: IdentityRow & { revision: string | null };
	onClose: () => void;
	onDeleted?: () => void;
}) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("PUT /sending-identities/{id}");
	const [idempotencyKey] = useState(newKey);
	const types = useCollection("email_types");
	const lanes = useCollection("mta_configs");
	const form = useDraftForm(valuesOf(sender), {
		kind: "sender",
		id: sender?.id,
		title: sender?.email_address ?? words.add,
		canEdit: !disabledReason,
		read: async () => {
			const response = await request("GET /sending-identities/{id}", { path: { id: sender?.id ?? "" } });
			return { values: valuesOf(response.data), revision: response.revision };
		},
		names: {
			email_address: words.email,
			display_name: words.display,
			reply_to: words.reply,
			email_type_ids: words.types,
			default_mta_config_id: words.mta,
			utm_code: words.utm,
			content_rewrite_domain: words.links,
			image_rewrite_domain: words.images,
			active: words.active,
		},
	});
	const values = form.values;
	const problems = form.problems.byPath;
	const refresh = () =>
		Promise.all([
			client.invalidateQueries(within("sending_identities")),
			sender && client.invalidateQueries(within("sending_identity", sender.id)),
		]);
	const finish = async () => {
		await refresh();
		onClose();
	};
	const send = () =>
		form.submit(async (values, revision) => {
			const body = {
				...values,
				reply_to: values.reply_to || null,
				default_mta_config_id: values.default_mta_config_id || null,
				utm_code: values.utm_code || null,
				content_rewrite_domain: values.content_rewrite_domain || null,
				image_rewrite_domain: values.image_rewrite_domain || null,
			};
			if (sender) await api("PUT /sending-identities/{id}", { path: { id: sender.id }, body, revision });
			else await api("POST /sending-identities", { body, idempotencyKey });
			await finish();
		});
	return (
		<EditDrawer
			title={sender ? words.edit({ email: sender.email_address }) : words.add}
			form={form}
			disabledReason={disabledReason}
			remove={
				sender && {
					title: words.removeTitle({ email: sender.email_address }),
					text: words.removeText,
					run: async () => {
						await api("DELETE /sending-identities/{id}", {
							path: { id: sender.id },
							revision: sender.revision ?? undefined,
						});
						await finish();
						onDeleted?.();
					},
					reload: refresh,
				}
			}
			onSave={() => void send()}
			onClose={onClose}
		>
			<TextField
				label={words.display}
				path="display_name"
				value={values.display_name}
				onChange={(display_name) => form.set({ display_name })}
				error={problems.display_name}
				autoFocus
			/>
			<TextField
				label={words.email}
				type="email"
				path="email_address"
				help={words.emailHelp}
				value={values.email_address}
				onChange={(email_address) => form.set({ email_address })}
				error={problems.email_address}
				autoComplete="off"
			/>
			<p className={css.line}>
				<span className="visually-hidden">{words.line}: </span>
				<b>{values.display_name || words.name}</b> &lt;{values.email_address || words.email}&gt;
			</p>
			<TextField
				label={words.reply}
				optional
				type="email"
				path="reply_to"
				value={values.reply_to}
				onChange={(reply_to) => form.set({ reply_to })}
				error={problems.reply_to}
				autoComplete="off"
			/>
			<fieldset className={css.types}>
				<legend>{words.types}</legend>
				{types.data?.data.map((emailType) => (
					<Checkbox
						key={emailType.id}
						label={emailType.display_name}
						checked={values.email_type_ids.includes(emailType.id)}
						onChange={(checked) =>
							form.set({
								email_type_ids: checked
									? [...values.email_type_ids, emailType.id]
									: values.email_type_ids.filter((id) => id !== emailType.id),
							})
						}
					/>
				))}
				{problems.email_type_ids && <p role="alert">{problems.email_type_ids}</p>}
			</fieldset>
			<Select
				label={words.mta}
				value={values.default_mta_config_id}
				onChange={(default_mta_config_id) => form.set({ default_mta_config_id })}
				choices={[
					{ value: "", label: words.account },
					...(lanes.data?.data ?? []).map((lane) => ({ value: lane.id, label: lane.name })),
				]}
				error={problems.default_mta_config_id}
			/>
			<TextField
				label={words.utm}
				optional
				path="utm_code"
				value={values.utm_code}
				onChange={(utm_code) => form.set({ utm_code })}
				error={problems.utm_code}
			/>
			<TextField
				label={words.links}
				optional
				path="content_rewrite_domain"
				help={words.linksHelp}
				value={values.content_rewrite_domain}
				onChange={(content_rewrite_domain) => form.set({ content_rewrite_domain })}
				error={problems.content_rewrite_domain}
				autoComplete="off"
			/>
			<TextField
				label={words.images}
				optional
				path="image_rewrite_domain"
				help={words.imagesHelp}
				value={values.image_rewrite_domain}
				onChange={(image_rewrite_domain) => form.set({ image_rewrite_domain })}
				error={problems.image_rewrite_domain}
				autoComplete="off"
			/>
			<Switch label={words.active} checked={values.active} onChange={(active) => form.set({ active })} />
		</EditDrawer>
	);
}
