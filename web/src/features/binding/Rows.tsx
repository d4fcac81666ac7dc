import { ClipboardPaste, Plus } from "lucide-react";
import { useRef, useState } from "react";
import type { SectionEntry } from "../../api/schema";
import { Button } from "../../ui/Button";
import { Cards } from "../../ui/Cards";
import { catalogue } from "../../base/words/catalogue";
import css from "./Binding.module.css";
import { type Fields, nameOf, rowsAt, textOf, withMember } from "./binding";
import { Control } from "./Control";
import { Paste } from "./Paste";

const words = catalogue("binding.rows", {
	row: "Row {number}",
	titled: "Row {number}: {title}",
	count:
		"{min, plural, =0 {{count, plural, one {# row} other {# rows}} of at most {max}} other {{count, plural, one {# row} other {# rows}} of {min} to {max}}}",
	add: "Add row",
	full: "No more than {max} rows.",
	paste: "Paste from a spreadsheet",
});

export type Faults = (path: string) => string | undefined;

type Props = {
	section: SectionEntry;
	path: string;
	/** The object that has the section. */
	members: unknown;
	onChange: (rows: Fields[]) => void;
	faults: Faults;
	readOnly?: boolean;
};

/** Above so many rows their cards are closed at first. */
const manyRows = 8;

/** Rows edits the rows of a section. */
export function Rows({ section, path, members, onChange, faults, readOnly }: Props) {
	const rows = rowsAt(members, section.name);
	const [pasting, setPasting] = useState(false);
	const box = useRef<HTMLFieldSetElement>(null);
	const add = () => {
		onChange([...rows, {}]);
		requestAnimationFrame(() => {
			const last = box.current?.querySelector<HTMLElement>(`ol > li:last-child`);
			const details = last?.querySelector("details");
			if (details) details.open = true;
			last?.querySelector<HTMLElement>("input, textarea, select, [contenteditable]")?.focus();
		});
	};
	const title = (row: Fields, i: number) => {
		const name = section.item_schema
			.map((parameter) =>
				textOf(row[parameter.name])
					.replace(/<[^>]*>/g, " ")
					.trim(),
			)
			.find(Boolean);
		return name ? words.titled({ number: i + 1, title: name }) : words.row({ number: i + 1 });
	};
	const fault = faults(path);
	const limitReached = rows.length >= section.max ? words.full({ max: section.max }) : undefined;
	return (
		<fieldset ref={box} className={css.section} data-path={path} tabIndex={-1}>
			<legend>{nameOf(section)}</legend>
			<p className={css.hint}>
				{section.help_text && <>{section.help_text} </>}
				<span data-bad={rows.length < section.min || rows.length > section.max || undefined}>
					{words.count({ count: rows.length, min: section.min, max: section.max })}
				</span>
			</p>
			{fault && <p className={css.bad}>{fault}</p>}
			<Cards
				items={rows}
				onChange={onChange}
				title={title}
				copy={(row) => structuredClone(row)}
				limitReached={limitReached}
				open={rows.length <= manyRows}
				readOnly={readOnly}
			>
				{(row, i) =>
					section.item_schema.map((parameter) => {
						const fieldPath = `${path}[${i}].${parameter.name}`;
						return (
							<Control
								key={parameter.name}
								parameter={parameter}
								path={fieldPath}
								value={row[parameter.name]}
								error={faults(fieldPath)}
								readOnly={readOnly}
								onChange={(value) =>
									onChange(rows.map((row, index) => (index === i ? withMember(row, parameter.name, value) : row)))
								}
							/>
						);
					})
				}
			</Cards>
			{!readOnly && (
				<div className={css.actions}>
					<Button small icon={<Plus aria-hidden />} disabledReason={limitReached} onClick={add}>
						{words.add}
					</Button>
					<Button small variant="quiet" icon={<ClipboardPaste aria-hidden />} onClick={() => setPasting(true)}>
						{words.paste}
					</Button>
				</div>
			)}
			{pasting && (
				<Paste
					section={section}
					present={rows.length}
					onClose={() => setPasting(false)}
					onPaste={(pasted, replace) => {
						setPasting(false);
						onChange(replace ? pasted : [...rows, ...pasted]);
					}}
				/>
			)}
		</fieldset>
	);
}
