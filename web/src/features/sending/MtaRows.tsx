import { Plus, Trash2 } from "lucide-react";
import { Button, IconButton } from "../../ui/Button";
import { Select, TextField } from "../../ui/Field";
import css from "./Mta.module.css";

export type Row = { [field: string]: string };

/** Column is a field of each row; one with choices is chosen, the others are typed. */
export type Column = {
	name: string;
	label: string;
	help?: string;
	type?: string;
	optional?: boolean;
	choices?: { value: string; label: string }[];
	hidden?: (row: Row) => boolean;
};

type Props = {
	title: string;
	description?: string;
	/** The path of the list in the request: what is wrong with a field of a row stands at it. */
	path: string;
	columns: Column[];
	rows: Row[];
	/** A row as it begins. */
	blank: Row;
	add: string;
	removeLabel: (row: Row, index: number) => string;
	problems: { [path: string]: string };
	disabledReason?: string;
	onChange: (rows: Row[]) => void;
};

/** MtaRows edits a list of an MTA config: addresses, records, patterns. */
export function MtaRows({
	title,
	description,
	path,
	columns,
	rows,
	blank,
	add,
	removeLabel,
	problems,
	disabledReason,
	onChange,
}: Props) {
	const change = (i: number, part: Row) => onChange(rows.map((row, j) => (j === i ? { ...row, ...part } : row)));
	const hasRowProblem = columns.some((column) => rows.some((_, i) => problems[`${path}[${i}].${column.name}`]));
	return (
		<fieldset data-path={path} tabIndex={-1} className={css.limits}>
			<legend>{title}</legend>
			{problems[path] && !hasRowProblem && <p role="alert">{problems[path]}</p>}
			<ul className={css.throttles}>
				{rows.map((row, i) => (
					<li key={i} className={css.throttle}>
						{columns
							.filter((column) => !column.hidden?.(row))
							.map((column) => {
								const fieldPath = `${path}[${i}].${column.name}`;
								return column.choices ? (
									<Select
										key={column.name}
										label={column.label}
										value={row[column.name] ?? ""}
										onChange={(value) => change(i, { [column.name]: value })}
										choices={column.choices}
										error={problems[fieldPath]}
										disabled={disabledReason !== undefined}
									/>
								) : (
									<TextField
										key={column.name}
										label={column.label}
										help={column.help}
										optional={column.optional}
										type={column.type}
										path={fieldPath}
										value={row[column.name] ?? ""}
										onChange={(value) => change(i, { [column.name]: value })}
										error={problems[fieldPath]}
										readOnly={disabledReason !== undefined}
										autoComplete="off"
										spellCheck={false}
									/>
								);
							})}
						<IconButton
							label={removeLabel(row, i)}
							icon={<Trash2 aria-hidden />}
							disabledReason={disabledReason}
							onClick={() => onChange(rows.filter((_, j) => j !== i))}
						/>
					</li>
				))}
			</ul>
			{description && <p className={css.muted}>{description}</p>}
			<Button
				small
				icon={<Plus aria-hidden />}
				disabledReason={disabledReason}
				onClick={() => onChange([...rows, blank])}
			>
				{add}
			</Button>
		</fieldset>
	);
}
