import { type KeyboardEvent, useLayoutEffect, useRef } from "react";
import { catalogue } from "../../base/words/catalogue";
import css from "./Design.module.css";
import { labelOf } from "./model/labels";
import { type Container, containersOf, type Node, parentOf, type Tree } from "./model/tree";
import { branchName, nameOf } from "./names";

const words = catalogue("design.outline", {
	label: "Structure of the email",
	empty: "The email is empty. Add something from the list.",
});

type Row = { node: Node; level: number; branch: string };

/** rowsOf returns the nodes of a container, each with its depth and the branch of a condition that begins with it. */
function rowsOf(container: Container, level: number, branch = ""): Row[] {
	return container.children.flatMap((node, i) => [
		{ node, level, branch: i === 0 ? branch : "" },
		...containersOf(node).flatMap((inner, n) =>
			rowsOf(inner, level + 1, inner.kind === "branch" && n > 0 ? branchName(inner) : ""),
		),
	]);
}

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
	const rows = body.kind === "element" ? [{ node: body, level: 1, branch: "" }, ...rowsOf(body, 2)] : rowsOf(body, 1);
	const current = Math.max(
		0,
		rows.findIndex((row) => row.node === selected),
	);
	const focused = useRef(focus);
	useLayoutEffect(() => {
		const row = list.current?.querySelector<HTMLElement>(`[data-row="${current}"]`);
		const asked = focused.current !== focus;
		focused.current = focus;
		if (!row || !(asked || list.current?.contains(document.activeElement))) return;
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
		<div ref={list} role="tree" aria-label={words.label} className={css.tree}>
			{rows.map(({ node, level, branch }, i) => (
				<div
					key={`${node.from} ${level}`}
					role="treeitem"
					aria-level={level}
					aria-selected={node === selected}
					tabIndex={i === current ? 0 : -1}
					data-row={i}
					className={css.row}
					style={{ paddingInlineStart: level * 12 - 4 }}
					onClick={() => onSelect(node)}
					onKeyDown={(event) => press(event, i)}
				>
					{branch && <small>{branch} </small>}
					<b>{nameOf(node)}</b> {node.kind !== "condition" && <span>{labelOf(tree, node)}</span>}
				</div>
			))}
		</div>
	);
}
