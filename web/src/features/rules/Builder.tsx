import { ArrowDown, ArrowUp, Copy, FolderPlus, GripVertical, Plus, Trash2 } from "lucide-react";
import {
	createContext,
	type KeyboardEvent,
	type PointerEvent,
	useContext,
	useLayoutEffect,
	useRef,
	useState,
} from "react";
import { Button } from "../../ui/Button";
import { follow as followPointer } from "../../ui/drag";
import { Select, TextArea } from "../../ui/Field";
import { Menu } from "../../ui/Menu";
import { catalogue } from "../../base/words/catalogue";
import css from "./Builder.module.css";
import type { FieldInfo } from "./fields";
import { useRuleFields } from "./useFields";
import { LeafEditor } from "./LeafEditor";
import { StartEvent } from "./startEvent";
import {
	type Condition,
	conditionAt,
	deepest,
	canMove,
	type Group,
	heightOf,
	insertAt,
	isGroup,
	moveTo,
	pathOf,
	pathText,
	replaceAt,
	stepTo,
} from "./groups";
import { isNegative, type Kind, type Leaf, leafWords, newLeaf } from "./leaves";
import { useTouched } from "../../ui/errorVisibility";

const words = catalogue("rules.builder", {
	all: "all of these",
	any: "any of these",
	logic: "Match",
	not: "none",
	negate: "but not",
	is: "Contacts who match",
	isNot: "Contacts who do not match",
	add: "Add condition",
	group: "Add group",
	remove: "Remove",
	removeGroup: "Remove group",
	duplicate: "Duplicate",
	wrap: "Wrap in a group",
	up: "Move up",
	down: "Move down",
	json: "JSON",
	builder: "Builder",
	bad: "This is not a valid group of conditions yet.",
	condition: "Condition {number}",
	groupName: "Group {number}",
	move: "Move {name}",
	moveHelp: "Drag, or press Alt with an arrow key: up, down, or right for a new group.",
	gone: "This refers to something that was deleted, so it matches nobody.",
	goneAll: "This refers to something that was deleted, so it matches everybody.",
	goneOne: "This refers to something that was deleted. The others still count.",
});

/** Problem is what is wrong at a path: as it stands there, and with the condition that it is in. */
type Problem = { path: string; message: string; fullMessage: string };

/** Fault is a problem that the server found in a rule, and further ones that it found at once. */
export type Fault = Problem & { others?: Problem[] };

/** messageAt returns the problem at a path that passes a test. */
function messageAt(fault: Fault | null | undefined, matches: (path: string) => boolean): string | undefined {
	return fault
		? [fault, ...(fault.others ?? [])].find((problem) => matches(problem.path.replace(/^definition\.?/, "")))?.message
		: undefined;
}

type Props = {
	value: Group;
	onChange: (group: Group) => void;
	/** A problem of the server with its path. */
	fault?: Fault | null;
	/** References to records that do not exist any more. */
	warnings?: { path: string }[];
};

/** Where a condition that is dragged would go: before a place, with how that is shown. */
type Drop = { to: number[]; path: number[]; edge: "before" | "after" | "inside" };

/** Moves is what moves conditions: by keys, or by dragging. */
type Moves = {
	move: (from: number[], to: number[]) => void;
	step: (path: number[], direction: 1 | -1) => boolean;
	wrap: (path: number[]) => void;
	remove: (path: number[]) => void;
	startDrag: (path: number[], event: PointerEvent<HTMLElement>) => void;
	dragged: number[] | null;
	drop: Drop | null;
	warning: (path: number[], leaf: Leaf) => string | undefined;
};
const Moving = createContext<Moves | null>(null);

const pathKey = (path: number[]) => path.join(".");

