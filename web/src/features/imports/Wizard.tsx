import { useEffect, useMemo, useState } from "react";
import { ApiError } from "../../api/client";
import { useDisabledReason } from "../../base/session";
import { catalogue } from "../../base/words/catalogue";
import { Button } from "../../ui/Button";
import { Callout, Card } from "../../ui/Page";
import { Progress } from "../../ui/Progress";
import { Failure } from "../../ui/States";
import { AddField } from "../settings/Fields";
import { Check } from "./Check";
import { type Mapper, MappedColumns } from "./Columns";
import css from "./Import.module.css";
import { ReadAs } from "./ReadAs";
import {
	changesNothing,
	type Choices,
	type ColumnReport,
	columnOf,
	problemsOf,
	type Reading,
	type Settings,
	shownChoices,
	suggestionsFor,
	within,
} from "./report";
import { SettingsFields } from "./SettingsFields";
import { useTargets } from "./targets";
import { sendImport, useDryRun } from "./useDryRun";

const words = catalogue("imports.wizard", {
	reading: "Reading the file",
	read: "{count, plural, one {# row read} other {# rows read}}",
	of: "{count, number} of {total, number} rows",
	failed: "The file could not be checked",
	unchecked: "The file could not be checked. Change what is wrong, or try again.",
	size: "{size, number, bytes}",
	other: "Choose another file",
	columns: "Columns",
	omitted:
		"{count, plural, one {# more column is imported if its name is that of a field.} other {# more columns are imported if their names are those of fields.}}",
	needEmail: "Choose which column contains the email address.",
	noHeader:
		"The first row seems to be about a contact. It must name the columns instead, and is not imported. Add such a row to the file.",
	checking: "The file is still being checked.",
	answer: "Answer the questions at the columns first.",
	correct: "Correct what is marked at the columns first.",
	nothing: "No contact would be created or updated.",
	run: "Import",
});

/** What another import of the rows began with. */
export type Preset = Partial<Settings>;

const noChoices: Choices = { mapping: {}, forms: {} };

const defaultSettings = (): Settings => ({
	mode: "upsert",
	update_blank: false,
	strict: false,
	segment_key: null,
	tags: [`import-${new Date().toISOString().slice(0, 16).replace(/[T:]/g, "-")}`],
});

/** isRefusal reports whether the server does not accept a file, which it would not if it were sent again. */
const isRefusal = (error: unknown) => error instanceof ApiError && error.status >= 400 && error.status < 500;

const isAddress = (text: string) => /^\S+@\S+\.\S+$/.test(text);

type Columns = { reading: string; columns: ColumnReport[] };

/** useMapping holds how a file is to be read and where its columns go, and what the server says about that. */
function useMapping(file: File, settings: Settings) {
	const fields = useTargets();
	const [reading, setReading] = useState<Reading>({});
	const [choices, setChoices] = useState(noChoices);
	const [first, setFirst] = useState<Columns | null>(null); // as the server maps them, when read in this way
	const [clashes, setClashes] = useState<{ reading: string; keys: string[] } | null>(null);
	const as = JSON.stringify(reading);
	const columns = first?.reading === as ? first.columns : null;
	const leftOut = Object.fromEntries((clashes?.reading === as ? clashes.keys : []).map((key) => [key, null]));
	const suggested = useMemo(() => suggestionsFor(columns ?? [], fields), [columns, fields]);
	const chosen = { mapping: { ...suggested, ...leftOut, ...choices.mapping }, forms: choices.forms };
	// Keys of columns depend on how the file is read: those of another reading would be refused.
	const sent = columns ? within(chosen, columns) : { mapping: leftOut, forms: {} };
	const { mode, update_blank, strict } = settings;
	const options = { ...reading, ...sent, mode, update_blank, strict, remembered: true };
	const check = useDryRun(file, { ...options, dry_run: true });
	const report = check.found?.report;
	useEffect(() => {
		if (check.isCurrent && report && !columns) setFirst({ reading: as, columns: report.columns });
	}, [check.isCurrent, report, columns, as]);
	const refused = check.error instanceof ApiError ? check.error.fields.filter((problem) => columnOf(problem)) : [];
	// Columns that map themselves to the same field are refused before there is a report to choose in: one is left out.
	const clash = columns ? undefined : refused.map(columnOf).find((key) => !(key in leftOut));
	useEffect(() => {
		if (clash === undefined) return;
		setClashes((old) => ({ reading: as, keys: [...(old?.reading === as ? old.keys : []), clash] }));
	}, [clash, as]);
	// What was said about a column goes at once when it is mapped elsewhere. About the others it stays until there is news.
	const isAsShown = (key: string) =>
		!(key in chosen.mapping) ||
		report?.columns.some((column) => column.key === key && column.target === chosen.mapping[key]);
	const mapper: Mapper = {
		fields,
		chosen,
		decidedBy: ({ key, by }) =>
			key in choices.mapping ? "mapping" : key in leftOut ? "clash" : key in suggested ? "suggestion" : by,
		choose: (key, target) => {
			const { [key]: _, ...forms } = choices.forms; // of another kind of field
			setChoices({ mapping: { ...choices.mapping, [key]: target }, forms });
		},
		setForm: (key, form) => {
			const { [key]: _, ...forms } = choices.forms;
			setChoices({ ...choices, forms: form ? { ...forms, [key]: form } : forms });
		},
		problemsOf: (key) => ({
			errors: [
				...problemsOf(key, refused),
				...(isAsShown(key) && !(key in chosen.forms) ? problemsOf(key, report?.questions) : []),
			],
			warnings: isAsShown(key) ? problemsOf(key, report?.warnings) : [],
		}),
	};
	return { check, report, mapper, reading, setReading, options, refused };
}

