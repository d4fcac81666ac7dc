import { useQuery } from "@tanstack/react-query";
import { createContext, useContext, useRef, useState } from "react";
import type { BroadcastContent, BroadcastSessionView } from "../../api/schema";
import { useParam } from "../../base/params";
import { Combo } from "../../ui/Combo";
import { Columns, Select } from "../../ui/Field";
import { MailFrame } from "../../ui/MailFrame";
import { Failure } from "../../ui/States";
import { useDebounced } from "../../ui/useDebounced";
import { catalogue } from "../../base/words/catalogue";
import css from "./Composer.module.css";
import { Problems } from "./Problems";
import { foundContactsQuery } from "../contacts/queries";
import { previewQuery } from "./queries";

const words = catalogue("broadcasts.preview", {
	preview: "Preview",
	as: "Preview as",
	samples: "Sample values",
	variant: "Version",
	without: "Base version",
	inbox: "In a phone's inbox",
	noSubject: "No subject yet",
	sender: "Sender",
	missing: "No value for: {paths}.",
	lengths:
		"Subject {subject, plural, one {# character} other {# characters}}, preview text {preheader, plural, one {# character} other {# characters}}.",
	long: "Phones cut subjects after about 40 characters. More than 150 is too long everywhere.",
});

/** contentOf returns the fields of content that requests take. */
export function contentOf(broadcast: BroadcastSessionView["content"]): BroadcastContent {
	const common = {
		subject: broadcast.subject,
		preheader: broadcast.preheader,
		from_name: broadcast.from_name,
		reply_to: broadcast.reply_to,
	};
	if (broadcast.template_slug)
		return {
			...common,
			template_slug: broadcast.template_slug,
			template_binding: broadcast.template_binding ?? {},
		} as BroadcastContent;
	return {
		...common,
		body_html: broadcast.body_mjml ? null : broadcast.body_html,
		body_mjml: broadcast.body_mjml,
		body_text: broadcast.body_text,
	} as BroadcastContent;
}

/** variantContent returns the content of a variant: that of all, with what differs. */
function variantContent(broadcast: BroadcastSessionView, id: string): BroadcastContent {
	const own = broadcast.variants?.find((variant) => variant.id === id)?.content_overrides ?? {};
	const content = { ...contentOf(broadcast.content), ...own } as BroadcastContent;
	if (own.body_html) content.body_mjml = null;
	if (own.body_mjml) content.body_html = null;
	return content;
}

/** Opened is whether the unsaved work of a draft has come back: before, a preview would show what nobody sees. */
export const Opened = createContext(true);

/**
 * usePreview shows a draft as it would be sent, a moment after the last change; newer requests replace older
 * ones. A variant of a mail from a template is shown as it is saved.
 */
export function usePreview(broadcast: BroadcastSessionView, variant = "", contact: string | null = null) {
	const own = broadcast.variants?.find((a) => a.id === variant)?.content_overrides;
	const stored = Boolean(own && broadcast.content.template_slug);
	const text = stored ? broadcast.updated_at : JSON.stringify(variantContent(broadcast, variant));
	const debounced = useDebounced(text, 200);
	const wasOpened = useContext(Opened);
	const started = useRef(false); // the first preview is of what the page shows at first
	if (wasOpened && debounced === text) started.current = true;
	const sender = broadcast.sending_identity_emails?.[0] ?? null;
	const rest = { sending_identity_email: sender, contact_id: contact };
	const body = debounced.startsWith("{")
		? { source: { content: JSON.parse(debounced) as BroadcastContent }, ...rest }
		: { source: { broadcast_id: broadcast.id }, variant_id: variant, ...rest, changed: debounced };
	return useQuery({ ...previewQuery(broadcast.id, body), enabled: started.current });
}

/** ContactPick chooses a contact by name or address. */
export function ContactPick({
	label,
	value,
	onChange,
	help,
}: {
	label: string;
	value: string | null;
	onChange: (id: string | null) => void;
	help?: string;
}) {
	const [search, setSearch] = useState("");
	const [wasOpened, setWasOpened] = useState(false);
	const query = useQuery({ ...foundContactsQuery(search), enabled: wasOpened });
	const options = (query.data?.data ?? []).map((contact) => ({
		id: contact.id,
		label: contact.email,
		detail: [contact.first_name, contact.last_name].filter(Boolean).join(" "),
	}));
	return (
		<Combo
			label={label}
			help={help}
			options={options}
			value={value}
			onSearch={setSearch}
			onOpen={() => setWasOpened(true)}
			loading={query.isPending}
			onChange={onChange}
			placeholder={words.samples}
		/>
	);
}

/** Inbox shows sender, subject and preview text as a phone lists them. */
export function Inbox({ value: broadcast }: { value: BroadcastSessionView }) {
	const [variant] = useParam("variant");
	const preview = usePreview(broadcast, variant);
	const p = preview.data;
	const subject = p?.subject || broadcast.content.subject || "";
	return (
		<div>
			<div className={css.inbox} role="img" aria-label={`${words.inbox}: ${subject || words.noSubject}`}>
				<b>{p?.from ?? broadcast.content.from_name ?? words.sender}</b>
				<span>{subject || words.noSubject}</span>
				<span>{p?.preheader || "\u00a0"}</span>
			</div>
			<p className={css.muted}>
				{words.lengths({ subject: [...subject].length, preheader: [...(p?.preheader ?? "")].length })}{" "}
				{[...subject].length > 40 && words.long}
			</p>
		</div>
	);
}

/** Preview shows the mail as one recipient would get it, with what is wrong with it. */
export function Preview({ value: broadcast }: { value: BroadcastSessionView }) {
	const [variant, setVariant] = useParam("variant");
	const [contact, setContact] = useState<string | null>(null);
	const preview = usePreview(broadcast, variant, contact);
	const p = preview.data;
	return (
		<section className={css.section} aria-label={words.preview} id="preview">
			<h3>{words.preview}</h3>
			<Columns>
				<ContactPick label={words.as} value={contact} onChange={setContact} />
				{broadcast.variants && broadcast.variants.length > 0 && (
					<Select
						label={words.variant}
						value={variant}
						onChange={setVariant}
						choices={[
							{ value: "", label: words.without },
							...broadcast.variants.map((variant) => ({ value: variant.id, label: variant.name })),
						]}
					/>
				)}
			</Columns>
			{preview.isError && <Failure error={preview.error} retry={() => void preview.refetch()} />}
			{p && p.problems.length > 0 && <Problems problems={p.problems} />}
			{p && p.missing.length > 0 && (
				<p className={css.muted}>{words.missing({ paths: p.missing.map((field) => field.path).join(", ") })}</p>
			)}
			{p && <MailFrame html={p.html} text={p.text} size={p.size} />}
		</section>
	);
}
