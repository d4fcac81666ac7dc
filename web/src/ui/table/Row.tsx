import { memo, type ReactNode, type RefObject } from "react";
import { catalogue } from "../../base/words/catalogue";
import { CurrentRow } from "../currentRow";
import css from "../Table.module.css";

const words = catalogue("shell.tableRow", { select: "Select {name}" });

/** RowColumn is what a row shows in a column. */
export type RowColumn<T> = { id: string; name: string; align?: "end"; cell: (row: T) => ReactNode };

/** Acts is what rows do; it is read when they do it. */
export type RowHandlers<T> = {
	focus: (id: string, index: number) => void;
	toggle: (index: number, range: boolean) => void;
	open?: (row: T) => void;
	name: (row: T) => string;
	card: (row: T) => ReactNode;
};

type RowProps<T> = {
	id: string;
	row: T;
	index: number;
	start: number;
	size: number;
	selected: boolean;
	current: boolean;
	phone: boolean;
	columns: RowColumn<T>[];
	pick: boolean;
	handlers: RefObject<RowHandlers<T>>;
};

function RowOf<T>({ id, row, index, start, size, selected, current, phone, columns, pick, handlers }: RowProps<T>) {
	return (
		// biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles keys
		<div
			role="row"
			data-index={index}
			aria-rowindex={index + 2}
			aria-selected={pick ? selected : undefined}
			tabIndex={current ? 0 : -1}
			className={phone ? css.card : css.row}
			style={{ transform: `translateY(${start}px)`, blockSize: size }}
			onFocus={() => handlers.current.focus(id, index)}
			onClick={(event) => {
				if ((event.target as HTMLElement).closest("a, button, input, [role=menu]")) return;
				if (event.shiftKey) handlers.current.toggle(index, true);
				else handlers.current.open?.(row);
			}}
		>
			{pick && (
				<div role="gridcell" className={`${css.cell} ${css.pick}`}>
					<input
						type="checkbox"
						tabIndex={-1}
						aria-label={words.select({ name: handlers.current.name(row) })}
						checked={selected}
						onChange={(e) => handlers.current.toggle(index, (e.nativeEvent as MouseEvent).shiftKey)}
					/>
				</div>
			)}
			{phone ? (
				<div role="gridcell" className={css.cardBody}>
					{handlers.current.card(row)}
				</div>
			) : (
				<CurrentRow value={current}>
					{columns.map((column, i) => (
						<div
							key={column.id}
							role={i === 0 ? "rowheader" : "gridcell"}
							className={[css.cell, column.align && css.end, i === 0 && css.first, !column.name && css.menu]
								.filter(Boolean)
								.join(" ")}
						>
							{column.cell(row)}
						</div>
					))}
				</CurrentRow>
			)}
		</div>
	);
}

/** Row is drawn again only when something about it changes, so that scrolling draws only the rows that come into view. */
export const Row = memo(RowOf) as typeof RowOf;
