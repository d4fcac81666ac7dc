import { ArrowDown, ArrowUp, Copy, FolderPlus, GripVertical, Trash2 } from "lucide-react";
import { createContext, type KeyboardEvent, type PointerEvent, useContext } from "react";
import { catalogue } from "../../base/words/catalogue";
import { Menu } from "../../ui/Menu";
import css from "./Builder.module.css";
import { canMove, conditionAt, type Group, isGroup } from "./groups";
import type { Leaf } from "./leaves";

const words = catalogue("rules.moves", {
	remove: "Remove",
	removeGroup: "Remove group",
	duplicate: "Duplicate",
	wrap: "Wrap in a group",
	up: "Move up",
	down: "Move down",
	move: "Move {name}",
	moveHelp: "Drag, or press Alt with an arrow key: up, down, or right for a new group.",
});

/** Where a condition that is dragged would go: before a place, with how that is shown. */
export type Drop = { to: number[]; path: number[]; edge: "before" | "after" | "inside" };

/** Moves is what moves conditions: by keys, or by dragging. */
export type Moves = {
	step: (path: number[], direction: 1 | -1) => boolean;
	wrap: (path: number[]) => void;
	remove: (path: number[]) => void;
	duplicate: (path: number[]) => void;
	startDrag: (path: number[], event: PointerEvent<HTMLElement>) => void;
	dragged: number[] | null;
	drop: Drop | null;
	warning: (path: number[], leaf: Leaf) => string | undefined;
	/** Notes that the condition at a path is about to be added, and whether it is one that was. */
	noteAdded: (path: number[]) => void;
	isAdded: (path: number[]) => boolean;
};
export const Moving = createContext<Moves | null>(null);

export const pathKey = (path: number[]) => path.join(".");

/** dropAt returns where a condition would go that is let go at a point of the page. */
export function dropAt(root: Group, from: number[], x: number, y: number): Drop | null {
	const hovered = document.elementsFromPoint(x, y).find((element) => element.closest("[data-path]"));
	const item = hovered?.closest<HTMLElement>("[data-path]");
	if (!item) return null;
	const path = (item.dataset.path ?? "").split(".").filter(Boolean).map(Number);
	const condition = conditionAt(root, path);
	const box = item.getBoundingClientRect();
	const inUpperHalf = y < box.top + box.height / 2;
	let drop: Drop;
	if (condition && isGroup(condition) && (path.length === 0 || (y > box.top + 12 && y < box.bottom - 12)))
		drop = inUpperHalf
			? { to: [...path, 0], path, edge: "inside" }
			: { to: [...path, condition.conditions.length], path, edge: "inside" };
	else
		drop = inUpperHalf
			? { to: path, path, edge: "before" }
			: { to: [...path.slice(0, -1), (path.at(-1) ?? 0) + 1], path, edge: "after" };
	return canMove(root, from, drop.to) ? drop : null;
}

/** placeOf returns the attributes that a condition at a path is found by, and that show how it is dragged. */
export const placeOf = (moves: Moves | null, path: number[]) => ({
	"data-path": pathKey(path),
	"data-drop": moves?.drop && pathKey(moves.drop.path) === pathKey(path) ? moves.drop.edge : undefined,
	"data-dragged": (moves?.dragged && pathKey(moves.dragged) === pathKey(path)) || undefined,
});

/** Handle is what a condition is dragged by. */
export function Handle({ path, name }: { path: number[]; name: string }) {
	const moves = useContext(Moving);
	return (
		<button
			type="button"
			className={css.handle}
			aria-label={words.move({ name })}
			title={words.moveHelp}
			onPointerDown={(e) => moves?.startDrag(path, e)}
		>
			<GripVertical aria-hidden size={16} />
		</button>
	);
}

/** keysOf moves the condition at a path by Alt and an arrow. */
export function keysOf(moves: Moves | null, path: number[], canWrap: boolean) {
	return (event: KeyboardEvent) => {
		if (!event.altKey || !moves) return;
		if (event.key === "ArrowUp") moves.step(path, -1);
		else if (event.key === "ArrowDown") moves.step(path, 1);
		else if (event.key === "ArrowRight" && canWrap) moves.wrap(path);
		else return;
		event.preventDefault();
		event.stopPropagation();
	};
}

/** ConditionMenu lists what can be done with the condition at a path. */
export function ConditionMenu({
	path,
	isLast,
	canWrap,
	isOfGroup,
}: {
	path: number[];
	isLast: boolean;
	canWrap: boolean;
	isOfGroup?: boolean;
}) {
	const moves = useContext(Moving);
	return (
		<Menu
			small
			actions={[
				(path.length > 1 || path[0] !== 0) && {
					id: "up",
					label: words.up,
					icon: <ArrowUp aria-hidden />,
					run: () => void moves?.step(path, -1),
				},
				(path.length > 1 || !isLast) && {
					id: "down",
					label: words.down,
					icon: <ArrowDown aria-hidden />,
					run: () => void moves?.step(path, 1),
				},
				{ id: "copy", label: words.duplicate, icon: <Copy aria-hidden />, run: () => moves?.duplicate(path) },
				canWrap && { id: "wrap", label: words.wrap, icon: <FolderPlus aria-hidden />, run: () => moves?.wrap(path) },
				{
					id: "remove",
					label: isOfGroup ? words.removeGroup : words.remove,
					icon: <Trash2 aria-hidden />,
					danger: true,
					run: () => moves?.remove(path),
				},
			]}
		/>
	);
}