/** Wizard maps the columns of a file to fields, shows what an import would do, and starts it. */
export function Wizard({
	file,
	preset,
	onStarted,
	onOther,
}: {
	file: File;
	preset: Preset | null;
	onStarted: (job: string) => void;
	onOther: () => void;
}) {
	const fieldDisabledReason = useDisabledReason("POST /settings/custom-fields");
	const [settings, setSettings] = useState<Settings>(() => ({ ...defaultSettings(), ...preset }));
	const [adding, setAdding] = useState<ColumnReport | null>(null); // that becomes a new field
	const [busy, setBusy] = useState(false);
	const [error, setError] = useState<unknown>(null);
	const { check, report, mapper: own, reading, setReading, options, refused } = useMapping(file, settings);
	const mapper = fieldDisabledReason ? own : { ...own, onNew: setAdding };
	const questions = report?.questions ?? [];
	const needEmail = questions.some((question) => !columnOf(question));

	const start = async () => {
		if (!report) return;
		setBusy(true);
		setError(null);
		const { segment_key, tags, subscriptions } = settings;
		try {
			const { mapping, forms } = shownChoices(report.columns);
			const chosen = { mapping, forms: { ...forms, ...options.forms } };
			onStarted(await sendImport(file, { ...options, ...chosen, segment_key, tags, subscriptions }));
		} catch (error) {
			setError(error);
		} finally {
			setBusy(false);
		}
	};
	const problem =
		refused.length > 0
			? words.correct
			: check.error !== null
				? words.unchecked
				: !check.found || !check.isCurrent
					? words.checking
					: needEmail
						? words.needEmail
						: questions.length > 0
							? words.answer
							: changesNothing(check.found.result)
								? words.nothing
								: undefined;
	const failure = check.error !== null && refused.length === 0 && (
		<Failure title={words.failed} error={check.error} retry={isRefusal(check.error) ? undefined : check.retry} />
	);
	const progress = check.progress && (
		<Progress
			label={words.reading}
			value={check.progress.processed}
			max={check.progress.total}
			text={
				check.progress.total
					? words.of({ count: check.progress.processed, total: check.progress.total })
					: words.read({ count: check.progress.processed })
			}
		/>
	);
	return (
		<>
			<Card
				title={file.name}
				actions={
					<>
						<span className={css.muted}>{words.size({ size: file.size })}</span>
						<Button small onClick={onOther}>
							{words.other}
						</Button>
					</>
				}
			>
				{report ? <ReadAs file={report.file} reading={reading} onChange={setReading} /> : progress}
				{!report && failure}
			</Card>
			{report && check.found && (
				<>
					<Card title={words.columns}>
						{report.columns.some((column) => isAddress(column.name)) && (
							<Callout tone="warning">{words.noHeader}</Callout>
						)}
						{needEmail && <Callout tone="warning">{words.needEmail}</Callout>}
						<MappedColumns columns={report.columns} mapper={mapper} />
						{report.columns_omitted && <p className={css.muted}>{words.omitted({ count: report.columns_omitted })}</p>}
					</Card>
					<SettingsFields settings={settings} onChange={setSettings} />
					<Check found={check.found} isCurrent={check.isCurrent} mapper={mapper}>
						{progress}
						{failure}
						{error !== null && <Failure title={null} error={error} />}
						<div className={css.actions}>
							<Button variant="primary" busy={busy} disabledReason={problem} onClick={() => void start()}>
								{words.run}
							</Button>
						</div>
					</Check>
				</>
			)}
			{adding !== null && (
				<AddField
					name={adding.name}
					onClose={() => setAdding(null)}
					onAdded={(field) => mapper.choose(adding.key, `custom_fields.${field.field_key}`)}
				/>
			)}
		</>
	);
}
