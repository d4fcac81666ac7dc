import { useQuery } from "@tanstack/react-query";
import { type ReactNode, Suspense, useMemo, useRef, useState } from "react";
import type { PreviewProblem, PreviewSource } from "../../api/schema";
import { ApiError, isConflict } from "../../api/client";
import { asOwn, flushEditors } from "../../sync/pendingSaves";
import type { DraftStore } from "../../sync/store";
import { useParam } from "../../base/params";
import { useShortcuts } from "../../base/shortcuts";
import { Button } from "../../ui/Button";
import { CodeWithImages } from "../assets/CodeWithImages";
import { Code, type CodeControl } from "../../ui/Code";
import { Confirm } from "../../ui/Dialog";
import { Radios, TextField } from "../../ui/Field";
import { type Problems as Faults, problemsOf } from "../../ui/problems";
import { MailFrame } from "../../ui/MailFrame";
import { type Action, Menu } from "../../ui/Menu";
import { restoredText } from "../../ui/draftForm";
import type { Place } from "../../ui/focusField";
import { Callout, Page } from "../../ui/Page";
import { Panes, usePane } from "../../ui/Panes";
import { Skeleton } from "../../ui/States";
import type { Press } from "../../ui/frame/reports";
import { Tabs } from "../../ui/Tabs";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { and } from "../../base/words/formats";
import { explain, mailProblem } from "../../base/words/errors";
import { lazyComponent } from "../../base/lazy";
import { MailChecks } from "./MailChecks";
import { type Found, placeIn } from "./checks";
import { type Draft, schemaOf } from "./draft";
import { fixesFor } from "./fixes";
import { lineAt, withoutMarks } from "./mailParts";
import { MjmlField } from "./MjmlField";
import { useNames } from "./names";
import { whyNotShown } from "./whyNotShown";
import { ProblemList } from "./ProblemList";
import { pictureOf } from "./pictureOf";
import { useLivePreview } from "./preview";
import { Choose } from "../../ui/Versions";
import css from "./Source.module.css";
import { TagPicks } from "./TagPicks";
import { useMjmlView } from "./useMjmlView";
import { fieldNames } from "./words";
import { touchedQuery } from "./queries";

const ContactPick = lazyComponent(() => import("./ContactPick").then((module) => ({ default: module.ContactPick })));

const Review = lazyComponent(() => import("./Review").then((module) => ({ default: module.Review<Draft> })));

const SchemaEditor = lazyComponent(() => import("./Schema").then((module) => ({ default: module.SchemaEditor })));

const NotShown = lazyComponent(() => import("./NotShown").then((module) => ({ default: module.NotShown })));

const HtmlMail = lazyComponent(() => import("./HtmlMail"));

const Missing = lazyComponent(() => import("./Missing").then((module) => ({ default: module.Missing })));

const words = catalogue("source.sourceEditor", {
	parts: "Parts",
	schema: "Schema",
	settings: "Settings",
	slug: "Key",
	save: "Save",
	nothing: "No changes.",
	unsaved: "Not saved",
	discard: "Discard changes",
	joined: "Somebody else changed {fields} in the meantime. Their changes and yours were merged.",
	clash: "Somebody else changed the same parts in the meantime.",
	choose: "Choose",
	delete: "Delete",
	deleteTitle: "Delete {name}?",
	force: "Delete anyway",
	inUse: "Used by {uses, list}.",
	drafts: "{count, plural, one {# draft} other {# drafts}}",
	recent: "{count, plural, one {# broadcast in the last 30 days} other {# broadcasts in the last 30 days}}",
	preview: "Preview",
	as: "Preview as",
	samples: "Samples",
	own: "Own values",
	person: "A contact",
	contact: "Contact",
	edit: "Edit values",
	badSchema: "The schema is not a valid JSON object yet.",
	subjectLine: "Subject",
	noSubject: "No subject",
});

type Body = "mjml" | "html";

const codes: (keyof Draft)[] = ["mjml", "html", "text", "schema"];

