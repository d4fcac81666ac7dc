import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import {
	type KeyboardEvent,
	memo,
	type ReactNode,
	type RefObject,
	useCallback,
	useEffect,
	useLayoutEffect,
	useMemo,
	useRef,
	useState,
	useSyncExternalStore,
} from "react";
import { density, subscribeDensity } from "../base/density";
import { useShortcuts } from "../base/shortcuts";
import { catalogue } from "../base/words/catalogue";
import { Heading } from "./Figure";
import { useNarrow } from "./narrow";
import { CurrentRow } from "./row";
import css from "./Table.module.css";
import { toast } from "./Toast";

const words = catalogue("shell.table", {
	resize: "Width of {name}",
	select: "Select {name}",
	all: "{more, select, true {Select the first {count, number} rows} other {{count, plural, one {Select the row} other {Select the # rows loaded}}}}",
	none: "Clear the selection",
	deselected: "{count, plural, one {# row is not selected any more} other {# rows are not selected any more}}",
});

/** How many rows the box of the header selects at most: as many as one request may name. */
const mostSelected = 1000;

export type Column<T> = {
	id: string;
	/** Empty for the menu of the row, the last column, which stays in view. */
	name: string;
	/** The definition of the figures in it. */
	about?: string;
	/** Width in pixels; the first column and those without one share what is left. */
	width?: number;
	/** How narrow the column becomes before the table scrolls sideways. */
	least?: number;
	/** The column goes where there is no room for it. */
	spare?: boolean;
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

/**
 * useReturnToTable gives the focus to the page's table, or else to its heading, when what calls it goes with the focus
 * in it: the control of something that is done.
 */
export function useReturnToTable(): { stay: () => void } {
	const away = useRef(false);
	useEffect(
		() => () => {
			const give = () => {
				if (away.current || document.activeElement !== document.body) return;
				(
					document.querySelector<HTMLElement>('main [role=grid] [role=row][tabindex="0"]') ??
					document.querySelector<HTMLElement>("main h1")
				)?.focus({ preventScroll: true });
			};
			requestAnimationFrame(() => requestAnimationFrame(give)); // a dialog that closes gives back the focus first
		},
		[],
	);
	/** Something else takes the focus. */
	const stay = useCallback(() => {
		away.current = true;
	}, []);
	return { stay };
}

/** Current is the row that Tab reaches: by its key, and where it is or was last. Without a key it is the row at that place. */
type Current = { key: string | null; index: number };

/** placeOf returns where a row is among rows. A row that has gone is replaced by the nearest one of before, following ones first. */
function placeOf({ key, index }: Current, keys: string[], before: string[]): number {
	if (keys === before || key === null) return Math.min(index, keys.length - 1);
	const here = keys.indexOf(key);
	if (here >= 0) return here;
	const places = new Map(keys.map((k, i) => [k, i]));
	const was = before.indexOf(key);
	for (const k of was < 0 ? [] : [...before.slice(was + 1), ...before.slice(0, was).reverse()]) {
		const place = places.get(k);
		if (place !== undefined) return place;
	}
	return Math.min(index, keys.length - 1);
}

/** The least widths of the first column and of others without a width. */
const leastOf = (first: boolean) => (first ? 200 : 120);

/** The width of the first column at which the others stop becoming narrower for it. */
const named = 290;

/** fitted returns the columns for some room: those to spare go, the last of them first, and then the others become narrower. */
function fitted<T>(columns: Column<T>[], room: number): Column<T>[] {
	const least = (c: Column<T>) => (c.width ? Math.min(c.width, c.least ?? c.width) : leastOf(c === columns[0]));
	const sum = (of: Column<T>[], width: (c: Column<T>) => number) => of.reduce((all, c) => all + width(c), 0);
	const shown = [...columns];
	while (sum(shown, least) > room) {
		const goes = shown.findLastIndex((c) => c.spare);
		if (goes < 0) break;
		shown.splice(goes, 1);
	}
	const widths = sum(shown, (c) => c.width ?? (c === columns[0] ? named : least(c)));
	const give = sum(shown, (c) => c.width ?? least(c)) - sum(shown, least);
	const part = give > 0 ? Math.min(1, Math.max(0, widths - room) / give) : 0;
	return part === 0
		? shown
		: shown.map((c) => (c.width ? { ...c, width: Math.floor(c.width - (c.width - least(c)) * part) } : c));
}

/** The border of a table and the bar that it scrolls by. */
const edges = 17;

/** How many rows beyond those in view exist in the page, on each side. */
const overscan = 12;

/**
 * useSlots returns what gives each row in the page the number of an element, which it keeps as long as it stays. The
 * number of a row that has left goes to the next one that comes. While still is false the elements keep their order,
 * because moving one costs as much as making it; then they come into the order of the rows.
 */
function useSlots() {
	const slots = useRef(new Map<string, number>());
	const order = useRef<number[]>([]);
	return (shown: string[], still: boolean): { id: string; at: number; slot: number }[] => {
		const now = new Map<number, { id: string; at: number; slot: number }>();
		const come: { id: string; at: number }[] = [];
		for (const [at, id] of shown.entries()) {
			const slot = slots.current.get(id);
			if (slot === undefined) come.push({ id, at });
			else now.set(slot, { id, at, slot });
		}
		const free = order.current.filter((slot) => !now.has(slot));
		let fresh = Math.max(-1, ...order.current) + 1;
		for (const c of come) {
			const slot = free.shift() ?? fresh++;
			now.set(slot, { ...c, slot });
			if (!order.current.includes(slot)) order.current.push(slot);
		}
		const list = still
			? [...now.values()].sort((a, b) => a.at - b.at)
			: order.current.flatMap((slot) => now.get(slot) ?? []);
		order.current = list.map((l) => l.slot);
		slots.current = new Map(list.map((l) => [l.id, l.slot]));
		return list;
	};
}

/**
 * Table shows rows of which only those in view exist in the page, and the one that Tab reaches. It is a grid with one
 * tab stop: arrow keys or j and k move, Enter opens, Space peeks, x selects and Shift selects a range,
 * and a dot opens the menu of the row. When rows come, go or move, the focus and what is in view stay on their rows.
 */
export function Table<T>(p: Props<T>) {
	const phone = useNarrow();
	const scroller = useRef<HTMLDivElement>(null);
	const [at, setAt] = useState<Current>({ key: null, index: 0 });
	const anchor = useRef<string | null>(null); // where a range of selected rows begins
	const extending = useRef(false); // whether the last move extended the selection from the anchor
	const compact = useSyncExternalStore(subscribeDensity, density) === "compact";
	const height = (phone ? 64 : coarse?.matches ? 44 : 36) - (compact ? 8 : 0);
	const { rows, rowKey } = p;
	const keyOf = useRef(rowKey);
	keyOf.current = rowKey;
	const keys = useMemo(() => rows.map(keyOf.current), [rows]);
	const before = useRef(keys);
	const current = useMemo(() => placeOf(at, keys, before.current), [at, keys]);
	const virtual = useVirtualizer({
		count: p.rows.length,
		getScrollElement: () => scroller.current,
		estimateSize: () => height,
		overscan,
		rangeExtractor: useCallback(
			(range: Range) => {
				const shown = defaultRangeExtractor(range);
				return current < 0 || shown.includes(current) ? shown : [...shown, current].sort((a, b) => a - b);
			},
			[current],
		),
	});
	useEffect(() => {
		void height;
		virtual.measure();
	}, [virtual, height]);
	const items = virtual.getVirtualItems().filter((item) => item.index < p.rows.length);
	const slotted = useSlots();
	const drawn = p.recycle
		? slotted(
				items.map((item) => keys[item.index] ?? ""),
				!virtual.isScrolling,
			).map(({ at, slot }) => ({ item: items[at], slot }))
		: items.map((item) => ({ item, slot: null }));
	const near = p.rows.length > 0 && (virtual.range?.endIndex ?? 0) + overscan >= p.rows.length * 0.6;
	const { onEnd } = p;
	useEffect(() => {
		if (near) onEnd?.();
	}, [near, onEnd]);

	const view = `${p.found ?? ""} ${p.sort?.by ?? ""} ${p.sort?.dir ?? ""}`;
	const shown = useRef(view);
	useEffect(() => {
		if (shown.current === view) return;
		shown.current = view;
		setAt({ key: null, index: 0 });
		anchor.current = null;
		if (scroller.current) scroller.current.scrollTop = 0;
	}, [view]);

	// What has the focus in a row. Rows that the browser moves or removes lose it without having been left.
	const held = useRef<HTMLElement | null>(null);
	const moving = useRef(false);
	useLayoutEffect(() => {
		const table = scroller.current;
		const was = before.current;
		if (table && was !== keys) {
			before.current = keys;
			const anchored = held.current ? at.key : table.scrollTop > 0 ? was[Math.floor(table.scrollTop / height)] : null;
			const from = anchored ? was.indexOf(anchored) : -1;
			const to = anchored && from >= 0 ? keys.indexOf(anchored) : -1;
			if (to >= 0) table.scrollTop += (to - from) * height;
			else if (held.current) virtual.scrollToIndex(current, { align: "auto" });
			if (at.key !== null && (at.key !== keys[current] || at.index !== current))
				setAt({ key: keys[current] ?? null, index: current });
		}
		const lost = held.current !== null && (document.activeElement === null || document.activeElement === document.body);
		if (!moving.current && !lost) return;
		const row = table?.querySelector<HTMLElement>(`[data-index="${current}"]`);
		const control = !moving.current && held.current?.isConnected ? held.current : row;
		moving.current = false;
		control?.focus({ preventScroll: true });
	});

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
		if (!p.onSelect) return;
		const next = new Set(selected);
		const row = p.rows[index];
		if (!row) return;
		if (range) {
			const begin = Math.max(0, keys.indexOf(anchor.current ?? keys[0] ?? ""));
			const [from, to] = [Math.min(begin, index), Math.max(begin, index)];
			for (const r of p.rows.slice(from, to + 1)) next.add(p.rowKey(r));
		} else {
			if (!next.delete(p.rowKey(row))) next.add(p.rowKey(row));
			anchor.current = p.rowKey(row);
		}
		p.onSelect(next);
	};
	const focus = (index: number) => {
		const to = Math.max(0, Math.min(p.rows.length - 1, index));
		moving.current = true;
		setAt({ key: keys[to] ?? null, index: to });
		virtual.scrollToIndex(to, { align: "auto" });
	};
	// With the focus elsewhere on the page, j and k give it to the row that Tab reaches.
	const enter = () => p.rows.length > 0 && focus(current);
	const deselect = () => {
		const before = selected;
		p.onSelect?.(new Set());
		if (before.size > 1) toast(words.deselected({ count: before.size }), { undo: () => p.onSelect?.(new Set(before)) });
	};
	useShortcuts(selected.size > 0 ? { j: enter, k: enter, Escape: deselect } : { j: enter, k: enter });
	const key = (e: KeyboardEvent) => {
		if ((e.target as HTMLElement).closest("input, button, select, [role=menu]")) return;
		const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / height) - 1);
		const moves: { [key: string]: number } = {
			ArrowDown: current + 1,
			j: current + 1,
			ArrowUp: current - 1,
			k: current - 1,
			PageDown: current + page,
			PageUp: current - page,
			Home: 0,
			End: p.rows.length - 1,
		};
		const row = p.rows[current];
		if (e.key in moves && !e.ctrlKey && !e.metaKey) {
			const to = moves[e.key] ?? current;
			if (e.shiftKey && p.onSelect) {
				if (!extending.current) anchor.current = keys[current] ?? null;
				extending.current = true;
				toggle(Math.max(0, Math.min(p.rows.length - 1, to)), true);
			} else extending.current = false;
			focus(to);
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
		focus: (id, index) => setAt({ key: id, index }),
		toggle,
		open: p.onOpen,
		name: p.rowName,
		card: p.card,
	};

	const place = virtual.scrollRect?.width || Number.POSITIVE_INFINITY;
	const columns = useMemo(
		() => (phone ? p.columns : fitted(p.columns, place - edges - (p.onSelect ? 40 : 0))),
		[phone, p.columns, place, p.onSelect],
	);
	const template = [
		p.onSelect && "40px",
		...columns.map((c, i) => (c.width ? `${c.width}px` : `minmax(${leastOf(i === 0)}px, ${i === 0 ? 2 : 1}fr)`)),
	]
		.filter(Boolean)
		.join(" ");
	const width = columns.reduce((sum, c, i) => sum + (c.width ?? leastOf(i === 0)), p.onSelect ? 40 : 0);
	const loaded = p.onSelect ? p.rows.slice(0, mostSelected) : [];
	const allSelected = selected.size > 0 && loaded.every((r) => selected.has(p.rowKey(r)));
	return (
		<div
			ref={scroller}
			className={[css.scroller, p.fill && css.fill, !phone && width > place && css.sideways].filter(Boolean).join(" ")}
			role="grid"
			aria-label={p.label}
			aria-rowcount={(p.total ?? p.rows.length) + 1}
			aria-colcount={columns.length + (p.onSelect ? 1 : 0)}
			aria-multiselectable={p.onSelect ? true : undefined}
			onKeyDown={key}
			onFocus={({ target }) => {
				held.current = (target as HTMLElement).closest("[data-index]") ? (target as HTMLElement) : null;
			}}
			onBlur={({ target, relatedTarget }) => {
				if (relatedTarget) held.current = null;
				else {
					requestAnimationFrame(() => {
						if (target.isConnected && held.current === target && document.activeElement !== target) held.current = null;
					});
				}
			}}
			style={{ "--columns": template, "--width": phone ? "0px" : `${width}px` } as React.CSSProperties}
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
								) : (
									<Heading name={c.name} about={c.about} />
								)}
								{p.onResize && c.width && c.name && (
									<Handle name={c.name} width={c.width} onResize={(width) => p.onResize?.(c.id, width)} />
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
							pick={p.onSelect !== undefined}
							acts={acts}
						/>
					);
				})}
			</div>
		</div>
	);
}

