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
import { useNarrow } from "./narrow";
import css from "./Table.module.css";
import { toast } from "./Toast";
import { type ColumnSize, fitColumns, gridTemplate, minWidth, pickWidth } from "./table/fitColumns";
import { ResizeHandle } from "./table/ResizeHandle";
import { type Acts, Row } from "./table/Row";
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
const mostSelected = 1000;

export type Column<T> = ColumnSize & {
	id: string;
	/** Empty for the menu of the row, the last column, which stays in view. */
	name: string;
	/** The definition of the figures in it. */
	about?: string;
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
	sort?: { by: string; dir: "asc" | "desc" };
	onSort?: (by: string, dir: "asc" | "desc") => void;
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
	recycle?: boolean;
};

const coarse = typeof matchMedia === "undefined" ? null : matchMedia("(pointer: coarse)");

/** The border of a table and the bar that it scrolls by. */
const edges = 17;

/** How many rows beyond those in view exist in the page, on each side. */
const overscan = 12;

/**
 * Table shows rows of which only those in view exist in the page, and the one that Tab reaches. It is a grid with one
 * tab stop: arrow keys or j and k move, Enter opens, Space peeks, x selects and Shift selects a range,
 * and a dot opens the menu of the row. When rows come, go or move, the focus and what is in view stay on their rows.
 */
