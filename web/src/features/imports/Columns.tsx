import { useEffect, useState } from "react";
import { catalogue } from "../../base/words/catalogue";
import { fieldSentence } from "../../base/words/errors";
import { Select, TextField } from "../../ui/Field";
import type { FieldInfo } from "../rules/fields";
import css from "./Import.module.css";
import { type Choices, type ColumnReport, dateForms, numberForms, type Problem } from "./report";

const words = catalogue("imports.columns", {
	target: "Import as",
	targetOf: "{target}: {column}",
	ignore: "Not imported",
	newField: "New field …",
	unnamed: "Column without a name",
	numbered: "{name} (column {position, number})",
	dates: "Dates in {column}",
	numbers: "Numbers in {column}",
	booleans: "Words for yes and no in {column}",
	booleansHelp: "Two words with a slash between them, such as ja/nein.",
	choose: "Choose …",
	forms: {
		dayFirst: "Day first (31.12.1999)",
		monthFirst: "Month first (12/31/1999)",
		yearFirst: "Year first (1999-12-31)",
		point: "Decimal point (1,234.50)",
		comma: "Decimal comma (1.234,50)",
	},
	by: {
		mapping: "Chosen here",
		name: "Recognised by its name",
		content: "Recognised by its values",
		remembered: "As in the last import of such a file",
		suggestion: "Suggested by its name",
		clash: "Another column has the same name, or is imported as the same field",
	},
	noValues: "No values",
});

/** Mapper is what columns are mapped with. */
export type Mapper = {
	fields: FieldInfo[];
	chosen: Choices;
	/** What decided where a column goes: the report has it so, a person or the application. */
	decidedBy: (column: ColumnReport) => ColumnReport["by"] | "suggestion" | "clash";
	choose: (column: string, target: string | null) => void;
	setForm: (column: string, form: string) => void;
	/** Makes a custom field of a column; missing where the person may not. */
	onNew?: (column: ColumnReport) => void;
	problemsOf: (column: string) => { errors: Problem[]; warnings: Problem[] };
};

/** targetOf returns where a column goes: as it was chosen, or else as the server has it. */
const targetOf = (column: ColumnReport, { chosen }: Mapper) =>
	column.key in chosen.mapping ? chosen.mapping[column.key] : column.target;

/** nameOf returns what people call a column: its name, with its position if others have the name. */
export function nameOf({ name, key }: ColumnReport) {
	const shown = name || words.unnamed;
	return key === name ? shown : words.numbered({ name: shown, position: Number(key.slice(1)) });
}

/** MappedColumns lists the columns of a file with where they go, and what is to be said about each. */
export function MappedColumns({ columns, mapper }: { columns: ColumnReport[]; mapper: Mapper }) {
	return (
		<ul className={css.columns}>
			{columns.map((column, i) => (
				<li key={i} className={css.column} data-left-out={targetOf(column, mapper) === null || undefined}>
					<div className={css.about}>
						<b>{nameOf(column)}</b>
						<p className={css.samples}>{column.samples.join(" · ") || words.noValues}</p>
					</div>
					<div className={css.controls}>
						<Target column={column} mapper={mapper} label={words.target} />
						<Form column={column} mapper={mapper} />
						<Remarks column={column} mapper={mapper} />
					</div>
				</li>
			))}
		</ul>
	);
}

/** Remarks says what decided where a column goes, and what is wrong with that. */
function Remarks({ column, mapper }: { column: ColumnReport; mapper: Mapper }) {
	const { errors, warnings } = mapper.problemsOf(column.key);
	const by = mapper.decidedBy(column);
	const say = (problem: Problem) => fieldSentence(problem, nameOf(column));
	return (
		<>
			{errors.map((problem) => (
				<p key={problem.message} className={css.error}>
					{say(problem)}
				</p>
			))}
			{warnings.map((problem) => (
				<p key={problem.message} className={css.warning}>
					{say(problem)}
				</p>
			))}
			{by && errors.length + warnings.length === 0 && <p className={css.muted}>{words.by[by]}</p>}
		</>
	);
}

const newField = "+";

/** Target chooses what a column is imported as. */
export function Target({ column, mapper, label }: { column: ColumnReport; mapper: Mapper; label: string }) {
	return (
		<Select
			label={words.targetOf({ target: label, column: nameOf(column) })}
			hideLabel
			value={targetOf(column, mapper) ?? ""}
			onChange={(value) => (value === newField ? mapper.onNew?.(column) : mapper.choose(column.key, value || null))}
			choices={[
				{ value: "", label: words.ignore },
				...mapper.fields.map((field) => ({ value: field.field, label: field.name })),
				...(mapper.onNew ? [{ value: newField, label: words.newField }] : []),
			]}
		/>
	);
}

/** Form says how a column writes dates, numbers, or yes and no; nothing where there is nothing to say. */
export function Form({ column, mapper }: { column: ColumnReport; mapper: Mapper }) {
	const target = targetOf(column, mapper);
	const kind = mapper.fields.find((field) => field.field === target)?.kind;
	const name = nameOf(column);
	const chosen = mapper.chosen.forms[column.key];
	const set = (form: string) => mapper.setForm(column.key, form);
	if (kind === "boolean" || kind === "subscription")
		return <Booleans label={words.booleans({ column: name })} value={chosen ?? column.form ?? ""} onChange={set} />;
	if (kind === "date" && (chosen || column.form))
		return <Forms label={words.dates({ column: name })} {...{ column, chosen, set }} forms={dateForms} />;
	if (kind === "number" && (chosen || column.form))
		return <Forms label={words.numbers({ column: name })} {...{ column, chosen, set }} forms={numberForms} />;
	return null;
}

const formNames = (): { [form: string]: string } => ({
	"DD.MM.YYYY": words.forms.dayFirst,
	"MM/DD/YYYY": words.forms.monthFirst,
	"YYYY-MM-DD": words.forms.yearFirst,
	"1,234.50": words.forms.point,
	"1.234,50": words.forms.comma,
});

/** Forms chooses one of the forms of dates or numbers. If several are as likely, none is chosen at first. */
function Forms({
	label,
	column,
	chosen,
	set,
	forms,
}: {
	label: string;
	column: ColumnReport;
	chosen: string | undefined;
	set: (form: string) => void;
	forms: string[];
}) {
	const value = chosen ?? (column.either ? "" : (column.form ?? ""));
	return (
		<Select
			label={label}
			value={value}
			onChange={set}
			choices={[
				...(value === "" ? [{ value: "", label: words.choose }] : []),
				...forms.map((form) => ({ value: form, label: formNames()[form] ?? form })),
			]}
		/>
	);
}

/** Booleans asks for the two words of a column. What is typed counts once the field is left, or Enter is pressed. */
function Booleans({ label, value, onChange }: { label: string; value: string; onChange: (form: string) => void }) {
	const [text, setText] = useState(value);
	useEffect(() => setText(value), [value]);
	const commit = () => text.trim() !== value && onChange(text.trim());
	return (
		<TextField
			label={label}
			help={words.booleansHelp}
			value={text}
			onChange={setText}
			onBlur={commit}
			onKeyDown={(event) => event.key === "Enter" && commit()}
			autoComplete="off"
		/>
	);
}
