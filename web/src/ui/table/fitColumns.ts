// How wide the columns of a table are.

export type ColumnSize = {
	/** Width in pixels; the first column and those without one share what is left. */
	width?: number;
	/** How narrow the column becomes before others go, or the table scrolls sideways. */
	minWidth?: number;
	/** Droppable columns go before this one is narrower than this. */
	preferredWidth?: number;
	/** The column goes where there is no room for it. */
	droppable?: boolean;
};

/** The width of the column of boxes. */
export const selectionWidth = 40;

/** The least widths of the first column and of others without a width. */
const defaultMinWidth = (first: boolean) => (first ? 200 : 120);

/** The first column names the row: others become narrower before it is narrower than this. */
const nameWidth = 290;

/** fitColumns returns the columns for some room: droppable ones go, the last of them first, and then the others become narrower. */
export function fitColumns<C extends ColumnSize>(columns: C[], room: number): C[] {
	const [first] = columns;
	const minWidth = (column: C) =>
		column.width
			? Math.min(column.width, column.minWidth ?? column.width)
			: (column.minWidth ?? defaultMinWidth(column === first));
	const sum = (width: (column: C) => number) => shown.reduce((all, column) => all + width(column), 0);
	const shown = [...columns];
	while (sum((column) => Math.max(minWidth(column), column.preferredWidth ?? 0)) > room) {
		const dropped = shown.findLastIndex((column) => column.droppable);
		if (dropped < 0) break;
		shown.splice(dropped, 1);
	}
	const preferredTotal = sum((column) => column.width ?? (column === first ? nameWidth : minWidth(column)));
	const shrinkable = sum((column) => (column.width ? column.width - minWidth(column) : 0));
	const part = shrinkable > 0 ? Math.min(1, Math.max(0, preferredTotal - room) / shrinkable) : 0;
	if (part === 0) return shown;
	return shown.map((column) =>
		column.width ? { ...column, width: Math.floor(column.width - (column.width - minWidth(column)) * part) } : column,
	);
}

/** gridTemplate returns the columns as CSS lays them out, after one of boxes if rows can be picked. */
export const gridTemplate = (columns: ColumnSize[], pick: boolean) =>
	[
		...(pick ? [`${selectionWidth}px`] : []),
		...columns.map((column, i) =>
			column.width
				? `${column.width}px`
				: `minmax(${column.minWidth ?? defaultMinWidth(i === 0)}px, ${i === 0 ? 2 : 1}fr)`,
		),
	].join(" ");

/** minWidth returns how narrow a table with the columns can be. */
export const minWidth = (columns: ColumnSize[], pick: boolean) =>
	columns.reduce(
		(sum, column, i) => sum + (column.width ?? column.minWidth ?? defaultMinWidth(i === 0)),
		pick ? selectionWidth : 0,
	);