/** Acts is what rows do; it is read when they do it. */
type Acts<T> = {
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
	chosen: boolean;
	current: boolean;
	phone: boolean;
	columns: Column<T>[];
	pick: boolean;
	acts: RefObject<Acts<T>>;
};

function RowOf<T>({ id, row, index, start, size, chosen, current, phone, columns, pick, acts }: RowProps<T>) {
	return (
		// biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles keys
		<div
			role="row"
			data-index={index}
			aria-rowindex={index + 2}
			aria-selected={pick ? chosen : undefined}
			tabIndex={current ? 0 : -1}
			className={phone ? css.card : css.row}
			style={{ transform: `translateY(${start}px)`, blockSize: size }}
			onFocus={() => acts.current.focus(id, index)}
			onClick={(e) => {
				if ((e.target as HTMLElement).closest("a, button, input, [role=menu]")) return;
				if (e.shiftKey) acts.current.toggle(index, true);
				else acts.current.open?.(row);
			}}
		>
			{pick && (
				<div role="gridcell" className={`${css.cell} ${css.pick}`}>
					<input
						type="checkbox"
						tabIndex={-1}
						aria-label={words.select({ name: acts.current.name(row) })}
						checked={chosen}
						onChange={(e) => acts.current.toggle(index, (e.nativeEvent as MouseEvent).shiftKey)}
					/>
				</div>
			)}
			{phone ? (
				<div role="gridcell" className={css.cardBody}>
					{acts.current.card(row)}
				</div>
			) : (
				<CurrentRow value={current}>
					{columns.map((c, i) => (
						<div
							key={c.id}
							role={i === 0 ? "rowheader" : "gridcell"}
							className={[css.cell, c.align && css.end, i === 0 && css.first, !c.name && css.menu]
								.filter(Boolean)
								.join(" ")}
						>
							{c.cell(row)}
						</div>
					))}
				</CurrentRow>
			)}
		</div>
	);
}

