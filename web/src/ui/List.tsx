import type { ReactNode } from "react";
import { catalogue } from "../base/words/catalogue";
import { Heading } from "./Figure";
import css from "./List.module.css";
import { useNarrow } from "./useNarrow";

const words = catalogue("shell.list", { unnamed: "More" });

export type Cell<T> = {
	id: string;
	name: string;
	/** The definition of the figures in it. */
	description?: string;
	end?: boolean;
	/** On a card it stands beside the name of the row, as a state does. */
	beside?: boolean;
	cell: (row: T) => ReactNode;
};

type Props<T> = { label: string; columns: Cell<T>[]; rows: T[]; rowKey: (row: T) => string };

/**
 * List is a plain table for short lists, all of whose rows are in the page. The first column names the row. On a
 * phone each row is a card.
 */
export function List<T>(props: Props<T>) {
	return useNarrow() ? <Cards {...props} /> : <Wide {...props} />;
}

function Wide<T>({ label, columns, rows, rowKey }: Props<T>) {
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, and need not contain anything to focus
		<section className={css.scroll} aria-label={label} tabIndex={0}>
			<table className={css.list}>
				<caption className="visually-hidden">{label}</caption>
				<thead>
					<tr>
						{columns.map((column) => (
							<th key={column.id} scope="col" className={column.end ? css.end : undefined}>
								{column.name ? (
									<Heading name={column.name} description={column.description} />
								) : (
									<span className="visually-hidden">{words.unnamed}</span>
								)}
							</th>
						))}
					</tr>
				</thead>
				<tbody>
					{rows.map((row) => (
						<tr key={rowKey(row)}>
							{columns.map((column, i) =>
								i === 0 ? (
									<th key={column.id} scope="row">
										{column.cell(row)}
									</th>
								) : (
									<td key={column.id} className={column.end ? css.end : undefined}>
										{column.cell(row)}
									</td>
								),
							)}
						</tr>
					))}
				</tbody>
			</table>
		</section>
	);
}

function Cards<T>({ label, columns, rows, rowKey }: Props<T>) {
	const [first, ...others] = columns;
	const only = others.length === 1 && others[0]?.end;
	// A column without a name is the menu of the row.
	const top = others.filter((cell) => !cell.name || cell.beside || only);
	const rest = others.filter((cell) => !top.includes(cell));
	return (
		<ul className={css.cards} aria-label={label}>
			{rows.map((row) => (
				<li key={rowKey(row)}>
					<div className={css.top}>
						<div className={css.name}>{first?.cell(row)}</div>
						{top.map((cell) => (
							<div key={cell.id} className={css.beside}>
								{cell.name && <span className={only ? css.about : "visually-hidden"}>{cell.name}: </span>}
								{cell.cell(row)}
							</div>
						))}
					</div>
					{rest.length > 0 && (
						<dl className={css.pairs}>
							{rest.map((cell) => (
								<div key={cell.id}>
									<dt>{cell.name}</dt>
									<dd>{cell.cell(row)}</dd>
								</div>
							))}
						</dl>
					)}
				</li>
			))}
		</ul>
	);
}
