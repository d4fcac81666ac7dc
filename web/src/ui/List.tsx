import type { ReactNode } from "react";
import { catalogue } from "../base/words/catalogue";
import { Heading } from "./Figure";
import css from "./List.module.css";
import { useNarrow } from "./narrow";

const words = catalogue("shell.list", { unnamed: "More" });

export type Cell<T> = {
	id: string;
	name: string;
	/** The definition of the figures in it. */
	about?: string;
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
export function List<T>(p: Props<T>) {
	return useNarrow() ? <Cards {...p} /> : <Wide {...p} />;
}

function Wide<T>({ label, columns, rows, rowKey }: Props<T>) {
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, and need not contain anything to focus
		<section className={css.scroll} aria-label={label} tabIndex={0}>
			<table className={css.list}>
				<caption className="visually-hidden">{label}</caption>
				<thead>
					<tr>
						{columns.map((c) => (
							<th key={c.id} scope="col" className={c.end ? css.end : undefined}>
								{c.name ? (
									<Heading name={c.name} about={c.about} />
								) : (
									<span className="visually-hidden">{words.unnamed}</span>
								)}
							</th>
						))}
					</tr>
				</thead>
				<tbody>
					{rows.map((r) => (
						<tr key={rowKey(r)}>
							{columns.map((c, i) =>
								i === 0 ? (
									<th key={c.id} scope="row">
										{c.cell(r)}
									</th>
								) : (
									<td key={c.id} className={c.end ? css.end : undefined}>
										{c.cell(r)}
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
	const top = others.filter((c) => !c.name || c.beside || only);
	const rest = others.filter((c) => !top.includes(c));
	return (
		<ul className={css.cards} aria-label={label}>
			{rows.map((r) => (
				<li key={rowKey(r)}>
					<div className={css.top}>
						<div className={css.name}>{first?.cell(r)}</div>
						{top.map((c) => (
							<div key={c.id} className={css.beside}>
								{c.name && <span className={only ? css.about : "visually-hidden"}>{c.name}: </span>}
								{c.cell(r)}
							</div>
						))}
					</div>
					{rest.length > 0 && (
						<dl className={css.pairs}>
							{rest.map((c) => (
								<div key={c.id}>
									<dt>{c.name}</dt>
									<dd>{c.cell(r)}</dd>
								</div>
							))}
						</dl>
					)}
				</li>
			))}
		</ul>
	);
}
