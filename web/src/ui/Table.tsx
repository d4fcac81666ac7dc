import { ArrowDown, ArrowUp } from "lucide-react";
import {
	type KeyboardEvent,
	type ReactNode,
	useEffect,
	useLayoutEffect,
	useMemo,
	useRef,
	useSyncExternalStore,
} from "react";
import { density, subscribeDensity } from "../base/density";
import { useShortcuts } from "../base/shortcuts";
import { catalogue } from "../base/words/catalogue";
import { Heading } from "./Figure";
import { useNarrow } from "./useNarrow";
import css from "./Table.module.css";
import { toast } from "./Toast";
import { type ColumnSize, fitColumns, gridTemplate, minWidth, selectionWidth } from "./table/fitColumns";
import { ResizeHandle } from "./table/ResizeHandle";
import { type RowHandlers, Row } from "./table/Row";
import { extended, moveOf, toggled } from "./table/rows";
import { Slots } from "./table/slots";
import { useRovingGrid } from "./table/useRovingGrid";

const words = catalogue("shell.table", {
	unnamed: "More",
	all: "{more, select, true {Select the first {count, number} rows} other {{count, plural, one {Select the row} other {Select the # rows loaded}}}}",
	none: "Clear the selection",
	deselected: "{count, plural, one {# row is no longer selected} other {# rows are no longer selected}}",
});

/** How many rows the box of the header selects at most: as many as one request may name. */
const maxSelected = 1000;

export type Column<T> = ColumnSize & {
	id: string;
	/** Empty for the menu of the row, the last column, which stays in view. */
	name: string;
	/** The definition of the figures in it. */
	description?: string;
	align?: "end";
	sortable?: boolean;
	cell: (row: T) => ReactNode;
};

type Props<T> = {
	label: string;
	columns: Column<T>[];
	rows: T[];
	rowKey: (row: T) => string;
	rowName: (row: T) => string;
	/** How many rows there are on the server, if known. */
	total?: number;
	sort?: { column: string; dir: "asc" | "desc" };
	onSort?: (column: string, dir: "asc" | "desc") => void;
	selected?: ReadonlySet<string>;
	onSelect?: (keys: Set<string>) => void;
	onOpen?: (row: T) => void;
	onPeek?: (row: T) => void;
	/** Columns with a width get a handle: dragged, or moved with the arrow keys. */
	onResize?: (column: string, width: number) => void;
	/** Called when the end of the rows is near. */
	onEnd?: () => void;
	/** The row on a phone: name, state, one figure. */
	card: (row: T) => ReactNode;
	/** What the rows were found by: search and filters. When it or the sort changes, the first row is shown. */
	found?: string;
	/** Rows fill the height of the page and scroll by themselves. */
	fill?: boolean;
	/**
	 * Cells keep nothing of their own that a person sees unless the focus is in them. While the table scrolls, the
	 * elements of rows that leave then show those that come, which costs a part of making new ones.
	 */
	recyclesElements?: boolean;
};

const coarsePointer = typeof matchMedia === "undefined" ? null : matchMedia("(pointer: coarse)");

/** The border of a table and the bar that it scrolls by. */
const edges = 17;

/** How many rows beyond those in view exist in the page, on each side. */
const overscan = 12;

/**
 * Table shows rows of which only those in view exist in the page, and the one that Tab reaches. It is a grid with one
 * tab stop: arrow keys or j and k move, Enter opens, Space peeks, x selects and Shift selects a range,
 * and a dot opens the menu of the row. When rows come, go or move, the focus and what is in view stay on their rows.
 */