type Props<Row> = {
	kind: "template" | "block";
	id: string;
	/** The name and address of the list. */
	list: { name: string; to: string };
	store: DraftStore<Row, Draft>;
	disabledReason?: string;
	/** The bodies that it has, the first of which is shown first. */
	bodies: Body[];
	hasSubject?: boolean;
	/** Returns what its MJML is begun with if that is empty. */
	begin?: () => Promise<string>;
	/** Its own settings, below name, key and tags. */
	settings: (draft: Draft, set: (part: Partial<Draft>) => void, problems: Faults) => ReactNode;
	slugHelp: string;
	schemaParts: ("parameters" | "sections" | "slots" | "groups" | "expects")[];
	eligible?: (tags: string[]) => number | undefined;
	tags: string[];
	/** What is previewed, with own values if there are some; null while that is not known yet. */
	source: (draft: Draft, values: { [name: string]: unknown } | null) => PreviewSource | null;
	/** The form of own values; shown in place of the code. */
	values: (
		draft: Draft,
		values: { [name: string]: unknown },
		set: (values: { [name: string]: unknown }) => void,
		problems: PreviewProblem[],
	) => ReactNode;
	/** Beside the choice of whom the preview is for. */
	previewTools?: ReactNode;
	/** Asks whom saving touches; answers in sentences. */
	affected: () => Promise<string[]>;
	deleteText: string;
	savedText: string;
	remove: (force: boolean) => Promise<void>;
	status?: ReactNode;
	menu?: Action[];
};

