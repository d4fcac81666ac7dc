import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import { isConflict, request, type Versioned } from "../../api/client";
import type { MessageSession, PreviewProblem, RebasedMessage } from "../../api/schema";
import { useParams } from "../../base/params";
import { flushEditors } from "../../sync/pendingSaves";
import { useDraft } from "../../sync/useDraft";
import { useDisabledReason } from "../../base/session";
import { useShortcuts } from "../../base/shortcuts";
import TemplateBinding from "../binding/BindingEditor";
import { templateOptions, textOf } from "../binding/binding";
import { useBindingOptions } from "../binding/useBindingOptions";
import { TokenField } from "../binding/Tokens";
import { useNames } from "../source/names";
import { MailPane } from "../source/MailPane";
import { ProblemList } from "../source/ProblemList";
import { useMailParts } from "../source/useMailParts";
import { MjmlField } from "../source/MjmlField";
import { pictureOf } from "../source/pictureOf";
import { useLivePreview } from "../source/preview";
import { useMjmlView } from "../source/useMjmlView";
import { Choose } from "../../ui/Versions";
import { Review } from "../source/Review";
import source from "../source/Source.module.css";
import { Button } from "../../ui/Button";
import { CodeWithImages } from "../assets/CodeWithImages";
import { Combo } from "../../ui/Combo";
import { Copy } from "../../ui/Copy";
import { Columns, Radios, TextArea, TextField } from "../../ui/Field";
import { type Problems, problemsOf } from "../../ui/problems";
import { restoredText } from "../../ui/draftForm";
import { fieldAt, focusField, type Place } from "../../ui/focusField";
import { Card, Callout, Page } from "../../ui/Page";
import { Panes, usePane, useWide } from "../../ui/Panes";
import { Failure, Skeleton } from "../../ui/States";
import { Fixed } from "../../ui/Locked";
import { toast } from "../../ui/Toast";
import { newMjml } from "../templates/blankMjml";
import { catalogue } from "../../base/words/catalogue";
import { and } from "../../base/words/formats";
import { bodyOf, type Content, contentCodes, contentNames, editable } from "./content";
import css from "./Library.module.css";
import { holders } from "./holders";
import { useVersions } from "./versions";
import { within } from "../../base/queries";
import { entryQuery, rebaseQuery } from "./queries";
import { templateNamesQuery } from "../templates/queries";
import { to } from "../../base/paths";

const words = catalogue("library.editEntry", {
	library: "Library",
	title: "{name}, version {number}",
	save: "Save version {number}",
	saved: "Version {number} saved. Earlier versions stay as they are.",
	leave: "Leave",
	discard: "Discard changes",
	nothing: "No changes.",
	unsaved: "Not saved",
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
	pinned: "These always use the current version and will send this one: {who}.",
	rebase: "Effects of the template change",
	kept: "{count, plural, one {# value is kept.} other {# values are kept.}}",
	added: "New in the template",
	removed: "No longer in the template",
	changed: "Type changed",
	required: "required",
	old: "old value",
	wasEmpty: "had no value",
	oldIs: "was {v}",
	from: "{a} became {b}",
	valueKept: "value kept",
	valueLost: "value dropped",
	none: "Everything fits.",
});

type Props = { server: Versioned<MessageSession>; rebase: boolean };

/** EditEntry writes the next version of a library entry, or rebases one on its template as it is now. */
export default function EditEntry(props: Props) {
	const [params] = useParams();
	const selected = Number(params.get("v"));
	const version =
		Number.isInteger(selected) && selected > 0 && selected < props.server.data.current_version
			? selected
			: props.server.data.current_version;
	const rebase = props.rebase && version > 0;
	const merged = useQuery({
		...rebaseQuery(props.server.data.id, version),
		enabled: rebase,
		staleTime: Number.POSITIVE_INFINITY,
	});
	if (merged.isError) return <Failure error={merged.error} retry={() => void merged.refetch()} />;
	if (rebase && !merged.data) {
		return (
			<Page title=" " breadcrumbs={[{ name: words.library, to: to.library() }]}>
				<Skeleton rows={12} />
			</Page>
		);
	}
	return <Form server={props.server} merged={rebase ? (merged.data ?? null) : null} />;
}