export function Table<T>(props: Props<T>) {
	const phone = useNarrow();
	const scroller = useRef<HTMLDivElement>(null);
	const anchor = useRef<string | null>(null); // where a range of selected rows begins
	const isExtending = useRef(false); // whether the last move extended the selection from the anchor
	const compact = useSyncExternalStore(subscribeDensity, density) === "compact";
	const height = (phone ? 64 : coarsePointer?.matches ? 44 : 36) - (compact ? 8 : 0);
	const { rows, rowKey } = props;
	const keyOf = useRef(rowKey);
	keyOf.current = rowKey;
	const keys = useMemo(() => rows.map(keyOf.current), [rows]);
	const grid = useRovingGrid({ scroller, keys, height, overscan });
	const { virtual, current } = grid;
	const items = virtual.getVirtualItems().filter((item) => item.index < props.rows.length);
	const slots = useRef(new Slots());
	const drawn = props.recyclesElements
		? slots.current
				.assign(
					items.map((item) => keys[item.index] ?? ""),
					virtual.isScrolling,
				)
				.map(({ index, slot }) => ({ item: items[index], slot }))
		: items.map((item) => ({ item, slot: null }));
	const nearEnd = props.rows.length > 0 && (virtual.range?.endIndex ?? 0) + overscan >= props.rows.length * 0.6;
	const { onEnd } = props;
	useEffect(() => {
		if (nearEnd) onEnd?.();
	}, [nearEnd, onEnd]);

	const view = `${props.found ?? ""} ${props.sort?.column ?? ""} ${props.sort?.dir ?? ""}`;
	const shown = useRef(view);
	const { showFirst } = grid;
	useEffect(() => {
		if (shown.current === view) return;
		shown.current = view;
		showFirst();
		anchor.current = null;
	}, [view, showFirst]);

	// A table that fills the page ends where the screen ends, so that only one of them scrolls.
	useLayoutEffect(() => {
		const table = scroller.current;
		if (!props.fill || !table) return;
		const resize = () =>
			table.style.setProperty("--above", `${Math.round(table.getBoundingClientRect().top + scrollY)}px`);
		resize();
		const observer = new ResizeObserver(resize); // what is above becomes higher when it wraps, or shows filters
		for (let element = table.previousElementSibling; element; element = element.previousElementSibling)
			observer.observe(element);
		observer.observe(document.body);
		return () => observer.disconnect();
	}, [props.fill]);

	// When the table is removed while it has the focus, the page's heading takes it.
	useLayoutEffect(() => {
		const table = scroller.current;
		return () => {
			if (!table?.contains(document.activeElement)) return;
			requestAnimationFrame(
				() =>
					document.activeElement === document.body &&
					document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true }),
			);
		};
	}, []);

	const selected = props.selected ?? new Set<string>();
	const toggle = (index: number, range: boolean) => {
		const rowKey = keys[index];
		if (!props.onSelect || rowKey === undefined) return;
		if (range) props.onSelect(extended(selected, keys, anchor.current, index));
		else {
			props.onSelect(toggled(selected, rowKey));
			anchor.current = rowKey;
		}
	};
	// With the focus elsewhere on the page, j and k give it to the row that Tab reaches.
	const focusCurrent = () => props.rows.length > 0 && grid.focus(current);
	const deselect = () => {
		const before = selected;
		props.onSelect?.(new Set());
		if (before.size > 1)
			toast(words.deselected({ count: before.size }), { undo: () => props.onSelect?.(new Set(before)) });
	};
	useShortcuts(
		selected.size > 0 ? { j: focusCurrent, k: focusCurrent, Escape: deselect } : { j: focusCurrent, k: focusCurrent },
	);
	const key = (event: KeyboardEvent) => {
		if ((event.target as HTMLElement).closest("input, button, select, [role=menu]")) return;
		const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / height) - 1);
		const to = event.ctrlKey || event.metaKey ? null : moveOf(event.key, current, props.rows.length, page);
		const row = props.rows[current];
		if (to !== null) {
			if (event.shiftKey && props.onSelect) {
				if (!isExtending.current) anchor.current = keys[current] ?? null;
				isExtending.current = true;
				toggle(to, true);
			} else isExtending.current = false;
			grid.focus(to);
		} else if (event.key === "Enter" && row && props.onOpen) props.onOpen(row);
		else if (event.key === " " && row && props.onPeek) props.onPeek(row);
		else if (event.key === ".")
			(event.target as HTMLElement).querySelector<HTMLElement>("[aria-haspopup=menu]")?.click();
		else if (event.key.toLowerCase() === "x" && props.onSelect) toggle(current, event.shiftKey);
		else if (event.key === "Escape" && selected.size > 0) deselect();
		else return;
		event.preventDefault();
		event.stopPropagation();
	};

	const handlers = useRef<RowHandlers<T>>(null as unknown as RowHandlers<T>);
	handlers.current = {
		focus: grid.reach,
		toggle,
		open: props.onOpen,
		name: props.rowName,
		card: props.card,
	};

	const pick = props.onSelect !== undefined;
	const room = virtual.scrollRect?.width || Number.POSITIVE_INFINITY;
	const columns = useMemo(
		() => (phone ? props.columns : fitColumns(props.columns, room - edges - (pick ? selectionWidth : 0))),
		[phone, props.columns, room, pick],
	);
	const width = minWidth(columns, pick);
	const loaded = props.onSelect ? props.rows.slice(0, maxSelected) : [];
	const allSelected = selected.size > 0 && loaded.every((row) => selected.has(props.rowKey(row)));
	return (
		<div
			ref={scroller}
			className={[css.scroller, props.fill && css.fill, !phone && width > room && css.sideways]
				.filter(Boolean)
				.join(" ")}
			role="grid"
			aria-label={props.label}
			aria-rowcount={(props.total ?? props.rows.length) + 1}
			aria-colcount={columns.length + (props.onSelect ? 1 : 0)}
			aria-multiselectable={props.onSelect ? true : undefined}
			onKeyDown={key}
			onFocus={grid.onFocus}
			onBlur={grid.onBlur}
			style={
				{ "--columns": gridTemplate(columns, pick), "--width": phone ? "0px" : `${width}px` } as React.CSSProperties
			}
		>
			<div role="rowgroup" className={phone ? "visually-hidden" : css.head}>
				<div role="row" aria-rowindex={1} className={css.row}>
					{props.onSelect && (
						<div role="columnheader" className={`${css.cell} ${css.pick}`}>
							<input
								type="checkbox"
								aria-label={
									allSelected
										? words.none
										: words.all({ count: loaded.length, more: props.rows.length > loaded.length })
								}
								ref={(box) => {
									if (box) box.indeterminate = !allSelected && selected.size > 0;
								}}
								checked={allSelected}
								tabIndex={phone ? -1 : undefined}
								onChange={() => props.onSelect?.(allSelected ? new Set() : new Set(loaded.map(props.rowKey)))}
							/>
						</div>
					)}
					{columns.map((column, i) => {
						const sorted = props.sort?.column === column.id ? props.sort.dir : undefined;
						return (
							<div
								key={column.id}
								role="columnheader"
								aria-sort={sorted && (sorted === "asc" ? "ascending" : "descending")}
								className={[css.cell, column.align && css.end, i === 0 && css.first, !column.name && css.menu]
									.filter(Boolean)
									.join(" ")}
							>
								{column.sortable && props.onSort ? (
									<button
										type="button"
										className={css.sort}
										tabIndex={phone ? -1 : undefined}
										onClick={() => props.onSort?.(column.id, sorted === "asc" ? "desc" : "asc")}
									>
										{column.name}
										{sorted === "asc" && <ArrowUp aria-hidden size={14} />}
										{sorted === "desc" && <ArrowDown aria-hidden size={14} />}
									</button>
								) : column.name ? (
									<Heading name={column.name} description={column.description} />
								) : (
									<span className="visually-hidden">{words.unnamed}</span>
								)}
								{props.onResize && column.width && column.name && (
									<ResizeHandle
										name={column.name}
										width={column.width}
										onResize={(width) => props.onResize?.(column.id, width)}
									/>
								)}
							</div>
						);
					})}
				</div>
			</div>
			<div role="rowgroup" className={css.body} style={{ blockSize: virtual.getTotalSize() }}>
				{drawn.map(({ item, slot }) => {
					const row = item && props.rows[item.index];
					if (item === undefined || row === undefined) return null;
					const id = props.rowKey(row);
					const selection = selected.has(id);
					return (
						<Row<T>
							key={slot ?? id}
							id={id}
							row={row}
							index={item.index}
							start={item.start}
							size={item.size}
							selected={selection}
							current={item.index === current}
							phone={phone}
							columns={columns}
							pick={pick}
							handlers={handlers}
						/>
					);
				})}
			</div>
		</div>
	);
}
