import { useQuery } from "@tanstack/react-query";
import { type ReactNode, Suspense, useMemo, useState } from "react";
import type { PreviewProblem, PreviewSource } from "../../api/schema";
import { ApiError, isConflict } from "../../api/client";
import { handIn } from "../../sync/pendingSaves";
import type { DraftStore } from "../../sync/store";
import { useParam } from "../../base/params";
import { useShortcuts } from "../../base/shortcuts";
import { Button } from "../../ui/Button";
import { CodeWithImages } from "../assets/CodeWithImages";
import { Code } from "../../ui/Code";
import { Confirm } from "../../ui/Dialog";
import { Radios, TextField } from "../../ui/Field";
import { type Problems as Faults, problemsOf } from "../../ui/problems";
import { MailFrame } from "../../ui/MailFrame";
import { type Action, Menu } from "../../ui/Menu";
import { keptText } from "../../ui/keptForm";
import { Callout, Page } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { Tabs } from "../../ui/Tabs";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { and, clockWithSeconds } from "../../base/words/formats";
import { explain, mailProblem } from "../../base/words/errors";
import { later } from "../../base/lazy";
import { type Draft, schemaOf } from "./draft";
import { fixesFor } from "./fixes";
import { useNames } from "./names";
import { ProblemList } from "./ProblemList";
import { useLivePreview } from "./preview";
import { Choose, Review } from "./Review";
import { SchemaEditor, TagPicks } from "./Schema";
import css from "./Source.module.css";
import { fieldNames } from "./words";
import { touchedQuery } from "./queries";

const ContactPick = later(() => import("./ContactPick").then((m) => ({ default: m.ContactPick })));

const Missing = later(() => import("./Missing").then((m) => ({ default: m.Missing })));

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
	code: "Code",
	as: "Preview as",
	samples: "Samples",
	own: "Own values",
	person: "A contact",
	contact: "Contact",
	edit: "Edit values",
	stale: "From {at}; the code has {errors, plural, one {# error} other {# errors}} since.",
	badSchema: "The schema is not a valid JSON object yet.",
	pane: "Show",
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
	why?: string;
	/** The bodies that it has, the first of which is shown first. */
	bodies: Body[];
	hasSubject?: boolean;
	/** Its own settings, below name, key and tags. */
	settings: (draft: Draft, set: (part: Partial<Draft>) => void, faults: Faults) => ReactNode;
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
	touched: () => Promise<string[]>;
	deleteText: string;
	savedText: string;
	remove: (force: boolean) => Promise<void>;
	status?: ReactNode;
	menu?: Action[];
};