export function Table<T>(p: Props<T>) {
	const phone = useNarrow();
	const scroller = useRef<HTMLDivElement>(null);
	const anchor = useRef<string | null>(null); // where a range of selected rows begins
	const extending = useRef(false); // whether the last move extended the selection from the anchor
	const compact = useSyncExternalStore(subscribeDensity, density) === "compact";
	const height = (phone ? 64 : coarse?.matches ? 44 : 36) - (compact ? 8 : 0);
	const { rows, rowKey } = p;
	const keyOf = useRef(rowKey);
	keyOf.current = rowKey;
	const keys = useMemo(() => rows.map(keyOf.current), [rows]);
	const grid = useRovingGrid({ scroller, keys, height, overscan });
	const { virtual, current } = grid;
	const items = virtual.getVirtualItems().filter((item) => item.index < p.rows.length);
	const slots = useRef(new Slots());
	const drawn = p.recycle
		? slots.current
				.assign(
					items.map((item) => keys[item.index] ?? ""),
					virtual.isScrolling,
				)
				.map(({ at, slot }) => ({ item: items[at], slot }))
		: items.map((item) => ({ item, slot: null }));
	const near = p.rows.length > 0 && (virtual.range?.endIndex ?? 0) + overscan >= p.rows.length * 0.6;
	const { onEnd } = p;
	useEffect(() => {
		if (near) onEnd?.();
	}, [near, onEnd]);

	const view = `${p.found ?? ""} ${p.sort?.by ?? ""} ${p.sort?.dir ?? ""}`;
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
		if (!p.fill || !table) return;
		const fit = () =>
			table.style.setProperty("--above", `${Math.round(table.getBoundingClientRect().top + scrollY)}px`);
		fit();
		const seen = new ResizeObserver(fit); // what is above becomes higher when it wraps, or shows filters
		for (let e = table.previousElementSibling; e; e = e.previousElementSibling) seen.observe(e);
		seen.observe(document.body);
		return () => seen.disconnect();
	}, [p.fill]);

	// When the table goes with the focus in it, the page's heading takes it.
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

	const selected = p.selected ?? new Set<string>();
	const toggle = (index: number, range: boolean) => {
		const rowKey = keys[index];
		if (!p.onSelect || rowKey === undefined) return;
		if (range) p.onSelect(extended(selected, keys, anchor.current, index));
		else {
			p.onSelect(toggled(selected, rowKey));
			anchor.current = rowKey;
		}
	};
	// With the focus elsewhere on the page, j and k give it to the row that Tab reaches.
	const enter = () => p.rows.length > 0 && grid.focus(current);
	const deselect = () => {
		const before = selected;
		p.onSelect?.(new Set());
		if (before.size > 1) toast(words.deselected({ count: before.size }), { undo: () => p.onSelect?.(new Set(before)) });
	};
	useShortcuts(selected.size > 0 ? { j: enter, k: enter, Escape: deselect } : { j: enter, k: enter });
	const key = (e: KeyboardEvent) => {
		if ((e.target as HTMLElement).closest("input, button, select, [role=menu]")) return;
		const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / height) - 1);
		const to = e.ctrlKey || e.metaKey ? null : moveOf(e.key, current, p.rows.length, page);
		const row = p.rows[current];
		if (to !== null) {
			if (e.shiftKey && p.onSelect) {
				if (!extending.current) anchor.current = keys[current] ?? null;
				extending.current = true;
				toggle(to, true);
			} else extending.current = false;
			grid.focus(to);
		} else if (e.key === "Enter" && row && p.onOpen) p.onOpen(row);
		else if (e.key === " " && row && p.onPeek) p.onPeek(row);
		else if (e.key === ".") (e.target as HTMLElement).querySelector<HTMLElement>("[aria-haspopup=menu]")?.click();
		else if (e.key.toLowerCase() === "x" && p.onSelect) toggle(current, e.shiftKey);
		else if (e.key === "Escape" && selected.size > 0) deselect();
		else return;
		e.preventDefault();
		e.stopPropagation();
	};

	const acts = useRef<Acts<T>>(null as unknown as Acts<T>);
	acts.current = {
		focus: grid.reach,
		toggle,
		open: p.onOpen,
		name: p.rowName,
		card: p.card,
	};

	const pick = p.onSelect !== undefined;
	const room = virtual.scrollRect?.width || Number.POSITIVE_INFINITY;
	const columns = useMemo(
		() => (phone ? p.columns : fitColumns(p.columns, room - edges - (pick ? pickWidth : 0))),
		[phone, p.columns, room, pick],
	);
	const width = minWidth(columns, pick);
	const loaded = p.onSelect ? p.rows.slice(0, mostSelected) : [];
	const allSelected = selected.size > 0 && loaded.every((r) => selected.has(p.rowKey(r)));
	return (
		<div
			ref={scroller}
			className={[css.scroller, p.fill && css.fill, !phone && width > room && css.sideways].filter(Boolean).join(" ")}
			role="grid"
			aria-label={p.label}
			aria-rowcount={(p.total ?? p.rows.length) + 1}
			aria-colcount={columns.length + (p.onSelect ? 1 : 0)}
			aria-multiselectable={p.onSelect ? true : undefined}
			onKeyDown={key}
			onFocus={grid.onFocus}
			onBlur={grid.onBlur}
			style={
				{ "--columns": gridTemplate(columns, pick), "--width": phone ? "0px" : `${width}px` } as React.CSSProperties
			}
		>
			<div role="rowgroup" className={phone ? "visually-hidden" : css.head}>
				<div role="row" aria-rowindex={1} className={css.row}>
					{p.onSelect && (
						<div role="columnheader" className={`${css.cell} ${css.pick}`}>
							<input
								type="checkbox"
								aria-label={
									allSelected ? words.none : words.all({ count: loaded.length, more: p.rows.length > loaded.length })
								}
								ref={(box) => {
									if (box) box.indeterminate = !allSelected && selected.size > 0;
								}}
								checked={allSelected}
								tabIndex={phone ? -1 : undefined}
								onChange={() => p.onSelect?.(allSelected ? new Set() : new Set(loaded.map(p.rowKey)))}
							/>
						</div>
					)}
					{columns.map((c, i) => {
						const sorted = p.sort?.by === c.id ? p.sort.dir : undefined;
						return (
							<div
								key={c.id}
								role="columnheader"
								aria-sort={sorted && (sorted === "asc" ? "ascending" : "descending")}
								className={[css.cell, c.align && css.end, i === 0 && css.first, !c.name && css.menu]
									.filter(Boolean)
									.join(" ")}
							>
								{c.sortable && p.onSort ? (
									<button
										type="button"
										className={css.sort}
										tabIndex={phone ? -1 : undefined}
										onClick={() => p.onSort?.(c.id, sorted === "asc" ? "desc" : "asc")}
									>
										{c.name}
										{sorted === "asc" && <ArrowUp aria-hidden size={14} />}
										{sorted === "desc" && <ArrowDown aria-hidden size={14} />}
									</button>
								) : c.name ? (
									<Heading name={c.name} about={c.about} />
								) : (
									<span className="visually-hidden">{words.unnamed}</span>
								)}
								{p.onResize && c.width && c.name && (
									<ResizeHandle name={c.name} width={c.width} onResize={(width) => p.onResize?.(c.id, width)} />
								)}
							</div>
						);
					})}
				</div>
			</div>
			<div role="rowgroup" className={css.body} style={{ blockSize: virtual.getTotalSize() }}>
				{drawn.map(({ item, slot }) => {
					const row = item && p.rows[item.index];
					if (item === undefined || row === undefined) return null;
					const id = p.rowKey(row);
					const chosen = selected.has(id);
					return (
						<Row<T>
							key={slot ?? id}
							id={id}
							row={row}
							index={item.index}
							start={item.start}
							size={item.size}
							chosen={chosen}
							current={item.index === current}
							phone={phone}
							columns={columns}
							pick={pick}
							acts={acts}
						/>
					);
				})}
			</div>
		</div>
	);
}
