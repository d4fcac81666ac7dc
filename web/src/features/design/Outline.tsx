import { type KeyboardEvent, memo, useLayoutEffect, useMemo, useRef } from "react";
import { catalogue } from "../../base/words/catalogue";
import css from "./Design.module.css";
import { labelOf } from "./model/labels";
import { type Container, containersOf, type Node, parentOf, type Tree } from "./model/tree";
import { branchName, nameOf } from "./names";

const words = catalogue("design.outline", {
	label: "Structure of the email",
	empty: "The email is empty. Add something from the list.",
});

type Row = { node: Node; level: number; branch: string; name: string; label: string };

/** rowsOf returns the nodes of a tree that are shown, each with its depth and the branch of a condition that begins with it. */
function rowsOf(tree: Tree, body: Container): Row[] {
	const rows: Row[] = [];
	const add = (node: Node, level: number, branch: string) => {
		const label = node.kind === "condition" ? "" : labelOf(tree, node);
		rows.push({ node, level, branch, name: nameOf(node), label });
		for (const [n, inner] of containersOf(node).entries())
			addAll(inner, level + 1, inner.kind === "branch" && n > 0 ? branchName(inner) : "");
	};
	const addAll = (container: Container, level: number, branch: string) => {
		for (const [i, node] of container.children.entries()) add(node, level, i === 0 ? branch : "");
	};
	if (body.kind === "element") add(body, 1, "");
	else addAll(body, 1, "");
	return rows;
}

type LineProps = Omit<Row, "node"> & { index: number; isSelected: boolean; isCurrent: boolean };

/** Line is a row as it is shown. It is the same one while the words in it are, of which a long mail has many. */
const Line = memo(function Line({ index, level, branch, name, label, isSelected, isCurrent }: LineProps) {
	return (
		<div
			role="treeitem"
			aria-level={level}
			aria-selected={isSelected}
			tabIndex={isCurrent ? 0 : -1}
			data-row={index}
			className={css.row}
			style={{ paddingInlineStart: level * 12 - 4 }}
		>
			{branch && <small>{branch} </small>}
			<b>{name}</b> {label && <span>{label}</span>}
		</div>
	);
});

/** rowAt returns the index of the row that an event is about. */
const rowAt = (target: EventTarget) => {
	const row = target instanceof HTMLElement ? target.closest<HTMLElement>("[data-row]") : null;
	return row ? Number(row.dataset.row) : -1;
};

type Props = {
	tree: Tree;
	body: Container;
	selected: Node | null;
	onSelect: (node: Node) => void;
	/** A key that the outline itself does nothing on. */
	onKey: (event: KeyboardEvent, node: Node) => void;
	/** Counts up when the selected row is to take the focus. */
	focus: number;
};

/** Outline is the tree of what a mail is made of. */
export function Outline({ tree, body, selected, onSelect, onKey, focus }: Props) {
	const list = useRef<HTMLDivElement>(null);
	const rows = useMemo(() => rowsOf(tree, body), [tree, body]);
	const current = Math.max(
		0,
		rows.findIndex((row) => row.node === selected),
	);
	const focused = useRef(focus);
	const isIn = useRef(false); // a row that is taken away takes the focus with it, and says nothing
	useLayoutEffect(() => {
		const row = list.current?.querySelector<HTMLElement>(`[data-row="${current}"]`);
		const asked = focused.current !== focus;
		focused.current = focus;
		const lost = isIn.current && document.activeElement === document.body;
		if (!row || !(asked || lost || list.current?.contains(document.activeElement))) return;
		row.focus({ preventScroll: true });
		row.scrollIntoView({ block: "nearest" });
	}, [current, focus]);
	const press = (event: KeyboardEvent, index: number) => {
		const row = rows[index];
		if (!row) return;
		const plain = !event.altKey && !event.ctrlKey && !event.metaKey;
		const parent = parentOf(row.node);
		const to: { [key: string]: Node | null | undefined } = {
			ArrowDown: rows[index + 1]?.node,
			ArrowUp: rows[index - 1]?.node,
			ArrowRight: containersOf(row.node).find((inner) => inner.children.length > 0)?.children[0],
			ArrowLeft: rows.some((other) => other.node === parent) ? parent : null,
			Home: rows[0]?.node,
			End: rows.at(-1)?.node,
		};
		if (!plain || !(event.key in to)) return onKey(event, row.node);
		event.preventDefault();
		const node = to[event.key];
		if (node) onSelect(node);
	};
	if (rows.length === 0) return <p className={css.hint}>{words.empty}</p>;
	return (
		<div
			ref={list}
			role="tree"
			aria-label={words.label}
			className={css.tree}
			onFocus={() => {
				isIn.current = true;
			}}
			onBlur={() => {
				isIn.current = false;
			}}
			onClick={({ target }) => {
				const row = rows[rowAt(target)];
				if (row) onSelect(row.node);
			}}
			onKeyDown={(event) => press(event, rowAt(event.target))}
		>
			{rows.map(({ node, ...row }, i) => (
				<Line key={i} {...row} index={i} isSelected={node === selected} isCurrent={i === current} />
			))}
		</div>
	);
}
