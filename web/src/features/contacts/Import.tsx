import { Upload } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { api, newKey } from "../../api/client";
import { useCollection } from "../../base/collections";
import { useParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import type { FieldInfo } from "../rules/fields";
import { useFields } from "../rules/useFields";
import { AddField } from "../settings/Fields";
import { Button } from "../../ui/Button";
import { Checkbox, Columns, Radios, Select, TextField } from "../../ui/Field";
import { Card, Callout, Page } from "../../ui/Page";
import { Failure } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { guessField } from "../rules/guessField";
import { readSample, type Sample } from "./importSample";
import css from "./Import.module.css";
import { ImportJob } from "./ImportJob";
import { to } from "../../base/paths";

const words = catalogue("contacts.import", {
	title: "Import contacts",
	contacts: "Contacts",
	about: "A CSV or TSV file in UTF-8, with a header row. One column must be the email address.",
	choose: "Choose a file",
	drop: "or drop it here",
	size: "{size, number} KB",
	other: "Choose another file",
	columns: "Columns",
	column: "Column",
	sample: "First values",
	target: "Import as",
	ignore: "Not imported",
	newField: "New field …",
	groups: { consent: "Consent" },
	subscription: "Subscribed to {type}",
	needEmail: "Choose which column contains the email address.",
	twice: "Two columns are imported as {name}.",
	options: "Options",
	mode: "Rows with known addresses",
	upsert: "Update existing contacts, create new ones",
	create: "Skip existing contacts, create new ones",
	update: "Update existing contacts, skip new ones",
	blank: "Empty cells clear the field",
	list: "Add everybody to a list",
	noList: "No list",
	tags: "Tags for everybody",
	tagsHelp: "Separated by commas. A tag for this import makes its people easy to find.",
	consent:
		"An import never resubscribes people who unsubscribed, and it keeps statuses in the file other than active. Import only people who agreed to get your email.",
	check: "Check file",
	checkHelp: "Nothing is imported yet.",
	run: "Import",
	broken: "This file has no rows.",
	rows: "{count, plural, one {# column} other {# columns}}",
});

/** Import is the wizard that reads contacts from a file: choose, map, check, run. */
export default function Import() {
	const disabledReason = useDisabledReason("POST /contacts/import");
	const [job, setJob] = useParam("job");
	const [file, setFile] = useState<File | null>(null);
	const [sample, setSample] = useState<Sample | null>(null);
	const [error, setError] = useState<unknown>(null);

	const readFile = async (file: File | undefined) => {
		if (!file) return;
		setError(null);
		try {
			const read = await readSample(file);
			if (read.header.length === 0) throw new Error(words.broken);
			setFile(file);
			setSample(read);
		} catch (error) {
			setError(error);
		}
	};
	return (
		<Page title={words.title} breadcrumbs={[{ name: words.contacts, to: to.contacts() }]} description={words.about}>
			{disabledReason && <Callout>{disabledReason}</Callout>}
			{job && (
				<ImportJob
					id={job}
					onAgain={() => {
						setFile(null);
						setSample(null);
						setJob("");
					}}
					onRetry={(rows) => {
						setJob("");
						void readFile(rows);
					}}
				/>
			)}
			{error !== null && <Failure error={error} />}
			{!job && !sample && !disabledReason && (
				<label
					className={css.drop}
					onDragOver={(e) => e.preventDefault()}
					onDrop={(event) => {
						event.preventDefault();
						void readFile(event.dataTransfer.files[0]);
					}}
				>
					<Upload aria-hidden size={24} />
					<b>{words.choose}</b>
					<span>{words.drop}</span>
					<input
						className="visually-hidden"
						type="file"
						accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values"
						onChange={(e) => void readFile(e.target.files?.[0])}
					/>
				</label>
			)}
			{!job && sample && file && (
				<Mapping
					key={`${file.name} ${file.lastModified}`}
					file={file}
					sample={sample}
					onStarted={setJob}
					onOther={() => {
						setFile(null);
						setSample(null);
					}}
				/>
			)}
		</Page>
	);
}

function Mapping({
	file,
	sample,
	onStarted,
	onOther,
}: {
	file: File;
	sample: Sample;
	onStarted: (job: string) => void;
	onOther: () => void;
}) {
	const fieldDisabledReason = useDisabledReason("POST /settings/custom-fields");
	const fields = useTargets();
	const segments = useCollection("segments");
	const [selected, setSelected] = useState<{ [column: string]: string }>({});
	const [adding, setAdding] = useState<string | null>(null); // the column that becomes a new field
	const [mode, setMode] = useState("upsert");
	const [blank, setBlank] = useState(false);
	const [list, setList] = useState("");
	const [tags, setTags] = useState(`import-${new Date().toISOString().slice(0, 10)}`);
	const [busy, setBusy] = useState<"check" | "run" | null>(null);
	const [checked, setChecked] = useState<string | null>(null);
	const [error, setError] = useState<unknown>(null);
	const shown = sample.header.map((name, at) => ({ name, at })).filter((column) => !column.name.startsWith("error_"));
	const mapping = Object.fromEntries(
		shown.map((column) => [column.name, selected[column.name] ?? guessField(column.name, fields)]),
	);
	const targets = Object.values(mapping).filter(Boolean);
	const duplicateTarget = targets.find(
		(target, i) => targets.indexOf(target) !== i && !repeatableTargets.includes(target),
	);
	const nameOf = (field: string) => fields.find((f) => f.field === field)?.name ?? field;
	const problem = !targets.includes("email")
		? words.needEmail
		: duplicateTarget
			? words.twice({ name: nameOf(duplicateTarget) })
			: undefined;

	// biome-ignore lint/correctness/useExhaustiveDependencies: whatever changes makes the check old
	useEffect(() => setChecked(null), [selected, mode, blank, list, tags]);

	const send = async (dryRun: boolean) => {
		setBusy(dryRun ? "check" : "run");
		setError(null);
		try {
			const body = new FormData();
			body.set("file", file);
			body.set(
				"options",
				JSON.stringify({
					mapping, // with the columns that are not imported, which the server would else map by their names
					mode,
					update_blank: blank,
					segment_key: list || null,
					tags: tags
						.split(",")
						.map((text) => text.trim())
						.filter(Boolean),
					...(dryRun && { dry_run: true }),
				}),
			);
			const { job_id } = await api("POST /contacts/import", { body, idempotencyKey: newKey() });
			if (dryRun) setChecked(job_id);
			else onStarted(job_id);
		} catch (error) {
			setError(error);
		} finally {
			setBusy(null);
		}
	};
	return (
		<>
			<Card
				title={file.name}
				actions={
					<>
						<span className={css.muted}>
							{words.rows({ count: shown.length })} · {words.size({ size: Math.ceil(file.size / 1000) })}
						</span>
						<Button small onClick={onOther}>
							{words.other}
						</Button>
					</>
				}
			>
				<h3>{words.columns}</h3>
				<div className={css.scroll}>
					<table className={css.table}>
						<thead>
							<tr>
								<th scope="col">{words.column}</th>
								<th scope="col">{words.sample}</th>
								<th scope="col">{words.target}</th>
							</tr>
						</thead>
						<tbody>
							{shown.map(({ name, at }) => (
								<tr key={name}>
									<th scope="row">{name}</th>
									<td className={css.sample}>
										{sample.rows
											.slice(0, 3)
											.map((row) => row[at])
											.filter(Boolean)
											.join(" · ")}
									</td>
									<td>
										<Target
											label={`${words.target}: ${name}`}
											fields={fields}
											value={mapping[name] ?? ""}
											onChange={(value) => setSelected({ ...selected, [name]: value })}
											onNew={fieldDisabledReason ? undefined : () => setAdding(name)}
										/>
									</td>
								</tr>
							))}
						</tbody>
					</table>
				</div>
			</Card>
			<Card title={words.options}>
				<Radios
					label={words.mode}
					value={mode}
					onChange={setMode}
					choices={(["upsert", "create", "update"] as const).map((mode) => ({ value: mode, label: words[mode] }))}
				/>
				<Checkbox label={words.blank} checked={blank} onChange={setBlank} />
				<Columns>
					<Select
						label={words.list}
						value={list}
						onChange={setList}
						choices={[
							{ value: "", label: words.noList },
							...(segments.data?.data ?? [])
								.filter((segment) => segment.type === "static")
								.map((segment) => ({ value: segment.segment_key, label: segment.name })),
						]}
					/>
					<TextField label={words.tags} help={words.tagsHelp} value={tags} onChange={setTags} />
				</Columns>
				<p>{words.consent}</p>
				{error !== null && <Failure error={error} />}
				<div className={css.actions}>
					<Button busy={busy === "check"} disabledReason={problem} onClick={() => void send(true)}>
						{words.check}
					</Button>
					<Button variant="primary" busy={busy === "run"} disabledReason={problem} onClick={() => void send(false)}>
						{words.run}
					</Button>
					<span className={css.muted}>{words.checkHelp}</span>
				</div>
				{checked && <ImportJob id={checked} dryRun />}
			</Card>
			{adding !== null && (
				<AddField
					name={adding}
					onClose={() => setAdding(null)}
					onAdded={(field) => setSelected({ ...selected, [adding]: `custom_fields.${field.field_key}` })}
				/>
			)}
		</>
	);
}

/** The fields of a contact that a column can become, besides its own fields. */
const options = [
	"email",
	"first_name",
	"last_name",
	"full_name",
	"company",
	"title",
	"phone",
	"website",
	"external_id",
	"source",
	"tags",
	"stage",
	"global_status",
	"do_not_contact",
	"city",
	"state",
	"postal_code",
	"country",
	"timezone",
];

/** What several columns can become. */
const repeatableTargets = ["tags", "global_status"];

/** useTargets returns what a column can become: fields of contacts, tags, and the consent to a type of mail. */
function useTargets(): FieldInfo[] {
	const fields = useFields();
	const types = useCollection("email_types");
	return useMemo(() => {
		const own = fields
			.filter((field) => options.includes(field.field) || field.field.startsWith("custom_fields."))
			.map((field) => (field.field === "stage" ? { ...field, field: "stage_id" } : field));
		const consent = (types.data?.data ?? []).map(
			(emailType): FieldInfo => ({
				field: `subscriptions.${emailType.type_key}`,
				name: words.subscription({ type: emailType.display_name }),
				group: words.groups.consent,
				kind: "subscription",
			}),
		);
		return [...own, ...consent];
	}, [fields, types.data]);
}

const newField = "+";

function Target({
	label,
	fields,
	value,
	onChange,
	onNew,
}: {
	label: string;
	fields: FieldInfo[];
	value: string;
	onChange: (text: string) => void;
	onNew?: () => void;
}) {
	return (
		<Select
			label={label}
			hideLabel
			value={value}
			onChange={(value) => (value === newField ? onNew?.() : onChange(value))}
			choices={[
				{ value: "", label: words.ignore },
				...fields.map((field) => ({ value: field.field, label: field.name })),
				...(onNew ? [{ value: newField, label: words.newField }] : []),
			]}
		/>
	);
}
