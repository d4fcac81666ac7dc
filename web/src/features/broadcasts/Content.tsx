import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type RefObject, Suspense, useRef, useState } from "react";
import type { BroadcastContent, BroadcastSessionView } from "../../api/schema";
import { lazyComponent, retryImport } from "../../base/lazy";
import { useParam } from "../../base/params";
import { templateOptions } from "../binding/binding";
import { useBindingOptions } from "../binding/useBindingOptions";
import { TokenField } from "../binding/Tokens";
import { MjmlField } from "../source/MjmlField";
import { useNames } from "../source/names";
import type { CodeControl } from "../../ui/Code";
import { Combo } from "../../ui/Combo";
import { Radios, TextArea } from "../../ui/Field";
import { Fixed } from "../../ui/Locked";
import { Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import css from "./Composer.module.css";
import type { Draft } from "./draft";
import { codeOf } from "./draftSummary";
import { EmojiMenu } from "./Emoji";
import { type MailAt, usePreview } from "./Preview";
import { templateNamesQuery } from "../templates/queries";

const CodeWithImages = lazyComponent(() =>
	import("../assets/CodeWithImages").then((module) => ({ default: module.CodeWithImages })),
);

const TemplateBinding = lazyComponent(() => import("../binding/BindingEditor"));

const words = catalogue("broadcasts.content", {
	kind: "Created from",
	own: "Own code",
	template: "From a template",
	choose: "Template",
	values: "Content values",
	subject: "Subject",
	preheader: "Preview text",
	preheaderHelp: "Inboxes show it after the subject.",
	format: "Format",
	mjml: "MJML",
	html: "HTML",
	body: { mjml: "MJML", html: "HTML" },
	text: "Plain text",
	textHelp: "Created from the HTML if empty.",
	characters: "{count, plural, one {# character.} other {# characters.}}",
	long: "{count, plural, one {# character.} other {# characters.}} Phones cut subjects after about 40. More than 150 is too long everywhere.",
});

/** After so many characters phones cut a subject. */
const phoneSubject = 40;

/** Content is what the mail says: own code or a template, with its subject, and how it looks. */
export function Content({
	draft,
	value: broadcast,
	fixed,
	mailAt,
	html,
}: {
	draft: Draft;
	value: BroadcastSessionView;
	fixed: boolean;
	mailAt: MailAt;
	/** Gets what changes the HTML from outside. */
	html: RefObject<CodeControl | null>;
}) {
	const c = broadcast.content;
	const [selected, setKind] = useState("own");
	const client = useQueryClient();
	const [beginning, setBeginning] = useState(false); // the code that a mail begins with is on its way
	const choices = useRef(0);
	const kind = c.template_slug && !beginning ? "template" : selected;
	const [variant, setVariant] = useParam("variant", "", { replace: true });
	const [lastFormat, setFormat] = useState<"mjml" | "html">("mjml");
	const format = c.body_mjml ? "mjml" : c.body_html ? "html" : lastFormat;
	if (format !== lastFormat) setFormat(format); // it stays while there is no code
	const [wasOpened, setWasOpened] = useState(false);
	const templates = useQuery({ ...templateNamesQuery(), enabled: wasOpened });
	const selectedOptions = useBindingOptions(c.template_slug).data;
	const names = useNames();
	const preview = usePreview(broadcast);
	const fault = draft.problem(`content.body_${format}`);
	const length = [...(c.subject ?? "")].length;
	const change = (part: Partial<BroadcastContent>) => draft.change({ content: part as BroadcastContent });
	const begin = async () => {
		const { newMjml } = await retryImport(() => import("../templates/blankMjml"));
		return newMjml(client);
	};
	const chooseKind = async (value: string) => {
		const choice = ++choices.current;
		setKind(value);
		setBeginning(false);
		if (value !== "own" || !c.template_slug) return;
		const own: { [field: string]: string | null } = { template_slug: null, template_binding: null };
		if (!c.body_mjml && !c.body_html) {
			setBeginning(true);
			own.body_mjml = await begin();
			if (choice !== choices.current) return;
			setBeginning(false);
		}
		change(own as Partial<BroadcastContent>);
	};
	const code = {
		label: words.body[format],
		names,
		readOnly: fixed,
		problems: preview.data?.problems.filter((problem) => problem.field === `content.body_${format}`),
		value: (format === "mjml" ? c.body_mjml : c.body_html) ?? "",
		onChange: (text: string) =>
			change(format === "mjml" ? { body_mjml: text, body_html: null } : { body_html: text, body_mjml: null }),
	};
	const path = `content.body_${format}`;
	const { place, ...shown } = mailAt(path);
	return (
		<>
			<Fixed locked={fixed}>
				<TokenField
					label={words.subject}
					help={(length > phoneSubject ? words.long : words.characters)({ count: length })}
					value={c.subject ?? ""}
					maxLength={500}
					path="content.subject"
					error={draft.problem("content.subject")}
					onChange={(subject) => change({ subject })}
					aside={
						<EmojiMenu field={words.subject} onChoose={(value) => change({ subject: `${c.subject ?? ""}${value}` })} />
					}
				/>
				<TokenField
					label={words.preheader}
					optional
					help={words.preheaderHelp}
					value={c.preheader ?? ""}
					maxLength={500}
					path="content.preheader"
					error={draft.problem("content.preheader")}
					onChange={(preheader) => change({ preheader: preheader || null })}
					aside={
						<EmojiMenu
							field={words.preheader}
							onChoose={(value) => change({ preheader: `${c.preheader ?? ""}${value}` })}
						/>
					}
				/>
				<Radios
					label={words.kind}
					value={kind}
					onChange={(value) => void chooseKind(value)}
					choices={[
						{ value: "own", label: words.own },
						{ value: "template", label: words.template },
					]}
				/>
				{kind === "template" ? (
					<>
						<Combo
							label={words.choose}
							path="content.template_slug"
							options={templateOptions(templates.data?.data, selectedOptions)}
							onOpen={() => setWasOpened(true)}
							loading={templates.isPending}
							value={c.template_slug}
							onChange={(slug) =>
								change({
									template_slug: slug,
									template_binding: {},
									body_html: null,
									body_mjml: null,
									body_text: null,
								} as Partial<BroadcastContent>)
							}
						/>
						{c.template_slug && (
							<section className={css.values} aria-label={words.values}>
								<Suspense fallback={<Skeleton rows={6} height={32} />}>
									<TemplateBinding
										template={c.template_slug}
										record={broadcast.id}
										value={c.template_binding ?? {}}
										preview={preview}
										onChange={(template_binding) => change({ template_binding })}
									/>
								</Suspense>
							</section>
						)}
					</>
				) : (
					<Radios
						label={words.format}
						value={format}
						onChange={(value) => {
							const source = c.body_mjml ?? c.body_html ?? "";
							setFormat(value as "mjml" | "html");
							change(
								value === "mjml" ? { body_mjml: source, body_html: null } : { body_html: source, body_mjml: null },
							);
						}}
						choices={[
							{ value: "mjml", label: words.mjml },
							{ value: "html", label: words.html },
						]}
					/>
				)}
			</Fixed>
			{kind === "own" &&
				(beginning ? (
					<Skeleton rows={8} />
				) : (
					<>
						<div
							className={css.codeField}
							data-path={path}
							// The mail beside it is the one that is written.
							onFocusCapture={() => codeOf(broadcast, variant)?.path !== path && setVariant("")}
						>
							<h3>{words.body[format]}</h3>
							{format === "mjml" ? (
								<MjmlField {...shown} {...code} place={place} begin={begin} />
							) : (
								<Suspense fallback={<Skeleton rows={8} />}>
									<CodeWithImages {...code} format="html" line={place} control={html} />
								</Suspense>
							)}
							{fault && <p role="alert">{fault}</p>}
						</div>
						<Fixed locked={fixed}>
							<TextArea
								rows={4}
								label={words.text}
								optional
								help={words.textHelp}
								value={draft.changes.content?.body_text ?? c.body_text ?? ""}
								onChange={(body_text) => change({ body_text: body_text || null })}
							/>
						</Fixed>
					</>
				))}
		</>
	);
}