const count = (value: unknown): number =>
	Array.isArray(value)
		? value.reduce((sum: number, item) => sum + count(item), 0)
		: typeof value === "object" && value !== null
			? Object.values(value).reduce((sum: number, item) => sum + count(item), 0)
			: value === undefined || value === null
				? 0
				: 1;

function Form({ server, merged }: Omit<Props, "rebase"> & { merged: RebasedMessage | null }) {
	const entry = server.data;
	const client = useQueryClient();
	const [, setParams] = useParams();
	const disabledReason = useDisabledReason("PATCH /messages/{id}");
	const path = { id: entry.id };
	const updateCache = (response: Versioned<MessageSession>) => {
		client.setQueryData(entryQuery(entry.id).queryKey, response);
		return response;
	};
	const draft = useDraft<MessageSession, Content>(
		{
			kind: merged ? "message_rebase" : "message",
			id: entry.id,
			title: (values) => values.name,
			load: () => request("GET /messages/{id}", { path }).then(updateCache),
			save: (_, values, revision) =>
				request("PATCH /messages/{id}", { path, body: { content: bodyOf(values) }, revision }).then(updateCache),
			fieldsOf: (entry) => editable(entry.name, entry.current_content),
			reviewed: true,
		},
		server,
		{ autosaveAfter: null, readOnly: disabledReason !== undefined },
		// A rebase begins with the merged values; they are unsaved work like any other.
		merged
			? {
					...editable(entry.name, null),
					subject: merged.subject ?? "",
					preheader: merged.preheader ?? "",
					from_name: merged.from_name ?? "",
					reply_to: merged.reply_to ?? "",
					template: merged.merged_snapshot.slug,
					binding: merged.merged_binding,
				}
			: undefined,
	);
	const { values, changed, conflict, mergedChanges, restored } = draft.state;
	const dirty = changed.length > 0;
	const names = useNames();
	const set = (part: Partial<Content>) => draft.change(part);
	const [kind, setKind] = useState<"template" | "own" | null>(null);
	const choices = useRef(0); // how often it was chosen: the code that one begins with may arrive after the next
	const origin =
		kind ?? (values.template || (!entry.current_content && !values.mjml && !values.html) ? "template" : "own");
	const [format, setFormat] = useState<"mjml" | "html">(values.html ? "html" : "mjml");
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
		disabledReason ?? (conflict ? words.clash : undefined) ?? (dirty || merged ? undefined : words.nothing);
	const current = useVersions(entry.id, reviewing).data?.data.find(
		(version) => version.version === entry.current_version,
	);
	const unpinnedHolders = holders((current?.usage ?? []).filter((use) => use.version === null));
	const leave = () => setParams({ edit: null, v: null }, { replace: true });
	const save = async () => {
		setBusy(true);
		setProblems({ byPath: {}, general: [] });
		try {
			flushEditors();
			await draft.save();
			void client.invalidateQueries(within("messages"));
			await client.invalidateQueries(within("message", entry.id));
			toast(words.saved({ number: draft.state.row.current_version }));
			leave();
		} catch (error) {
			if (isConflict(error)) setReviewing(false);
			setProblems(problemsOf(error, []));
		} finally {
			setBusy(false);
		}
	};
	useShortcuts({
		"mod+s": () => {
			if (saveDisabledReason === undefined) setReviewing(true);
		},
	});
	const [, showPane] = usePane();
	const isWide = useWide();
	const { view } = useMjmlView();
	const picture = useMemo(() => pictureOf(preview.lastValid), [preview.lastValid]);
	const isShown = picture !== null || preview.query.data?.html !== null;
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
	const focusProblem = ({ field, line }: PreviewProblem) => {
		const path = field.replace(/^content\.(template_binding\.)?/, "");
		reveal(path, path === `body_${format}` && line ? { at: line } : undefined);
	};
	const code = {
		label: contentNames[format],
		value: values[format],
		names,
		onChange: (text: string) => set({ [format]: text }),
		problems: problems.filter((problem) => problem.field === `content.body_${format}`),
		readOnly: disabledReason !== undefined,
	};
	return (
		<Page
			wide
			title={words.title({ name: entry.name, number: next })}
			breadcrumbs={[
				{ name: words.library, to: to.library() },
				{ name: entry.name, to: to.entry(entry.id) },
			]}
			status={dirty && <span className={source.unsaved}>{words.unsaved}</span>}
			actions={
				<>
					<Button onClick={leave}>{words.leave}</Button>
					{dirty && <Button onClick={() => draft.discard()}>{words.discard}</Button>}
					<Button variant="primary" disabledReason={saveDisabledReason} busy={busy} onClick={() => setReviewing(true)}>
						{words.save({ number: next })}
					</Button>
				</>
			}
		>
			{restored && dirty && !merged && <Callout tone="progress">{restoredText(restored)}</Callout>}
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
			{merged && <Rebase merged={merged} />}
			{disabledReason && <Callout>{disabledReason}</Callout>}
			<Panes
				preview={
					<MailPane
						preview={preview.query}
						head={{ from: values.from_name, subject: values.subject, preheader: values.preheader }}
						parts={parts}
						stage={isDesigned ? setStage : undefined}
						onMark={onMark}
						onHead={(field) => reveal(field === "from" ? "from_name" : field)}
					>
						{problems.length > 0 && <ProblemList checked problems={problems} onGo={focusProblem} />}
					</MailPane>
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
										<TemplateBinding
											template={values.template}
											record={entry.id}
											value={values.binding}
											preview={preview.query}
											readOnly={disabledReason !== undefined}
											onChange={(binding) => set({ binding })}
										/>
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
										place={place}
										stage={isWide ? stage : undefined}
									/>
								) : (
									<CodeWithImages {...code} format="html" line={place} />
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
					affected={[...(unpinnedHolders ? [words.pinned({ who: unpinnedHolders })] : [])]}
					busy={busy}
					fieldProblems={{ byPath: {}, general: [...fieldProblems.general, ...Object.values(fieldProblems.byPath)] }}
					onSave={() => void save()}
					onClose={() => setReviewing(false)}
				/>
			)}
			{choosing && (
				<Choose draft={draft} names={contentNames} codes={contentCodes} onClose={() => setChoosing(false)} />
			)}
		</Page>
	);
}

