import { useQuery } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useRef, useState } from "react";
import type { BroadcastContent, BroadcastSessionView, PreviewProblem } from "../../api/schema";
import { useParam } from "../../base/params";
import { Combo } from "../../ui/Combo";
import { Select } from "../../ui/Field";
import type { Place } from "../../ui/focusField";
import { useDebounced } from "../../ui/useDebounced";
import { catalogue } from "../../base/words/catalogue";
import { foundContactsQuery } from "../contacts/queries";
import type { Picture } from "../design/picture";
import { type Found, placeIn } from "../source/checks";
import { MailPane } from "../source/MailPane";
import type { Shown } from "../source/MjmlField";
import type { HtmlCode } from "../source/useHtmlPicture";
import { whyNotShown } from "../source/whyNotShown";
import { pictureOf } from "../source/pictureOf";
import { useNamesOfPaths } from "../rules/useFields";
import css from "./Composer.module.css";
import { useSending } from "./From";
import { sectionOf } from "./sectionOf";
import { previewQuery } from "./queries";
import { useMailParts } from "../source/useMailParts";
import { codeOf } from "./draftSummary";

const words = catalogue("broadcasts.preview", {
	as: "Preview as",
	samples: "Sample values",
	variant: "Version",
	without: "Base version",
	missing: "No value for: {paths}.",
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
 * ones. A variant of a mail from a template is shown as it is saved. What it returns says of which variant and contact it is.
 */
export function usePreview(broadcast: BroadcastSessionView, variant = "", contact: string | null = null) {
	const own = broadcast.variants?.find((a) => a.id === variant)?.content_overrides;
	const stored = Boolean(own && broadcast.content.template_slug);
	const text = stored ? broadcast.updated_at : JSON.stringify(variantContent(broadcast, variant));
	const wanted = `${variant} ${text}`;
	const debounced = useDebounced(wanted, 200);
	const wasOpened = useContext(Opened);
	const started = useRef(false); // the first preview is of what the page shows at first
	if (wasOpened && debounced === wanted) started.current = true;
	const space = debounced.indexOf(" ");
	const [shownVariant, shownText] = [debounced.slice(0, space), debounced.slice(space + 1)];
	const sender = broadcast.sending_identity_emails?.[0] ?? null;
	const rest = { sending_identity_email: sender, contact_id: contact, marks: true };
	const body = shownText.startsWith("{")
		? { source: { content: JSON.parse(shownText) as BroadcastContent }, ...rest }
		: { source: { broadcast_id: broadcast.id }, variant_id: shownVariant, ...rest, changed: shownText };
	const query = useQuery({ ...previewQuery(broadcast.id, body), enabled: started.current });
	const html = body.source.content?.body_html ?? null;
	return { ...query, of: `${shownVariant} ${contact ?? ""}`, html, request: JSON.stringify(body) };
}

/** isBody reports whether a field is the code of a mail. */
export const isBody = (field: string) => /^content\.body_(mjml|html)$/.test(field);

/** useMail is the mail beside the form of a draft: of which version it is and for whom, and the code that makes it. */
export function useMail(broadcast: BroadcastSessionView) {
	const [selected, setVariant] = useParam("variant");
	const variant = broadcast.variants?.some(({ id }) => id === selected) ? selected : "";
	const [contact, setContact] = useState<string | null>(null);
	const preview = usePreview(broadcast, variant, contact);
	const { data: answer, request } = preview;
	const isNew = !preview.isPlaceholderData && preview.of === `${variant} ${contact ?? ""}`;
	const code = codeOf(broadcast, variant);
	const path = code?.path ?? "";
	const [last, setLast] = useState<{ path: string; picture: Picture; at: Date } | null>(null);
	const [checked, setChecked] = useState<{ path: string; problems: PreviewProblem[] } | null>(null);
	useEffect(() => {
		if (answer && isNew) setChecked({ path, problems: answer.problems });
		const picture = answer && isNew ? pictureOf({ answer, request }) : null;
		if (picture) setLast({ path, picture, at: new Date() });
	}, [answer, isNew, request, path]);
	const picture = last?.path === path ? last.picture : null;
	const at = last?.path === path ? last.at : null;
	const isShown = picture !== null || (!preview.isError && answer?.html !== null);
	const notShown = whyNotShown({ query: preview, lastValid: at && { at } });
	const problems = checked?.path === path ? checked.problems.filter(({ field }) => isBody(field)) : [];
	return { variant, setVariant, contact, setContact, preview, code, picture, problems, isShown, notShown };
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

/** MailAt returns where the mail is shown that a field makes, and where to go in that field. */
export type MailAt = (path: string) => Shown & { problems: PreviewProblem[] | undefined; place: Place | null };

type PreviewProps = {
	value: BroadcastSessionView;
	mail: ReturnType<typeof useMail>;
	/** What changes its own HTML, if that can be changed. */
	html: Omit<HtmlCode, "text"> | null;
	/** Gets the element in which a design shows the mail, while one does. */
	stage?: (element: HTMLElement | null) => void;
	onReveal: (section: string, path?: string, place?: Place) => void;
};

/** Preview shows the mail as one recipient would get it, with what is wrong with it. What is pressed in it is edited. */
export function Preview({ value: broadcast, mail, html, stage, onReveal }: PreviewProps) {
	const { variant, setVariant, contact, setContact, preview, code } = mail;
	const { senders } = useSending();
	const nameOf = useNamesOfPaths();
	const { parts, onMark } = useMailParts({
		code: code?.text ?? null,
		template: broadcast.content.template_slug,
		// A design that cannot show the mail has no elements to go to.
		onCode: (place) => code && onReveal(sectionOf(code.path), code.path, mail.isShown ? place : { at: place.at }),
		onFilling: (path) => onReveal("content", path),
	});
	const { content } = broadcast;
	const index = broadcast.variants?.findIndex(({ id }) => id === variant) ?? -1;
	const own = broadcast.variants?.[index]?.content_overrides;
	const sender = senders.find(({ email_address }) => email_address === broadcast.sending_identity_emails?.[0]);
	const name = content.from_name || sender?.display_name;
	const p = preview.data;
	const go = (found: Found) => {
		const { field, mark, row } = found;
		const path = isBody(field) && code ? code.path : field.replace(/^content\.template_binding\./, "");
		if (!code && mark !== undefined) onMark(mark, row ?? 0);
		else {
			const place = code && path === code.path ? placeIn(found, code.text) : null;
			onReveal(sectionOf(path), path, place && !mail.isShown ? { at: place.at } : (place ?? undefined));
		}
	};
	return (
		<MailPane
			onGo={go}
			isForContact={contact !== null}
			preview={preview}
			head={{
				from: sender ? `${name} <${sender.email_address}>` : name,
				subject: own?.subject ?? content.subject,
				preheader: own?.preheader ?? content.preheader,
			}}
			parts={parts}
			stage={stage}
			onMark={onMark}
			html={html && code?.path === "content.body_html" ? { ...html, text: code.text } : null}
			onHead={(field) => {
				const path = field === "from" ? "from_name" : field;
				if (own && path in own) onReveal("variants", `variants[${index}].content_overrides.${path}`);
				else if (field === "from") onReveal("from", "sending_identity_emails");
				else onReveal("content", `content.${field}`);
			}}
			tools={
				<>
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
				</>
			}
		>
			{contact === null && p && p.missing.length > 0 && (
				<p className={css.muted}>{words.missing({ paths: p.missing.map(({ path }) => nameOf(path)).join(", ") })}</p>
			)}
		</MailPane>
	);
}
