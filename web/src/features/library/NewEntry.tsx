import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { ApiError, api, newKey } from "../../api/client";
import type { ContentBody, MessageBody } from "../../api/schema";
import { to } from "../../base/paths";
import { within } from "../../base/queries";
import { useDisabledReason } from "../../base/session";
import { catalogue } from "../../base/words/catalogue";
import type { Copy } from "../../sync/draft";
import { pick } from "../../sync/merge";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { newMjml } from "../templates/blankMjml";
import { beginWith, MailChoice, useMails } from "../templates/MailChoice";
import { chosenOf } from "../templates/mails";
import { begins, type Content, editable } from "./content";

const words = catalogue("library.newEntry", {
	title: "New entry",
	name: "Name",
	nameHelp: "If empty, the name of the email that it begins with.",
	own: "An empty email",
	ownHelp: "In your brand, to design from the beginning or to write as code.",
	create: "Create and write",
	none: "Choose an email first.",
});

/** The id of the choice of an empty mail. */
const empty = "empty";

/** NewEntry makes an entry that begins with a finished mail or an empty one, and leads to where it is written. */
export function NewEntry({ onClose }: { onClose: () => void }) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const form = useForm({ name: "", of: null as string | null });
	const [idempotencyKey, setIdempotencyKey] = useState(newKey);
	const mails = useMails();
	const { of } = form.values;
	const mail = mails.mails && of !== empty ? chosenOf(mails.mails, of) : undefined;
	const chosen = of === empty ? empty : (mail?.id ?? null);
	const templateDisabledReason = useDisabledReason("POST /templates");
	const disabledReason =
		(chosen?.startsWith("starter ") ? templateDisabledReason : undefined) ?? (chosen ? undefined : words.none);

	const post = (body: MessageBody, key: string) => api("POST /messages", { body, idempotencyKey: key });
	/** Makes an entry. If values or the subject are missing, what it begins with is kept as unsaved work of one without content. */
	const make = async (name: string, content: ContentBody) => {
		if (content.template_slug) {
			try {
				return await post({ name, content }, idempotencyKey);
			} catch (error) {
				if (!(error instanceof ApiError) || error.status !== 400) throw error;
			}
		}
		const created = await post({ name }, content.template_slug ? newKey() : idempotencyKey);
		const mine = begins(content);
		const from = pick(editable(name, null), Object.keys(mine) as (keyof Content)[]);
		const data: Copy<Content> = { mine, from, sent: {} };
		await api("PUT /working-copies/{kind}/{id}", {
			path: { kind: "message", id: created.id },
			body: { title: name, data },
		});
		return created;
	};
	const send = () =>
		form.submit(async () => {
			try {
				const content =
					mail && mails.mails ? await beginWith(client, mails.mails, mail) : { body_mjml: await newMjml(client) };
				const created = await make(form.values.name.trim() || (mail?.label ?? words.own), content);
				void client.invalidateQueries(within("messages"));
				navigate(to.entry(created.id, { edit: "1" }), { replace: true }); // Back does not create another
			} catch (error) {
				if (error instanceof ApiError && error.status !== 0) setIdempotencyKey(newKey());
				throw error;
			}
		});
	return (
		<Dialog
			wide
			title={words.title}
			onClose={onClose}
			onSubmit={() => !disabledReason && void send()}
			submit={{ label: words.create, busy: form.busy, disabledReason }}
		>
			<FormProblems problems={form.problems} />
			<TextField
				label={words.name}
				optional
				help={words.nameHelp}
				path="name"
				value={form.values.name}
				onChange={(name) => form.set({ name })}
				error={form.problems.byPath.name}
				autoFocus
			/>
			<MailChoice
				mails={mails}
				value={chosen}
				onChange={(of) => form.set({ of })}
				own={{ id: empty, name: words.own, text: words.ownHelp }}
			/>
		</Dialog>
	);
}
