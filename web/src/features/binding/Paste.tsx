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
const most = 1000;

/** Paste makes rows of cells of a spreadsheet, whose columns it matches to fields by name. */
export function Paste({ section: s, present, onPaste, onClose }: Props) {
	const [text, setText] = useState("");
	const [named, setNamed] = useState<boolean | null>(null);
	const [targets, setTargets] = useState<{ [column: number]: string }>({});
	const [replace, setReplace] = useState("keep");
	const first = text.split(/\r?\n/, 1)[0] ?? "";
	const separator = ["\t", ";", ","].reduce(
		(best, c) => (first.split(c).length > first.split(best).length ? c : best),
		"\t",
	);
	const cells = parseRows(text, separator, most);
	const fields = s.item_schema.map((p) => ({ field: p.name, name: nameOf(p) }));
	const head = (cells[0] ?? []).map((c) => c.trim());
	const width = Math.max(0, ...cells.map((c) => c.length));
	const matches = head.map((h) => guessField(h, fields));
	const header = named ?? matches.some(Boolean);
	const target = (column: number) =>
		targets[column] ?? (header ? (matches[column] ?? "") : (fields[column]?.field ?? ""));
	const body = header ? cells.slice(1) : cells;
	const columns = Array.from({ length: width }, (_, i) => i);
	const rows = body
		.filter((row) => row.some((c) => c.trim() !== ""))
		.map((row) => {
			const out: Fields = {};
			for (const c of columns) {
				const p = s.item_schema.find((f) => f.name === target(c));
				const v = p && fromText(p, row[c] ?? "");
				if (p && v !== undefined) out[p.name] = v;
			}
			return out;
		});
	const replaced = replace === "replace";
	const why =
		rows.length === 0
			? words.nothing
			: columns.every((c) => target(c) === "")
				? words.unmatched
				: (replaced ? 0 : present) + rows.length > s.max
					? words.over({ max: s.max })
					: undefined;
	return (
		<Dialog
			drawer="wide"
			title={words.title({ section: nameOf(s) })}
			onClose={onClose}
			onSubmit={() => why === undefined && onPaste(rows, replaced)}
			footer={
				<>
					<Button onClick={onClose}>{words.cancel}</Button>
					<Button look="primary" type="submit" why={why}>
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
					<Checkbox label={words.header} checked={header} onChange={setNamed} />
					<fieldset className={css.mapping}>
						<legend>{words.columns}</legend>
						{columns.map((c) => (
							<Select
								key={c}
								label={
									header && head[c]
										? words.columnNamed({ number: c + 1, name: head[c] })
										: words.column({ number: c + 1 })
								}
								help={words.sample({ value: (body[0]?.[c] ?? "").slice(0, 60) })}
								value={target(c)}
								onChange={(v) => setTargets({ ...targets, [c]: v })}
								choices={[{ value: "", label: words.skip }, ...fields.map((f) => ({ value: f.field, label: f.name }))]}
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
