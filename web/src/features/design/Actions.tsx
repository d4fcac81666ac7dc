import { ArrowDown, ArrowUp, Copy, CornerLeftUp, Trash2 } from "lucide-react";
import type { PointerEvent } from "react";
import { catalogue } from "../../base/words/catalogue";
import { IconButton } from "../../ui/Button";
import { Grip } from "../../ui/Grip";
import css from "./Design.module.css";
import { isFixed } from "./model/acts";
import type { Node } from "./model/tree";

const words = catalogue("design.actions", {
	label: "What can be done with it",
	parent: "Select what is around it",
	up: "Move up",
	down: "Move down",
	duplicate: "Duplicate",
	remove: "Delete",
});

type Run = { [name in "parent" | "up" | "down" | "duplicate" | "remove"]: (node: Node) => void };

type Props = {
	node: Node;
	/** What is around it, if that is shown. */
	parent: Node | null;
	readOnly: boolean;
	run: Run;
	/** A press of the handle, with which dragging begins. */
	onDrag?: (event: PointerEvent<HTMLElement>) => void;
};

/** Actions are what can be done with a node. */
export function Actions({ node, parent, readOnly, run, onDrag }: Props) {
	const fixed = readOnly || isFixed(node);
	return (
		<div role="toolbar" aria-label={words.label} className={css.actions}>
			{onDrag && !fixed && <Grip onPointerDown={onDrag} />}
			{parent && (
				<IconButton
					label={words.parent}
					small
					icon={<CornerLeftUp aria-hidden size={16} />}
					onClick={() => run.parent(node)}
				/>
			)}
			{!fixed && (
				<>
					<IconButton label={words.up} small icon={<ArrowUp aria-hidden size={16} />} onClick={() => run.up(node)} />
					<IconButton
						label={words.down}
						small
						icon={<ArrowDown aria-hidden size={16} />}
						onClick={() => run.down(node)}
					/>
					<IconButton
						label={words.duplicate}
						small
						icon={<Copy aria-hidden size={16} />}
						onClick={() => run.duplicate(node)}
					/>
					<IconButton
						label={words.remove}
						small
						icon={<Trash2 aria-hidden size={16} />}
						onClick={() => run.remove(node)}
					/>
				</>
			)}
		</div>
	);
}
