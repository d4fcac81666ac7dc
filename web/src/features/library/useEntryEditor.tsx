import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Suspense, useMemo, useRef, useState } from "react";
import { isConflict } from "../../api/client";
import type { MessageSession, PreviewProblem } from "../../api/schema";
import { flushEditors } from "../../sync/pendingSaves";
import { lazyComponent } from "../../base/lazy";
import { useShortcuts } from "../../base/shortcuts";
import { templateOptions } from "../binding/binding";
import { useBindingOptions } from "../binding/useBindingOptions";
import { TokenField } from "../binding/Tokens";
import { useNames } from "../source/names";
import { type Found, placeIn } from "../source/checks";
import { NotShown } from "../source/NotShown";
import { whyNotShown } from "../source/whyNotShown";
import { MailPane } from "../source/MailPane";
import { useMailParts } from "../source/useMailParts";
import { MjmlField } from "../source/MjmlField";
import { pictureOf } from "../source/pictureOf";
import { htmlOf, useLivePreview } from "../source/preview";
import { useMjmlView } from "../source/useMjmlView";
import { Choose } from "../../ui/Versions";
import { Review } from "../source/Review";
import source from "../source/Source.module.css";
import { Button } from "../../ui/Button";
import { CodeWithImages } from "../assets/CodeWithImages";
import type { CodeControl } from "../../ui/Code";
import { Combo } from "../../ui/Combo";
import { Columns, Radios, TextArea, TextField } from "../../ui/Field";
import { type Problems, problemsOf } from "../../ui/problems";
import { restoredText } from "../../ui/draftForm";
import { fieldAt, focusField, type Place } from "../../ui/focusField";
import { Callout } from "../../ui/Page";
import { Panes, usePane, useWide } from "../../ui/Panes";
import { Fixed } from "../../ui/Locked";
import { Skeleton } from "../../ui/States";
import { toast } from "../../ui/Toast";
import { newMjml } from "../templates/blankMjml";
import { catalogue } from "../../base/words/catalogue";
import { and } from "../../base/words/formats";
import { bodyOf, type Content, contentCodes, contentNames } from "./content";
import type { useEntryDraft } from "./useEntryDraft";
import { within } from "../../base/queries";
import { templateNamesQuery } from "../templates/queries";

const TemplateBinding = lazyComponent(() => import("../binding/BindingEditor"));

const words = catalogue("library.useEntryEditor", {
	save: "Save version {number}",
	saved: "Version {number} saved. Earlier versions stay as they are.",
	discard: "Discard changes",
	nothing: "No changes.",
	joined: "Somebody else saved {fields} in the meantime. Their changes and yours were merged.",
	clash: "Somebody else saved a version with changes to the same parts.",
	choose: "Choose",
	kind: "Created from",
	own: "Own code",
	template: "From a template",
	choice: "Template",
	format: "Format",
	textHelp: "Created from the HTML if empty.",
	preheaderHelp: "Inboxes show it after the subject.",
});

type Props = {
	entry: MessageSession;
	draft: ReturnType<typeof useEntryDraft>;
	/** Whether it may be saved without a change, since it begins with what its template has become. */
	isRebase?: boolean;
	disabledReason?: string;
	/** What saving changes elsewhere, in sentences, and what is called before they are shown. */
	affected: string[];
	onReview: () => void;
	onSaved: () => void;
};

