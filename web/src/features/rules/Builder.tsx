import { useLayoutEffect, useRef, useState } from "react";
import { catalogue } from "../../base/words/catalogue";
import { Button } from "../../ui/Button";
import { follow as followPointer } from "../../ui/drag";
import { TextArea } from "../../ui/Field";
import css from "./Builder.module.css";
import { type Fault, problemsOf } from "./faults";
import { GroupEditor } from "./GroupEditor";
import {
	canMove,
	conditionAt,
	type Group,
	insertAt,
	isGroup,
	isRule,
	moveTo,
	pathOf,
	pathText,
	replaceAt,
	stepTo,
} from "./groups";
import { isNegative } from "./leaves";
import { type Drop, dropAt, Moving, type Moves, pathKey } from "./moves";
import { useRuleFields } from "./useFields";

export type { Fault } from "./faults";

const words = catalogue("rules.builder", {
	json: "JSON",
	builder: "Builder",
	bad: "This is not a valid group of conditions yet.",
	gone: "This refers to something that was deleted, so it matches nobody.",
	goneAll: "This refers to something that was deleted, so it matches everybody.",
	goneOne: "This refers to something that was deleted. The others still count.",
});

type Props = {
	value: Group;
	onChange: (group: Group) => void;
	/** A problem of the server with its path. */
	fault?: Fault | null;
	/** References to records that do not exist any more. */
	warnings?: { path: string }[];
};

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
	// The condition that is being added: it is drawn with the next render, and opens what has to be chosen.
	const added = useRef<string | null>(null);
	useLayoutEffect(() => {
		added.current = null;
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
		duplicate: (path) => {
			const condition = conditionAt(value, path);
			if (condition) onChange(insertAt(value, path, condition));
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
		noteAdded: (path) => {
			added.current = pathKey(path);
		},
		isAdded: (path) => added.current === pathKey(path),
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
			<div className={css.top} data-alone={text !== null || undefined}>
				<Button
					small
					variant="quiet"
					onClick={() => {
						setIsInvalid(false);
						setText(text === null ? JSON.stringify(value, null, 2) : null);
					}}
				>
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
								? problemsOf(fault)
										.map((problem) => problem.fullMessage)
										.join(" ")
								: undefined
					}
					onChange={(value) => {
						setText(value);
						const next = read(value);
						setIsInvalid(!isRule(next));
						if (isRule(next)) onChange(next);
					}}
				/>
			)}
		</div>
	);
}

/** read reads JSON; undefined if it is none. */
function read(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** controlsOf returns what can have the focus in the condition at a path. */
function controlsOf(all: HTMLElement | null, path: number[]): HTMLElement[] {
	const item = all?.querySelector<HTMLElement>(`[data-path="${pathKey(path)}"]`);
	return item ? [...item.querySelectorAll<HTMLElement>("button, input, select, textarea")] : [];
}
