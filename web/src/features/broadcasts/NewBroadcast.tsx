import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { ApiError, api, newKey } from "../../api/client";
import type { BroadcastContent } from "../../api/schema";
import { collection, useCollection } from "../../base/collections";
import { newMjml } from "../templates/blankMjml";
import { beginWith, MailChoice, useMails } from "../templates/MailChoice";
import { chosenOf } from "../templates/mails";
import { Combo } from "../../ui/Combo";
import { Dialog } from "../../ui/Dialog";
import { Radios } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { catalogue } from "../../base/words/catalogue";
import { readable } from "../../base/words/placeholders";
import type { Copy } from "../../sync/draft";
import type { Parts } from "./parts";
import { to } from "../../base/paths";

const words = catalogue("broadcasts.newBroadcast", {
	title: "New broadcast",
	audience: "To: {name}",
	from: "Start with",
	own: "An empty email",
	ownHelp: "In your brand, to design from the beginning or to write as code.",
	mail: "A finished email",
	mailHelp: "One of your templates, or one of ours with sample text, which becomes a template in your workspace.",
	library: "A library entry",
	libraryHelp: "Copies its current version.",
	past: "A previous broadcast",
	pastHelp: "Copies its audience, senders and delivery, but not its start.",
	chooseLibrary: "Library entry",
	choosePast: "Broadcast",
	create: "Create",
	none: "Choose one first.",
	untitled: "Untitled",
});

type Kind = "mail" | "library" | "past" | "own";

/** NewBroadcast chooses what a broadcast begins with, and creates its draft; with a segment, for its members. */
export function NewBroadcast({ segment, onClose }: { segment?: string; onClose: () => void }) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const form = useForm({ kind: "mail" as Kind, of: null as string | null });
	const { kind } = form.values;
	const [idempotencyKey, setIdempotencyKey] = useState(newKey);
	const mails = useMails();
	const library = useCollection("messages", { enabled: kind === "library" });
	const broadcasts = useCollection("broadcasts", { enabled: kind === "past" });
	const segments = useCollection("segments", { enabled: segment !== undefined }).data?.data ?? [];
	const audience = segment ? { include_segment_keys: [segment] } : {};
	const options =
		kind === "library"
			? (library.data?.data ?? []).map((message) => ({ id: message.id, label: message.name }))
			: (broadcasts.data?.data ?? []).map((broadcast) => ({
					id: broadcast.id,
					label: broadcast.name,
					detail: readable(broadcast.content.subject ?? "") || undefined,
				}));
	const mail = kind === "mail" && mails.mails ? chosenOf(mails.mails, form.values.of) : undefined;
	const chosen = kind === "mail" ? (mail?.id ?? null) : form.values.of;

	const create = async (content: BroadcastContent, name: string) => {
		const types = await collection("email_types");
		return api("POST /broadcasts", {
			idempotencyKey,
			body: {
				name,
				email_type_key: types.data.find((emailType) => emailType.active)?.type_key,
				content,
				...audience,
			},
		});
	};
	/** Creates a draft of a template. If values are missing, the choice is kept as a working copy of an empty draft. */
	const createFromTemplate = async (slug: string, name: string, template_binding: { [part: string]: unknown } = {}) => {
		const template = { template_slug: slug, template_binding };
		try {
			return await create(template, name);
		} catch (error) {
			if (!(error instanceof ApiError) || error.status !== 400) throw error;
			const types = await collection("email_types");
			const created = await api("POST /broadcasts", {
				idempotencyKey: newKey(),
				body: {
					name,
					email_type_key: types.data.find((emailType) => emailType.active)?.type_key,
					content: { subject: name, body_mjml: await newMjml(client) },
					...audience,
				},
			});
			const data: Copy<Parts> = {
				mine: { "content.template_slug": slug, "content.template_binding": template_binding },
				from: { "content.template_slug": null, "content.template_binding": null },
				sent: {},
				problems: 1,
			};
			await api("PUT /working-copies/{kind}/{id}", {
				path: { kind: "broadcast", id: created.id },
				body: { title: name, data },
			});
			return created;
		}
	};
	const send = () =>
		form.submit(async () => {
			const name = options.find((option) => option.id === chosen)?.label ?? words.untitled;
			try {
				const created =
					kind === "own"
						? await create({ subject: words.untitled, body_mjml: await newMjml(client) }, words.untitled)
						: mail && mails.mails
							? await beginWith(client, mails.mails, mail).then(({ template_slug, template_binding }) =>
									createFromTemplate(template_slug, mail.label, template_binding),
								)
							: kind === "library"
								? await create({ message_id: chosen }, name)
								: await api("POST /broadcasts/{broadcast_id}/clone", {
										path: { broadcast_id: chosen ?? "" },
										body: {},
										idempotencyKey,
									});
				navigate(to.broadcastDraft(created.id), { replace: true }); // Back does not create another
			} catch (error) {
				if (error instanceof ApiError && error.status !== 0) setIdempotencyKey(newKey());
				throw error;
			}
		});
	const disabledReason = kind !== "own" && !chosen ? words.none : undefined;
	return (
		<Dialog
			wide
			title={words.title}
			onClose={onClose}
			onSubmit={() => !disabledReason && void send()}
			submit={{ label: words.create, busy: form.busy, disabledReason }}
		>
			<FormProblems problems={form.problems} />
			{segment && <p>{words.audience({ name: segments.find((s) => s.segment_key === segment)?.name ?? segment })}</p>}
			<Radios
				label={words.from}
				value={kind}
				onChange={(value) => form.set({ kind: value as Kind, of: null })}
				choices={[
					{ value: "mail", label: words.mail, help: words.mailHelp },
					{ value: "library", label: words.library, help: words.libraryHelp },
					// It has an audience of its own.
					...(segment ? [] : [{ value: "past", label: words.past, help: words.pastHelp }]),
					{ value: "own", label: words.own, help: words.ownHelp },
				]}
			/>
			{kind === "mail" && <MailChoice mails={mails} value={chosen} onChange={(id) => form.set({ of: id })} />}
			{(kind === "library" || kind === "past") && (
				<Combo
					key={kind}
					label={kind === "library" ? words.chooseLibrary : words.choosePast}
					options={options}
					value={chosen}
					onChange={(id) => form.set({ of: id })}
				/>
			)}
		</Dialog>
	);
}