/** useEntryEditor writes the next version of a library entry. It returns what a page or a panel shows of it. */
export function useEntryEditor({ entry, draft, isRebase = false, disabledReason, affected, onReview, onSaved }: Props) {
	const client = useQueryClient();
	const { values, changed, conflict, mergedChanges, restored } = draft.state;
	const dirty = changed.length > 0;
	const names = useNames();
	const set = (part: Partial<Content>) => draft.change(part);
	const [kind, setKind] = useState<"template" | "own" | null>(null);
	const choices = useRef(0); // how often it was chosen: the code that one begins with may arrive after the next
	const origin =
		kind ?? (values.template || (!entry.current_content && !values.mjml && !values.html) ? "template" : "own");
	const [lastFormat, setFormat] = useState<"mjml" | "html">("mjml");
	const format = values.mjml ? "mjml" : values.html ? "html" : lastFormat;
	if (format !== lastFormat) setFormat(format); // it stays while there is no code
	const isHtml = origin === "own" && format === "html";
	const control = useRef<CodeControl>(null);
	const [reviewing, setReviewing] = useState(false);
	const [choosing, setChoosing] = useState(false);
	const [busy, setBusy] = useState(false);
	const [fieldProblems, setProblems] = useState<Problems>({ byPath: {}, general: [] });
	const [wasOpened, setWasOpened] = useState(false);
	const templates = useQuery({ ...templateNamesQuery(), enabled: wasOpened });
	const selectedOptions = useBindingOptions(origin === "template" ? values.template : "").data;
	const preview = useLivePreview("message", entry.id, () => ({ content: bodyOf(values) }), null, true);
	const problems: PreviewProblem[] = preview.query.data?.problems ?? [];
	const next = entry.current_version + 1;
	const saveDisabledReason =
		disabledReason ?? (conflict ? words.clash : undefined) ?? (dirty || isRebase ? undefined : words.nothing);
	const save = async () => {
		setBusy(true);
		setProblems({ byPath: {}, general: [] });
		try {
			flushEditors();
			await draft.save();
			void client.invalidateQueries(within("messages"));
			await client.invalidateQueries(within("message", entry.id));
			toast(words.saved({ number: draft.state.row.current_version }));
			onSaved();
		} catch (error) {
			if (isConflict(error)) setReviewing(false);
			setProblems(problemsOf(error, []));
		} finally {
			setBusy(false);
		}
	};
	const review = () => {
		onReview();
		setReviewing(true);
	};
	useShortcuts({
		"mod+s": () => {
			if (saveDisabledReason === undefined) review();
		},
	});
	const [, showPane] = usePane();
	const isWide = useWide();
	const { view } = useMjmlView();
	const picture = useMemo(() => pictureOf(preview.lastValid), [preview.lastValid]);
	const isShown = picture !== null || (!preview.query.isError && preview.query.data?.html !== null);
	const isDesigned = isWide && view === "design" && origin === "own" && format === "mjml" && isShown;
	const [stage, setStage] = useState<HTMLElement | null>(null);
	const [place, setPlace] = useState<Place | null>(null);
	const reveal = (path: string, place?: Place) => {
		showPane("write");
		setTimeout(() => {
			const field = fieldAt(document, path);
			if (place) setPlace(place);
			else if (field) focusField(field);
		}, 50);
	};
	const { parts, onMark } = useMailParts({
		code: origin === "template" ? null : values[format],
		template: values.template || null,
		// A design that cannot show the mail has no elements to go to.
		onCode: (place) => reveal(format, isShown ? place : { at: place.at }),
		onFilling: reveal,
	});
	const focusProblem = (found: Found) => {
		const path = found.field.replace(/^content\.(template_binding\.)?/, "");
		if (origin === "template" && found.mark !== undefined) return onMark(found.mark, found.row ?? 0);
		const place = path === `body_${format}` ? placeIn(found, values[format]) : null;
		reveal(path, place && !isShown ? { at: place.at } : (place ?? undefined));
	};
	// Beside the mail, that says it.
	const notShown = isWide ? null : whyNotShown(preview);
	const code = {
		label: contentNames[format],
		value: values[format],
		names,
		onChange: (text: string) => set({ [format]: text }),
		problems: problems.filter((problem) => problem.field === `content.body_${format}`),
		readOnly: disabledReason !== undefined,
	};
	const actions = (
		<>
			{dirty && <Button onClick={() => draft.discard()}>{words.discard}</Button>}
			<Button variant="primary" disabledReason={saveDisabledReason} busy={busy} onClick={review}>
				{words.save({ number: next })}
			</Button>
		</>
	);
	const notices = (
		<>
			{restored && dirty && !isRebase && <Callout tone="progress">{restoredText(restored)}</Callout>}
			{mergedChanges && (
				<Callout tone="progress">
					{words.joined({ fields: and(mergedChanges.fields.map((field) => contentNames[field as keyof Content])) })}
				</Callout>
			)}
			{conflict && (
				<Callout tone="warning" title={words.clash}>
					<div className={source.calloutActions}>
						<Button small onClick={() => setChoosing(true)}>
							{words.choose}
						</Button>
					</div>
				</Callout>
			)}
		</>
	);
	const content = (
		<>
			{disabledReason && <Callout>{disabledReason}</Callout>}
			<Panes
				preview={
					<MailPane
						preview={{ ...preview.query, html: htmlOf(preview.request) }}
						head={{ from: values.from_name, subject: values.subject, preheader: values.preheader }}
						parts={parts}
						stage={isDesigned ? setStage : undefined}
						onMark={onMark}
						html={isHtml && !disabledReason ? { text: values.html, control, onChange: (html) => set({ html }) } : null}
						onGo={focusProblem}
						onHead={(field) => reveal(field === "from" ? "from_name" : field)}
					/>
				}
				write={
					<div className={source.left}>
						<Fixed locked={disabledReason !== undefined}>
							<TokenField
								label={contentNames.subject}
								path="subject"
								value={values.subject}
								onChange={(subject) => set({ subject })}
								readOnly={disabledReason !== undefined}
							/>
							<TokenField
								label={contentNames.preheader}
								optional
								help={words.preheaderHelp}
								path="preheader"
								value={values.preheader}
								onChange={(preheader) => set({ preheader })}
								readOnly={disabledReason !== undefined}
							/>
							<Columns>
								<TextField
									label={contentNames.from_name}
									optional
									path="from_name"
									value={values.from_name}
									onChange={(from_name) => set({ from_name })}
									readOnly={disabledReason !== undefined}
								/>
								<TextField
									label={contentNames.reply_to}
									optional
									path="reply_to"
									value={values.reply_to}
									onChange={(reply_to) => set({ reply_to })}
									readOnly={disabledReason !== undefined}
								/>
							</Columns>
							<Radios
								row
								label={words.kind}
								value={origin}
								onChange={(value) => {
									setKind(value as "template" | "own");
									const made = ++choices.current;
									if (value === "own") {
										const begin = async () => {
											const mjml = values.mjml || (values.html ? "" : await newMjml(client));
											if (made === choices.current) set({ template: "", binding: {}, mjml });
										};
										void begin();
									} else set({ mjml: "", html: "", text: "" });
								}}
								choices={[
									{ value: "template", label: words.template },
									{ value: "own", label: words.own },
								]}
							/>
							{origin === "template" ? (
								<>
									<Combo
										label={words.choice}
										options={templateOptions(templates.data?.data, selectedOptions)}
										onOpen={() => setWasOpened(true)}
										loading={templates.isPending}
										value={values.template || null}
										onChange={(slug) => set({ template: slug ?? "", binding: {} })}
									/>
									{values.template && (
										<Suspense fallback={<Skeleton rows={6} height={32} />}>
											<TemplateBinding
												template={values.template}
												record={entry.id}
												value={values.binding}
												preview={preview.query}
												readOnly={disabledReason !== undefined}
												onChange={(binding) => set({ binding })}
											/>
										</Suspense>
									)}
								</>
							) : (
								<Radios
									row
									label={words.format}
									value={format}
									onChange={(value) => {
										const code = values.mjml || values.html;
										setFormat(value as "mjml" | "html");
										set(value === "mjml" ? { mjml: code, html: "" } : { html: code, mjml: "" });
									}}
									choices={[
										{ value: "mjml", label: contentNames.mjml },
										{ value: "html", label: contentNames.html },
									]}
								/>
							)}
						</Fixed>
						{origin === "own" && (
							<>
								{format === "mjml" ? (
									<MjmlField
										{...code}
										begin={() => newMjml(client)}
										picture={picture}
										notice={notShown && <NotShown {...notShown} onGo={focusProblem} />}
										place={place}
										stage={isWide ? stage : undefined}
									/>
								) : (
									<CodeWithImages {...code} format="html" line={place} control={control} />
								)}
								<Fixed locked={disabledReason !== undefined}>
									<TextArea
										rows={4}
										label={contentNames.text}
										optional
										help={words.textHelp}
										value={values.text}
										onChange={(text) => set({ text })}
										readOnly={disabledReason !== undefined}
									/>
								</Fixed>
							</>
						)}
					</div>
				}
			/>
			{reviewing && (
				<Review
					before={draft.state.saved}
					after={values}
					names={contentNames}
					codes={contentCodes}
					problems={problems}
					affected={affected}
					busy={busy}
					fieldProblems={{ byPath: {}, general: [...fieldProblems.general, ...Object.values(fieldProblems.byPath)] }}
					onSave={() => void save()}
					onClose={() => setReviewing(false)}
				/>
			)}
			{choosing && (
				<Choose draft={draft} names={contentNames} codes={contentCodes} onClose={() => setChoosing(false)} />
			)}
		</>
	);
	return { dirty, next, actions, notices, content };
}