/** Rebase says what a change of the template means for values. */
function Rebase({ merged }: { merged: RebasedMessage }) {
	const diff = merged.diff;
	const typeOf = (entry: { [key: string]: unknown }) => textOf(entry.type) || textOf(entry);
	return (
		<Card title={words.rebase}>
			<div className={css.rebase}>
				<p>{words.kept({ count: count(merged.merged_binding.parameters) + count(merged.merged_binding.sections) })}</p>
				{diff.added.length + diff.removed.length + diff.changed.length === 0 && <p>{words.none}</p>}
				{diff.added.length > 0 && (
					<section>
						<h3>{words.added}</h3>
						<ul>
							{diff.added.map((added) => (
								<li key={added.path}>
									<code>{added.path}</code> {added.required && words.required}
								</li>
							))}
						</ul>
					</section>
				)}
				{diff.removed.length > 0 && (
					<section>
						<h3>{words.removed}</h3>
						<ul>
							{diff.removed.map((removed) => (
								<li key={removed.path}>
									<code>{removed.path}</code>{" "}
									{textOf(removed.value) === "" ? (
										words.wasEmpty
									) : (
										<>
											{words.oldIs({ v: textOf(removed.value) })}{" "}
											<Copy subject={words.old} text={textOf(removed.value)} />
										</>
									)}
								</li>
							))}
						</ul>
					</section>
				)}
				{diff.changed.length > 0 && (
					<section>
						<h3>{words.changed}</h3>
						<ul>
							{diff.changed.map((change) => (
								<li key={change.path}>
									<code>{change.path}</code> {words.from({ a: typeOf(change.from), b: typeOf(change.to) })},{" "}
									{change.value_kept ? words.valueKept : words.valueLost}{" "}
									{!change.value_kept && change.value !== undefined && (
										<Copy subject={words.old} text={textOf(change.value)} />
									)}
								</li>
							))}
						</ul>
					</section>
				)}
			</div>
		</Card>
	);
}
