// How wide the columns of a table are.

export type ColumnSize = {
	/** Width in pixels; the first column and those without one share what is left. */
	width?: number;
	/** How narrow the column becomes before others go, or the table scrolls sideways. */
	least?: number;
	/** Droppable columns go before this one is narrower than this. */
	wanted?: number;
	/** The column goes where there is no room for it. */
	droppable?: boolean;
};

/** The width of the column of boxes. */
export const pickWidth = 40;

/** The least widths of the first column and of others without a width. */
const leastOf = (first: boolean) => (first ? 200 : 120);

/** The first column names the row: others become narrower before it is narrower than this. */
const nameWidth = 290;

/** fitColumns returns the columns for some room: droppable ones go, the last of them first, and then the others become narrower. */
export function fitColumns<C extends ColumnSize>(columns: C[], room: number): C[] {
	const [first] = columns;
	const least = (c: C) => (c.width ? Math.min(c.width, c.least ?? c.width) : (c.least ?? leastOf(c === first)));
	const sum = (width: (c: C) => number) => shown.reduce((all, c) => all + width(c), 0);
	const shown = [...columns];
	while (sum((c) => Math.max(least(c), c.wanted ?? 0)) > room) {
		const dropped = shown.findLastIndex((c) => c.droppable);
		if (dropped < 0) break;
		shown.splice(dropped, 1);
	}
	const wanted = sum((c) => c.width ?? (c === first ? nameWidth : least(c)));
	const shrinkable = sum((c) => (c.width ? c.width - least(c) : 0));
	const part = shrinkable > 0 ? Math.min(1, Math.max(0, wanted - room) / shrinkable) : 0;
	if (part === 0) return shown;
	return shown.map((c) => (c.width ? { ...c, width: Math.floor(c.width - (c.width - least(c)) * part) } : c));
}

/** gridTemplate returns the columns as CSS lays them out, after one of boxes if rows can be picked. */
export const gridTemplate = (columns: ColumnSize[], pick: boolean) =>
	[
		...(pick ? [`${pickWidth}px`] : []),
		...columns.map((c, i) =>
			c.width ? `${c.width}px` : `minmax(${c.least ?? leastOf(i === 0)}px, ${i === 0 ? 2 : 1}fr)`,
		),
	].join(" ");

/** minWidth returns how narrow a table with the columns can be. */
export const minWidth = (columns: ColumnSize[], pick: boolean) =>
	columns.reduce((sum, c, i) => sum + (c.width ?? c.least ?? leastOf(i === 0)), pick ? pickWidth : 0);