/** SourceEditor is the editor of a template or a block: its code and what it declares, what is wrong with them, and how the mail looks. */
export function SourceEditor<Row>(p: Props<Row>) {
	const { values: draft, saved, changed, conflict, joined, restored } = p.store.state;
	const set = (part: Partial<Draft>) => p.store.change(part);
	const dirty = changed.length > 0;
	const { schema: declared } = draft;
	const [first = "mjml"] = p.bodies;
	const [tab, setTab] = useParam("tab", first);
	const [pane, setPane] = useParam("pane", "code");
	const [contact, setContact] = useParam("contact");
	const [as, setAs] = useParam("as", "samples");
	const [own, setOwn] = useState<{ [name: string]: unknown }>({});
	const [line, setLine] = useState<{ at: number } | null>(null);
	const [reviewing, setReviewing] = useState(false);
	const [choosing, setChoosing] = useState(false);
	const [deleting, setDeleting] = useState(false);
	const [inUse, setInUse] = useState<string | null>(null);
	const [removing, setRemoving] = useState(false);
	const [removeError, setRemoveError] = useState<unknown>(null);
	const [busy, setBusy] = useState(false);
	const [faults, setFaults] = useState<Faults>({ byPath: {}, general: [] });
	const touched = useQuery({ ...touchedQuery(p.kind, p.id, p.touched), enabled: reviewing });
	const schema = useMemo(() => schemaOf({ schema: declared }), [declared]);
	const names = useNames(schema);
	const preview = useLivePreview(
		p.kind,
		p.id,
		() => (schema ? p.source(draft, as === "own" ? own : null) : null),
		as === "contact" && contact ? contact : null,
	);
	const found = preview.query.data?.problems;
	const problems = found ?? [];
	const faultsOf = useMemo(() => {
		const of = (b: string) =>
			(found ?? []).filter((x) => x.field.endsWith(`content_${b}`)).map((x) => ({ ...x, message: mailProblem(x) }));
		return { mjml: of("mjml"), html: of("html"), text: of("text") };
	}, [found]);
	const ofSubject = problems.find((x) => x.field === "subject");
	const subjectProblem = ofSubject && mailProblem(ofSubject);
	const errors = problems.filter((x) => x.severity === "error").length;
	const shown = preview.good?.answer ?? preview.query.data;
	const readOnly = p.why !== undefined;

	const save = async () => {
		setBusy(true);
		setFaults({ byPath: {}, general: [] });
		try {
			handIn();
			await p.store.save();
			setReviewing(false);
			toast(p.savedText);
		} catch (e) {
			if (isConflict(e)) setReviewing(false);
			setFaults(problemsOf(e, ["name", "slug", "subject", "tags", "slot_keys"]));
		} finally {
			setBusy(false);
		}
	};
	const whyNotSave =
		p.why ??
		(schema ? undefined : words.badSchema) ??
		(conflict ? words.clash : undefined) ??
		(dirty ? undefined : words.nothing);
	useShortcuts({
		"mod+s": () => {
			if (whyNotSave === undefined) setReviewing(true);
		},
	});
	const remove = async () => {
		setRemoving(true);
		setRemoveError(null);
		try {
			await p.remove(inUse !== null);
		} catch (e) {
			const d =
				e instanceof ApiError && e.code === "IN_USE"
					? (e.details as { active_drafts?: number; recent_broadcasts?: number })
					: null;
			if (d) {
				const [drafts, recent] = [d.active_drafts ?? 0, d.recent_broadcasts ?? 0];
				const uses = [drafts > 0 && words.drafts({ count: drafts }), recent > 0 && words.recent({ count: recent })];
				setInUse(words.inUse({ uses: uses.filter((x) => x !== false) }));
			} else setRemoveError(e);
		} finally {
			setRemoving(false);
		}
	};
	const go = (x: PreviewProblem) => {
		setPane("code");
		if (x.field.startsWith("binding.") || x.field.startsWith("parameters.") || x.field.startsWith("sections."))
			return setTab("own");
		const part = /^(\w+_schema)/.exec(x.field)?.[1];
		const to = part
			? "schema"
			: x.field === "content_text"
				? "text"
				: (p.bodies.find((b) => x.field === `content_${b}`) ?? (x.field === "subject" ? first : "settings"));
		setTab(to);
		if (x.line) setLine({ at: x.line });
		requestAnimationFrame(() => {
			const el = document.querySelector<HTMLElement>(
				part ? `[data-part="${part}"]` : `[data-path="${CSS.escape(x.field)}"]`,
			);
			el?.focus();
			el?.scrollIntoView({ block: "center" });
		});
	};
	const tabs = [
		...p.bodies.map((b) => ({ id: b, name: b.toUpperCase() })),
		{ id: "text", name: fieldNames.text },
		{ id: "schema", name: words.schema },
		{ id: "settings", name: words.settings },
	];
	if (as === "own") tabs.push({ id: "own", name: words.own });
	return (
		<Page
			wide
			title={draft.name || saved.name}
			trail={[p.list]}
			status={
				<>
					{p.status}
					{dirty && <span className={css.unsaved}>{words.unsaved}</span>}
				</>
			}
			actions={
				<>
					{dirty && <Button onClick={() => p.store.discard()}>{words.discard}</Button>}
					<Button look="primary" busy={busy} why={whyNotSave} onClick={() => setReviewing(true)}>
						{words.save}
					</Button>
					<Menu
						actions={[
							...(p.menu ?? []),
							{ id: "delete", label: words.delete, danger: true, why: p.why, run: () => setDeleting(true) },
						]}
					/>
				</>
			}
		>
			{p.why && <Callout>{p.why}</Callout>}
			{restored && dirty && <Callout tone="progress">{keptText(restored)}</Callout>}
			{joined && (
				<Callout tone="progress">
					{words.joined({ fields: and(joined.fields.map((f) => fieldNames[f as keyof Draft])) })}
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
			<div className={css.panes}>
				<Button
					small
					aria-pressed={pane === "code"}
					look={pane === "code" ? "primary" : "default"}
					onClick={() => setPane("code")}
				>
					{words.code}
				</Button>
				<Button
					small
					aria-pressed={pane === "preview"}
					look={pane === "preview" ? "primary" : "default"}
					onClick={() => setPane("preview")}
				>
					{words.preview}
				</Button>
			</div>
			<div className={css.editor} data-pane={pane}>
				<div className={css.left}>
					<Tabs label={words.parts} current={tab} tabs={tabs} />
					{p.bodies.map(
						(b) =>
							tab === b && (
								<div key={b} className={css.stack}>
									{p.hasSubject && (
										<TextField
											label={fieldNames.subject}
											path="subject"
											value={draft.subject}
											readOnly={readOnly}
											onChange={(subject) => set({ subject })}
											error={faults.byPath.subject ?? subjectProblem}
										/>
									)}
									<CodeWithImages
										format={b}
										label={b.toUpperCase()}
										value={draft[b]}
										names={names}
										readOnly={readOnly}
										onChange={(code) => set({ [b]: code })}
										problems={faultsOf[b]}
										line={line}
									/>
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
							line={line}
						/>
					)}
					{tab === "schema" && (
						<SchemaEditor
							draft={draft}
							onChange={set}
							readOnly={readOnly}
							parts={p.schemaParts}
							eligible={p.eligible}
							tags={p.tags}
						/>
					)}
					{tab === "settings" && (
						<div className={css.stack}>
							<TextField
								label={fieldNames.name}
								path="name"
								value={draft.name}
								onChange={(name) => set({ name })}
								error={faults.byPath.name}
								readOnly={readOnly}
							/>
							<TextField
								label={words.slug}
								help={p.slugHelp}
								path="slug"
								value={draft.slug}
								onChange={(slug) => set({ slug })}
								error={faults.byPath.slug}
								readOnly={readOnly}
								spellCheck={false}
							/>
							<TagPicks
								label={fieldNames.tags}
								options={p.tags.map((t) => ({ id: t, label: t }))}
								values={draft.tags}
								readOnly={readOnly}
								onChange={(tags) => set({ tags })}
							/>
							{p.settings(draft, set, faults)}
						</div>
					)}
					{tab === "own" && as === "own" && (
						<div data-whole aria-busy={preview.query.isPending || undefined}>
							{p.values(draft, own, setOwn, problems)}
						</div>
					)}
					<ProblemList
						checked={preview.query.data !== undefined}
						problems={problems}
						onGo={go}
						fixesFor={
							schema && !readOnly ? (x) => fixesFor(x, draft, schema, p.schemaParts.includes("slots")) : undefined
						}
						onFix={readOnly ? undefined : set}
					/>
				</div>
				<div className={css.right}>
					<h2>{words.preview}</h2>
					<Radios
						row
						label={words.as}
						value={as}
						onChange={(v) => {
							setAs(v);
							if (tab === "own" && v !== "own") setTab(first);
						}}
						choices={[
							{ value: "samples", label: words.samples },
							{ value: "own", label: words.own },
							{ value: "contact", label: words.person },
						]}
					/>
					<div className={css.tools}>
						{as === "own" && tab !== "own" && (
							<Button
								small
								onClick={() => {
									setTab("own");
									setPane("code");
								}}
							>
								{words.edit}
							</Button>
						)}
						{as === "contact" && (
							<Suspense>
								<ContactPick label={words.contact} value={contact || null} onChange={(id) => setContact(id ?? "")} />
							</Suspense>
						)}
						{p.previewTools}
					</div>
					{preview.query.isError && <Failure error={preview.query.error} retry={() => void preview.query.refetch()} />}
					{preview.stale && preview.good && (
						<p className={css.stale}>{words.stale({ at: clockWithSeconds(preview.good.at), errors })}</p>
					)}
					{p.hasSubject && shown && (
						<p>
							<b>{words.subjectLine}:</b> {shown.subject || words.noSubject}
						</p>
					)}
					{preview.query.isPending && schema && <Skeleton rows={8} />}
					{shown && <MailFrame html={shown.html} text={shown.text} size={shown.size} />}
					<Missing paths={(preview.query.data?.missing ?? []).map((m) => m.path)} />
				</div>
			</div>
			{reviewing && (
				<Review
					names={fieldNames}
					codes={codes}
					before={saved}
					after={draft}
					problems={problems}
					touched={touched.data ?? []}
					busy={busy}
					faults={withFields(faults)}
					onSave={() => void save()}
					onClose={() => setReviewing(false)}
				/>
			)}
			{choosing && <Choose names={fieldNames} codes={codes} draft={p.store} onClose={() => setChoosing(false)} />}
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
					<p>{p.deleteText}</p>
				</Confirm>
			)}
		</Page>
	);
}

/** In the review no field is on the screen: all problems are listed. */
const withFields = (f: Faults): Faults => ({
	byPath: {},
	general: [...f.general, ...new Set(Object.values(f.byPath))],
});