/** Row is drawn again only when something about it changes, so that scrolling draws only the rows that come into view. */
const Row = memo(RowOf) as typeof RowOf;

const narrowest = 64;
const widest = 800;

/** Handle changes the width of a column: by dragging, or by the arrow keys. */
function Handle({ name, width, onResize }: { name: string; width: number; onResize: (width: number) => void }) {
	const from = useRef<{ x: number; width: number } | null>(null);
	const set = (to: number) => onResize(Math.max(narrowest, Math.min(widest, Math.round(to))));
	return (
		<div
			role="separator"
			tabIndex={0}
			aria-orientation="vertical"
			aria-label={words.resize({ name })}
			aria-valuenow={width}
			aria-valuemin={narrowest}
			aria-valuemax={widest}
			className={css.handle}
			onKeyDown={(e) => {
				if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
				e.preventDefault();
				e.stopPropagation();
				set(width + (e.key === "ArrowRight" ? 16 : -16));
			}}
			onPointerDown={(e) => {
				e.preventDefault();
				from.current = { x: e.clientX, width };
				e.currentTarget.setPointerCapture(e.pointerId);
			}}
			onPointerMove={(e) => from.current && set(from.current.width + e.clientX - from.current.x)}
			onPointerUp={() => {
				from.current = null;
			}}
			onPointerCancel={() => {
				from.current = null;
			}}
		/>
	);
}