/** dropAt returns where a condition would go that is let go at a point of the page. */
function dropAt(root: Group, from: number[], x: number, y: number): Drop | null {
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

/** Builder edits a rule: groups of conditions, as sentences or as JSON. */
export function Builder({ value, onChange, fault, warnings = [] }: Props) {
	const fields = useRuleFields();
	const [text, setText] = useState<string | null>(null);
	const [isInvalid, setIsInvalid] = useState(false);
	const [drag, setDrag] = useState<{ from: number[]; drop: Drop | null } | null>(null);
	const all = useRef<HTMLDivElement>(null);
	// The control of a condition that has the focus keeps it when the condition moves.
	const follow = useRef<{ path: number[]; control: number } | null>(null);
	useLayoutEffect(() => {
		const to = follow.current;
		follow.current = null;
		if (!to) return;
		const controls = controlsOf(all.current, to.path);
		(controls[to.control] ?? controls.at(-1))?.focus();
	});
	const move = (from: number[], to: number[]) => {
		if (!canMove(value, from, to)) return;
		const moved = moveTo(value, from, to);
		follow.current = {
			path: moved.path,
			control: Math.max(0, controlsOf(all.current, from).indexOf(document.activeElement as HTMLElement)),
		};
		onChange(moved.group);
	};
	const moves: Moves = {
		move,
		step: (path, direction) => {
			const to = stepTo(value, path, direction);
			if (to) move(path, to);
			return to !== null;
		},
		wrap: (path) => {
			const condition = conditionAt(value, path);
			if (!condition) return;
			const control = controlsOf(all.current, path).indexOf(document.activeElement as HTMLElement);
			follow.current = { path: [...path, 0], control: Math.max(0, control) };
			onChange(replaceAt(value, path, { logic: "and", conditions: [condition] }));
		},
		remove: (path) => {
			const [parentPath, index] = [path.slice(0, -1), path.at(-1) ?? 0];
			const group = conditionAt(value, parentPath);
			const remaining = group && isGroup(group) ? group.conditions.length - 1 : 0;
			// The condition that takes its place has the focus then, or the one before it, or the buttons of the group.
			follow.current =
				remaining > 0
					? { path: [...parentPath, Math.min(index, remaining - 1)], control: 0 }
					: { path: parentPath, control: Number.POSITIVE_INFINITY };
			onChange(replaceAt(value, path, null));
		},
		startDrag: (from, event) => {
			if (event.button !== 0) return;
			let drop: Drop | null = null;
			event.currentTarget.focus();
			followPointer(
				event,
				(x, y) => {
					drop = dropAt(value, from, x, y);
					setDrag({ from, drop });
				},
				(dropped) => {
					setDrag(null);
					if (dropped && drop) move(from, drop.to);
				},
			);
		},
		dragged: drag?.from ?? null,
		drop: drag?.drop ?? null,
		warning: (path, leaf) => {
			const match = warnings.find((warning) => pathKey(pathOf(warning.path)) === pathKey(path));
			if (!match) return undefined;
			if (
				/\[\d+\]$/.test(match.path.slice(pathText(path).length)) &&
				(leaf.segment_keys ?? leaf.email_type_keys ?? []).length > 1
			)
				return words.goneOne;
			return isNegative(leaf) ? words.goneAll : words.gone;
		},
	};
	return (
		<div className={css.builder} ref={all}>
			<div className={css.top}>
				<Button small variant="quiet" onClick={() => setText(text === null ? JSON.stringify(value, null, 2) : null)}>
					{text === null ? words.json : words.builder}
				</Button>
			</div>
			{text === null ? (
				<Moving value={moves}>
					<GroupEditor group={value} path={[]} root={value} fields={fields} onChange={onChange} fault={fault} />
				</Moving>
			) : (
				<TextArea
					code
					rows={16}
					label={words.json}
					hideLabel
					value={text}
					error={
						isInvalid
							? words.bad
							: fault
								? [fault, ...(fault.others ?? [])].map((problem) => problem.fullMessage).join(" ")
								: undefined
					}
					onChange={(value) => {
						setText(value);
						try {
							const next = JSON.parse(value) as Group;
							if (!Array.isArray(next.conditions)) throw new Error();
							setIsInvalid(false);
							onChange(next);
						} catch {
							setIsInvalid(true);
						}
					}}
				/>
			)}
		</div>
	);
}

/** controlsOf returns what can have the focus in the condition at a path. */
function controlsOf(all: HTMLElement | null, path: number[]): HTMLElement[] {
	const item = all?.querySelector<HTMLElement>(`[data-path="${pathKey(path)}"]`);
	return item ? [...item.querySelectorAll<HTMLElement>("button, input, select, textarea")] : [];
}

/** Handle is what a condition is dragged by. */
function Handle({ path, name }: { path: number[]; name: string }) {
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
function keysOf(moves: Moves | null, path: number[], wrap: (() => void) | null) {
	return (event: KeyboardEvent) => {
		if (!event.altKey || !moves) return;
		if (event.key === "ArrowUp") moves.step(path, -1);
		else if (event.key === "ArrowDown") moves.step(path, 1);
		else if (event.key === "ArrowRight" && wrap) wrap();
		else return;
		event.preventDefault();
		event.stopPropagation();
	};
}

type Inner = {
	group: Group;
	path: number[];
	root: Group;
	fields: FieldInfo[];
	onChange: (group: Group) => void;
	fault?: Fault | null;
};

function GroupEditor({ group, path, root, fields, onChange, fault }: Inner) {
	const set = (next: Group) => onChange(path.length === 0 ? next : replaceAt(root, path, next));
	const add = (kind: Kind) => set({ ...group, conditions: [...group.conditions, newLeaf(kind, fields)] });
	const ofEvents = useContext(StartEvent) !== null;
	const kinds = (Object.entries(leafWords.kinds) as [Kind, string][]).filter(
		([kind]) => ofEvents || kind !== "trigger_event",
	);
	const ownPath = pathText(path);
	const faultText = messageAt(
		fault,
		(path) =>
			[ownPath, `${ownPath}.conditions`, `${ownPath}.logic`, `${ownPath}.negate`].includes(path) ||
			(ownPath === "" && path === "conditions"),
	);
	const moves = useContext(Moving);
	const name = path.length === 0 ? words.is : words.groupName({ number: (path.at(-1) ?? 0) + 1 });
	const top = path.length === 0;
	const siblings = conditionAt(root, path.slice(0, -1));
	const last = siblings && isGroup(siblings) ? (path.at(-1) ?? 0) === siblings.conditions.length - 1 : true;
	const wrap = !top && path.length + heightOf(group) < deepest ? () => moves?.wrap(path) : null;
	return (
		<fieldset
			className={css.group}
			data-depth={path.length}
			data-path={pathKey(path)}
			data-drop={moves?.drop && pathKey(moves.drop.path) === pathKey(path) ? moves.drop.edge : undefined}
			data-dragged={(!top && moves?.dragged && pathKey(moves.dragged) === pathKey(path)) || undefined}
			onKeyDown={top ? undefined : keysOf(moves, path, wrap)}
		>
			<legend className="visually-hidden">{name}</legend>
			<div className={css.head}>
				{!top && <Handle path={path} name={name} />}
				<Select
					label={words.is}
					hideLabel
					value={group.negate ? "not" : "is"}
					onChange={(value) => set({ ...group, negate: value === "not" || undefined })}
					choices={[
						{ value: "is", label: words.is },
						{ value: "not", label: words.isNot },
					]}
				/>
				<Select
					label={words.logic}
					hideLabel
					value={group.logic}
					onChange={(logic) => set({ ...group, logic: logic as "and" | "or" })}
					choices={[
						{ value: "and", label: words.all },
						{ value: "or", label: words.any },
					]}
				/>
				{!top && (
					<Menu
						small
						actions={[
							(path.length > 1 || path[0] !== 0) && {
								id: "up",
								label: words.up,
								icon: <ArrowUp aria-hidden />,
								run: () => void moves?.step(path, -1),
							},
							(path.length > 1 || !last) && {
								id: "down",
								label: words.down,
								icon: <ArrowDown aria-hidden />,
								run: () => void moves?.step(path, 1),
							},
							{
								id: "copy",
								label: words.duplicate,
								icon: <Copy aria-hidden />,
								run: () => onChange(insertAt(root, path, group)),
							},
							wrap && { id: "wrap", label: words.wrap, icon: <FolderPlus aria-hidden />, run: wrap },
							{
								id: "remove",
								label: words.removeGroup,
								icon: <Trash2 aria-hidden />,
								danger: true,
								run: () => moves?.remove(path),
							},
						]}
					/>
				)}
			</div>
			{faultText && (
				<p role="alert" className={css.fault}>
					{faultText}
				</p>
			)}
			<ol className={css.conditions}>
				{group.conditions.map((condition, i) => (
					<li key={`${i}-${isGroup(condition) ? "g" : "l"}`}>
						{isGroup(condition) ? (
							<GroupEditor
								group={condition}
								path={[...path, i]}
								root={root}
								fields={fields}
								onChange={onChange}
								fault={fault}
							/>
						) : (
							<LeafRow
								leaf={condition}
								index={i}
								path={[...path, i]}
								last={i === group.conditions.length - 1}
								root={root}
								fields={fields}
								onChange={onChange}
								fault={fault}
							/>
						)}
					</li>
				))}
			</ol>
			<div className={css.head}>
				<Menu
					small
					start
					label={words.add}
					actions={kinds.map(([kind, name]) => ({ id: kind, label: name, run: () => add(kind) }))}
				>
					<Plus aria-hidden />
					{words.add}
				</Menu>
				{path.length < deepest - 1 && (
					<Button
						small
						variant="quiet"
						icon={<FolderPlus aria-hidden />}
						onClick={() =>
							set({
								...group,
								conditions: [
									...group.conditions,
									{ logic: group.logic === "and" ? "or" : "and", conditions: [newLeaf("field", fields)] },
								],
							})
						}
					>
						{words.group}
					</Button>
				)}
			</div>
		</fieldset>
	);
}

type Row = {
	leaf: Leaf;
	index: number;
	path: number[];
	last: boolean;
	root: Group;
	fields: FieldInfo[];
	onChange: (group: Group) => void;
	fault?: Fault | null;
};

function LeafRow({ leaf, index, path, last, root, fields, onChange, fault }: Row) {
	const moves = useContext(Moving);
	const name = words.condition({ number: index + 1 });
	const replaceCondition = (condition: Condition) => onChange(replaceAt(root, path, condition));
	const ownPath = pathText(path);
	const row = useRef<HTMLFieldSetElement>(null);
	const touched = useTouched(row);
	const errorAt = (start: string) => (touched ? messageAt(fault, (path) => path.startsWith(start)) : undefined);
	const faultText = errorAt(ownPath);
	const warning = moves?.warning(path, leaf);
	const wrap = path.length < deepest ? () => moves?.wrap(path) : null;
	return (
		<fieldset
			ref={row}
			aria-label={name}
			className={css.leaf}
			data-path={pathKey(path)}
			data-bad={faultText ? true : undefined}
			data-drop={moves?.drop && pathKey(moves.drop.path) === pathKey(path) ? moves.drop.edge : undefined}
			data-dragged={(moves?.dragged && pathKey(moves.dragged) === pathKey(path)) || undefined}
			onKeyDown={keysOf(moves, path, wrap)}
		>
			<Handle path={path} name={name} />
			<div className={css.editor}>
				<LeafEditor
					leaf={leaf}
					fields={fields}
					onChange={replaceCondition}
					error={faultText}
					errorOf={(part) => errorAt(`${ownPath}.${part}`)}
				/>
				{warning && <p className={css.warning}>{warning}</p>}
			</div>
			<Menu
				small
				actions={[
					(path.length > 1 || index > 0) && {
						id: "up",
						label: words.up,
						icon: <ArrowUp aria-hidden />,
						run: () => void moves?.step(path, -1),
					},
					(path.length > 1 || !last) && {
						id: "down",
						label: words.down,
						icon: <ArrowDown aria-hidden />,
						run: () => void moves?.step(path, 1),
					},
					{
						id: "copy",
						label: words.duplicate,
						icon: <Copy aria-hidden />,
						run: () => onChange(insertAt(root, path, leaf)),
					},
					wrap && { id: "wrap", label: words.wrap, icon: <FolderPlus aria-hidden />, run: wrap },
					{
						id: "remove",
						label: words.remove,
						icon: <Trash2 aria-hidden />,
						danger: true,
						run: () => moves?.remove(path),
					},
				]}
			/>
		</fieldset>
	);
}