/** SourceEditor is the editor of a template or a block: its code and what it declares, what is wrong with them, and how the mail looks. */
export function SourceEditor<Row>(props: Props<Row>) {
	const { values: draft, saved, changed, conflict, mergedChanges, restored } = props.store.state;
	const set = (part: Partial<Draft>) => props.store.change(part);
	const dirty = changed.length > 0;
	const { schema: declared } = draft;
	const [first] = useState(() => props.bodies.find((body) => draft[body] !== "") ?? props.bodies[0] ?? "mjml");
	const [tab, setTab] = useParam("tab", first);
	const [pane, showPane] = usePane();
	const { view } = useMjmlView();
	const [contact, setContact] = useParam("contact");
	const [previewAs, setPreviewAs] = useParam("as", "samples");
	const [own, setOwn] = useState<{ [name: string]: unknown }>({});
	const [place, setPlace] = useState<(Place & { body: string }) | null>(null);
	const isHtml = tab === "html" && props.kind === "template";
	const control = useRef<CodeControl>(null);
	const [reviewing, setReviewing] = useState(false);
	const [choosing, setChoosing] = useState(false);
	const [deleting, setDeleting] = useState(false);
	const [inUse, setInUse] = useState<string | null>(null);
	const [removing, setRemoving] = useState(false);
	const [removeError, setRemoveError] = useState<unknown>(null);
	const [busy, setBusy] = useState(false);
	const [fieldProblems, setProblems] = useState<Faults>({ byPath: {}, general: [] });
	const affected = useQuery({ ...touchedQuery(props.kind, props.id, props.affected), enabled: reviewing });
	const isForContact = previewAs === "contact" && contact !== "";
	const schema = useMemo(() => schemaOf({ schema: declared }), [declared]);
	const names = useNames(schema);
	const designing = tab === "mjml" && view === "design" && props.bodies.includes("mjml");
	const preview = useLivePreview(
		props.kind,
		props.id,
		() => (schema ? props.source(draft, previewAs === "own" ? own : null) : null),
		isForContact ? contact : null,
		true,
	);
	const found = preview.query.data?.problems;
	const problems = found ?? [];
	const faultsOf = useMemo(() => {
		const problemsFor = (b: string) =>
			(found ?? [])
				.filter((problem) => problem.field.endsWith(`content_${b}`))
				.map((problem) => ({ ...problem, message: mailProblem(problem) }));
		return { mjml: problemsFor("mjml"), html: problemsFor("html"), text: problemsFor("text") };
	}, [found]);
	const ofSubject = problems.find((problem) => problem.field === "subject");
	const subjectProblem = ofSubject && mailProblem(ofSubject);
	const shown = preview.lastValid?.answer ?? preview.query.data;
	const readOnly = props.disabledReason !== undefined;
	const picture = useMemo(() => pictureOf(preview.lastValid), [preview.lastValid]);
	const placeOf = (body: string) => (place?.body === body ? place : null);
	const notShown = whyNotShown(preview);
	const source = useMemo(() => shown?.html && withoutMarks(shown.html), [shown?.html]);

	const save = async () => {
		setBusy(true);
		setProblems({ byPath: {}, general: [] });
		try {
			flushEditors();
			await props.store.save();
			setReviewing(false);
			toast(props.savedText);
		} catch (error) {
			if (isConflict(error)) setReviewing(false);
			setProblems(problemsOf(error, ["name", "slug", "subject", "tags", "slot_keys"]));
		} finally {
			setBusy(false);
		}
	};
	const saveDisabledReason =
		props.disabledReason ??
		(schema ? undefined : words.badSchema) ??
		(conflict ? words.clash : undefined) ??
		(dirty ? undefined : words.nothing);
	useShortcuts({
		"mod+s": () => {
			if (saveDisabledReason === undefined) setReviewing(true);
		},
	});
	const remove = async () => {
		setRemoving(true);
		setRemoveError(null);
		try {
			await props.remove(inUse !== null);
		} catch (error) {
			const details =
				error instanceof ApiError && error.code === "IN_USE"
					? (error.details as { active_drafts?: number; recent_broadcasts?: number })
					: null;
			if (details) {
				const [drafts, recent] = [details.active_drafts ?? 0, details.recent_broadcasts ?? 0];
				const uses = [drafts > 0 && words.drafts({ count: drafts }), recent > 0 && words.recent({ count: recent })];
				setInUse(words.inUse({ uses: uses.filter((use) => use !== false) }));
			} else setRemoveError(error);
		} finally {
			setRemoving(false);
		}
	};
	const onPress = ({ mark, double }: Press) => {
		if (mark < 0 || double) return;
		showPane("write");
		setTab("mjml");
		setPlace({ body: "mjml", at: lineAt(draft.mjml, mark), position: mark });
	};
	const focusProblem = (problem: Found) => {
		showPane("write");
		if (
			problem.field.startsWith("binding.") ||
			problem.field.startsWith("parameters.") ||
			problem.field.startsWith("sections.")
		)
			return setTab("own");
		const part = /^(\w+_schema)/.exec(problem.field)?.[1];
		const to = part
			? "schema"
			: problem.field === "content_text"
				? "text"
				: (props.bodies.find((body) => problem.field === `content_${body}`) ??
					(problem.field === "subject" ? first : "settings"));
		setTab(to);
		if (problem.field === `content_${to}`) {
			const place = placeIn(problem, draft[to as Body | "text"]);
			if (place) setPlace({ body: to, ...place });
		}
		requestAnimationFrame(() => {
			const el = document.querySelector<HTMLElement>(
				part ? `[data-part="${part}"]` : `[data-path="${CSS.escape(problem.field)}"]`,
			);
			el?.focus();
			el?.scrollIntoView({ block: "center" });
		});
	};
	const tabs = [
		...props.bodies.map((body) => ({ id: body, name: body.toUpperCase() })),
		{ id: "text", name: fieldNames.text },
		{ id: "schema", name: words.schema },
		{ id: "settings", name: words.settings },
	];
	if (previewAs === "own") tabs.push({ id: "own", name: words.own });
	const previewTools = (
		<>
			<Radios
				row
				label={words.as}
				value={previewAs}
				onChange={(value) => {
					setPreviewAs(value);
					if (tab === "own" && value !== "own") setTab(first);
				}}
				choices={[
					{ value: "samples", label: words.samples },
					{ value: "own", label: words.own },
					{ value: "contact", label: words.person },
				]}
			/>
			<div className={css.tools}>
				{previewAs === "own" && tab !== "own" && (
					<Button
						small
						onClick={() => {
							setTab("own");
							showPane("write");
						}}
					>
						{words.edit}
					</Button>
				)}
				{previewAs === "contact" && (
					<Suspense>
						<ContactPick label={words.contact} value={contact || null} onChange={(id) => setContact(id ?? "")} />
					</Suspense>
				)}
				{props.previewTools}
			</div>
		</>
	);
	return (
		<Page
			wide
			title={draft.name || saved.name}
			breadcrumbs={[props.list]}
			status={
				<>
					{props.status}
					{dirty && <span className={css.unsaved}>{words.unsaved}</span>}
				</>
			}
			actions={
				<>
					{dirty && <Button onClick={() => asOwn(() => props.store.discard())}>{words.discard}</Button>}
					<Button variant="primary" busy={busy} disabledReason={saveDisabledReason} onClick={() => setReviewing(true)}>
						{words.save}
					</Button>
					<Menu
						actions={[
							...(props.menu ?? []),
							{
								id: "delete",
								label: words.delete,
								danger: true,
								disabledReason: props.disabledReason,
								run: () => setDeleting(true),
							},
						]}
					/>
				</>
			}
		>
			{props.disabledReason && <Callout>{props.disabledReason}</Callout>}
			{restored && dirty && <Callout tone="progress">{restoredText(restored)}</Callout>}
			{mergedChanges && (
				<Callout tone="progress">
					{words.joined({ fields: and(mergedChanges.fields.map((field) => fieldNames[field as keyof Draft])) })}
				</Callout>
			)}
			{conflict && (
				<Callout tone="warning" title={words.clash}>
					<div className={css.calloutActions}>
						<Button small onClick={() => setChoosing(true)}>
							{words.choose}
						</Button>
					</div>
				</Callout>
			)}
			<MailChecks answer={preview.query.data} isForContact={isForContact} onGo={focusProblem} />
			<Panes
				whole={designing}
				write={
					<div className={css.left}>
						<Tabs label={words.parts} current={tab} tabs={tabs} />
						{props.bodies.map(
							(body) =>
								tab === body && (
									<div key={body} className={css.stack}>
										{props.hasSubject && (
											<TextField
												label={fieldNames.subject}
												path="subject"
												value={draft.subject}
												readOnly={readOnly}
												onChange={(subject) => set({ subject })}
												error={fieldProblems.byPath.subject ?? subjectProblem}
											/>
										)}
										{body === "mjml" ? (
											<MjmlField
												fragment={props.kind === "block"}
												begin={props.begin}
												label={body.toUpperCase()}
												value={draft.mjml}
												names={names}
												readOnly={readOnly}
												onChange={(mjml) => set({ mjml })}
												problems={faultsOf.mjml}
												place={placeOf("mjml")}
												picture={picture}
												notice={
													notShown && (
														<Suspense>
															<NotShown {...notShown} onGo={focusProblem} />
														</Suspense>
													)
												}
												declared={schema}
												tools={<div className={css.tools}>{previewTools}</div>}
											/>
										) : (
											<CodeWithImages
												format={body}
												label={body.toUpperCase()}
												value={draft[body]}
												names={names}
												readOnly={readOnly}
												onChange={(code) => set({ [body]: code })}
												problems={faultsOf[body]}
												line={placeOf(body)}
												control={control}
											/>
										)}
									</div>
								),
						)}
						{tab === "text" && (
							<Code
								label={fieldNames.text}
								value={draft.text}
								names={names}
								readOnly={readOnly}
								onChange={(text) => set({ text })}
								problems={faultsOf.text}
								line={placeOf("text")}
							/>
						)}
						{tab === "schema" && (
							<Suspense fallback={<Skeleton rows={8} />}>
								<SchemaEditor
									draft={draft}
									onChange={set}
									readOnly={readOnly}
									parts={props.schemaParts}
									eligible={props.eligible}
									tags={props.tags}
								/>
							</Suspense>
						)}
						{tab === "settings" && (
							<div className={css.stack}>
								<TextField
									label={fieldNames.name}
									path="name"
									value={draft.name}
									onChange={(name) => set({ name })}
									error={fieldProblems.byPath.name}
									readOnly={readOnly}
								/>
								<TextField
									label={words.slug}
									help={props.slugHelp}
									path="slug"
									value={draft.slug}
									onChange={(slug) => set({ slug })}
									error={fieldProblems.byPath.slug}
									readOnly={readOnly}
									spellCheck={false}
								/>
								<TagPicks
									label={fieldNames.tags}
									options={props.tags.map((tag) => ({ id: tag, label: tag }))}
									values={draft.tags}
									readOnly={readOnly}
									onChange={(tags) => set({ tags })}
								/>
								{props.settings(draft, set, fieldProblems)}
							</div>
						)}
						{tab === "own" && previewAs === "own" && (
							<div data-whole aria-busy={preview.query.isPending || undefined}>
								{props.values(draft, own, setOwn, problems)}
							</div>
						)}
						<ProblemList
							checked={preview.query.data !== undefined}
							problems={problems}
							onGo={focusProblem}
							fixesFor={
								schema && !readOnly
									? (problem) => fixesFor(problem, draft, schema, props.schemaParts.includes("slots"))
									: undefined
							}
							onFix={readOnly ? undefined : (fix) => asOwn(() => set(fix))}
						/>
					</div>
				}
				preview={
					<div className={css.right}>
						<h2>{words.preview}</h2>
						{previewTools}
						<Suspense>{notShown && <NotShown {...notShown} />}</Suspense>
						{props.hasSubject && shown && (
							<p>
								<b>{words.subjectLine}:</b> {shown.subject || words.noSubject}
							</p>
						)}
						{preview.query.isPending && schema && <Skeleton rows={8} />}
						{shown && isHtml && (
							<Suspense fallback={<Skeleton rows={8} />}>
								<HtmlMail
									mail={shown}
									made={preview.lastValid}
									code={{ text: draft.html, control, onChange: (html) => set({ html }) }}
									readOnly={readOnly}
									onCode={(at) => {
										showPane("write");
										setPlace({ body: "html", at });
									}}
								/>
							</Suspense>
						)}
						{shown && !isHtml && (!designing || pane === "preview") && (
							<MailFrame
								fill
								html={shown.html}
								text={shown.text}
								size={false}
								source={source}
								reports={picture?.text ? { onPress } : undefined}
							/>
						)}
						{!isForContact && <Missing paths={(preview.query.data?.missing ?? []).map((field) => field.path)} />}
					</div>
				}
			/>
			{reviewing && (
				<Suspense>
					<Review
						names={fieldNames}
						codes={codes}
						before={saved}
						after={draft}
						problems={problems}
						affected={affected.data ?? []}
						busy={busy}
						fieldProblems={withFields(fieldProblems)}
						onSave={() => void save()}
						onClose={() => setReviewing(false)}
					/>
				</Suspense>
			)}
			{choosing && <Choose names={fieldNames} codes={codes} draft={props.store} onClose={() => setChoosing(false)} />}
			{deleting && (
				<Confirm
					key={String(inUse)}
					title={words.deleteTitle({ name: saved.name })}
					action={inUse !== null ? words.force : words.delete}
					type={inUse !== null ? saved.slug : undefined}
					busy={removing}
					error={removeError !== null && <p role="alert">{explain(removeError)}</p>}
					onConfirm={() => void remove()}
					onClose={() => {
						setDeleting(false);
						setInUse(null);
						setRemoveError(null);
					}}
				>
					{inUse !== null && <p role="alert">{inUse}</p>}
					<p>{props.deleteText}</p>
				</Confirm>
			)}
		</Page>
	);
}

/** In the review no field is on the screen: all problems are listed. */
const withFields = (problems: Faults): Faults => ({
	byPath: {},
	general: [...problems.general, ...new Set(Object.values(problems.byPath))],
});
