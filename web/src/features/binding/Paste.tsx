import { useState } from "react";
import type { SectionEntry } from "../../api/schema";
import { parseRows } from "../../base/csv";
import { guessField } from "../rules/guessField";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Checkbox, Radios, Select, TextArea } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import css from "./Binding.module.css";
import { type Fields, fromText, nameOf } from "./binding";

const words = catalogue("binding.paste", {
	title: "Paste rows of {section}",
	area: "Rows of the spreadsheet",
	help: "Copy cells in your spreadsheet and paste them here. Commas and semicolons work too.",
	header: "The first row contains column names",
	columns: "Columns",
	column: "Column {number}",
	columnNamed: "Column {number}: {name}",
	skip: "Skip",
	where: "Existing rows",
	keep: "Keep the {count, plural, one {# row} other {# rows}} and add below",
	replace: "Replace them",
	insert: "{count, plural, one {Insert # row} other {Insert # rows}}",
	nothing: "Nothing is pasted yet.",
	unmatched: "No column is matched to a field.",
	over: "That would exceed the limit of {max} rows.",
	sample: "First: {value}",
	cancel: "Cancel",
});

type Props = {
	section: SectionEntry;
	present: number;
	onPaste: (rows: Fields[], replace: boolean) => void;
	onClose: () => void;
};

/** At most so many rows are read from what is pasted. */
const maxRows = 1000;

/** Paste makes rows of cells of a spreadsheet, whose columns it matches to fields by name. */
export function Paste({ section, present, onPaste, onClose }: Props) {
	const [text, setText] = useState("");
	const [hasHeader, setHasHeader] = useState<boolean | null>(null);
	const [targets, setTargets] = useState<{ [column: number]: string }>({});
	const [replace, setReplace] = useState("keep");
	const first = text.split(/\r?\n/, 1)[0] ?? "";
	const separator = ["\t", ";", ","].reduce(
		(best, column) => (first.split(column).length > first.split(best).length ? column : best),
		"\t",
	);
	const cells = parseRows(text, separator, maxRows);
	const fields = section.item_schema.map((parameter) => ({ field: parameter.name, name: nameOf(parameter) }));
	const head = (cells[0] ?? []).map((column) => column.trim());
	const width = Math.max(0, ...cells.map((cell) => cell.length));
	const matches = head.map((header) => guessField(header, fields));
	const header = hasHeader ?? matches.some(Boolean);
	const target = (column: number) =>
		targets[column] ?? (header ? (matches[column] ?? "") : (fields[column]?.field ?? ""));
	const body = header ? cells.slice(1) : cells;
	const columns = Array.from({ length: width }, (_, i) => i);
	const rows = body
		.filter((row) => row.some((column) => column.trim() !== ""))
		.map((row) => {
			const result: Fields = {};
			for (const column of columns) {
				const parameter = section.item_schema.find((parameter) => parameter.name === target(column));
				const value = parameter && fromText(parameter, row[column] ?? "");
				if (parameter && value !== undefined) result[parameter.name] = value;
			}
			return result;
		});
	const replaced = replace === "replace";
	const disabledReason =
		rows.length === 0
			? words.nothing
			: columns.every((column) => target(column) === "")
				? words.unmatched
				: (replaced ? 0 : present) + rows.length > section.max
					? words.over({ max: section.max })
					: undefined;
	return (
		<Dialog
			drawer="wide"
			title={words.title({ section: nameOf(section) })}
			onClose={onClose}
			onSubmit={() => disabledReason === undefined && onPaste(rows, replaced)}
			footer={
				<>
					<Button onClick={onClose}>{words.cancel}</Button>
					<Button variant="primary" type="submit" disabledReason={disabledReason}>
						{words.insert({ count: rows.length })}
					</Button>
				</>
			}
		>
			<TextArea
				label={words.area}
				help={words.help}
				code
				rows={8}
				autoFocus
				wrap="off"
				value={text}
				onChange={setText}
			/>
			{width > 0 && (
				<>
					<Checkbox label={words.header} checked={header} onChange={setHasHeader} />
					<fieldset className={css.mapping}>
						<legend>{words.columns}</legend>
						{columns.map((column) => (
							<Select
								key={column}
								label={
									header && head[column]
										? words.columnNamed({ number: column + 1, name: head[column] })
										: words.column({ number: column + 1 })
								}
								help={words.sample({ value: (body[0]?.[column] ?? "").slice(0, 60) })}
								value={target(column)}
								onChange={(value) => setTargets({ ...targets, [column]: value })}
								choices={[
									{ value: "", label: words.skip },
									...fields.map((field) => ({ value: field.field, label: field.name })),
								]}
							/>
						))}
					</fieldset>
				</>
			)}
			{present > 0 && (
				<Radios
					label={words.where}
					value={replace}
					onChange={setReplace}
					choices={[
						{ value: "keep", label: words.keep({ count: present }) },
						{ value: "replace", label: words.replace },
					]}
				/>
			)}
		</Dialog>
	);
}
