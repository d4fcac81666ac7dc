import { ArrowDown, ArrowUp, Copy, Trash2 } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import { catalogue } from "../base/words/catalogue";
import { IconButton } from "./Button";
import css from "./Cards.module.css";
import { useSorting } from "./drag";
import field from "./Field.module.css";
import { Grip } from "./Grip";
import { toast } from "./Toast";

const words = catalogue("shell.cards", {
	duplicate: "Duplicate",
	remove: "Remove",
	removed: "{title} removed",
	up: "Move up",
	down: "Move down",
	first: "This is already the first one.",
	last: "This is already the last one.",
	moved: "{title} moved to position {to}",
});

type Props<T> = {
	items: T[];
	onChange: (items: T[]) => void;
	title: (item: T, index: number) => string;
	children: (item: T, index: number) => ReactNode;
	/** Makes the copy of an item; copies cannot be made without it. */
	copy?: (item: T) => T;
	/** Why there can be no more. */
	limitReached?: string;
	/** What of an item stands beside its title. */
	detail?: (item: T) => ReactNode;
	/** The cards are open at first. */
	open?: boolean;
	readOnly?: boolean;
};

let nextId = 0;

/** Cards is a list of what has parts of its own: cards that are opened, moved (by buttons, Alt and arrows, or dragging), copied and removed. */
export function Cards<T>({ items, onChange, title, children, copy, limitReached, detail, open, readOnly }: Props<T>) {
	const [announcement, setAnnouncement] = useState("");
	const list = useRef<HTMLOListElement>(null);
	// Items have no names of their own: each gets one here, which moves with it, so that its fields keep the focus.
	const ids = useRef<number[]>([]);
	while (ids.current.length < items.length) ids.current.push(++nextId);
	ids.current.length = items.length;
	const latest = useRef(items);
	latest.current = items;

	const update = (next: T[], nextIds: number[]) => {
		ids.current = nextIds;
		onChange(next);
	};
	const focus = (i: number) =>
		requestAnimationFrame(() => list.current?.children[i]?.querySelector<HTMLElement>("summary")?.focus());
	const move = (from: number, to: number, refocus = true) => {
		const id = ids.current[from];
		if (to < 0 || to >= items.length || id === undefined || from === to) return;
		const item = items[from] as T;
		const next = items.filter((_, i) => i !== from);
		const nextIds = ids.current.filter((_, i) => i !== from);
		next.splice(to, 0, item);
		nextIds.splice(to, 0, id);
		update(next, nextIds);
		setAnnouncement(words.moved({ title: title(item, from), to: to + 1 }));
		if (refocus) focus(to);
	};
	const sorting = useSorting((from, to) => move(from, to, false));
	const duplicate = (i: number) => {
		const item = items[i] as T;
		update(
			[...items.slice(0, i + 1), copy ? copy(item) : item, ...items.slice(i + 1)],
			[...ids.current.slice(0, i + 1), ++nextId, ...ids.current.slice(i + 1)],
		);
		focus(i + 1);
	};
	const remove = (i: number) => {
		const item = items[i] as T;
		const id = ids.current[i] ?? ++nextId;
		const name = title(item, i);
		update(
			items.filter((_, index) => index !== i),
			ids.current.filter((_, index) => index !== i),
		);
		focus(Math.min(i, items.length - 2));
		toast(words.removed({ title: name }), {
			undo: () => {
				const now = latest.current;
				update([...now.slice(0, i), item, ...now.slice(i)], [...ids.current.slice(0, i), id, ...ids.current.slice(i)]);
			},
		});
	};
	const keys = (event: KeyboardEvent, i: number) => {
		if (readOnly || !event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
		event.preventDefault();
		event.stopPropagation();
		move(i, event.key === "ArrowUp" ? i - 1 : i + 1);
	};
	return (
		<>
			<p className="visually-hidden" role="status">
				{announcement}
			</p>
			<ol ref={list} className={css.cards}>
				{items.map((item, i) => (
					<li key={ids.current[i]} className={css.card} {...sorting.item(i)} onKeyDown={(e) => keys(e, i)}>
						<details open={open}>
							<summary>
								{title(item, i)} {detail && <span className={css.detail}>{detail(item)}</span>}
							</summary>
							<div className={`${css.fields} ${field.aligned}`}>{children(item, i)}</div>
						</details>
						{!readOnly && (
							<div className={css.tools}>
								<Grip {...sorting.handle(i)} />
								<IconButton
									small
									label={words.up}
									icon={<ArrowUp aria-hidden />}
									disabledReason={i === 0 ? words.first : undefined}
									onClick={() => move(i, i - 1)}
								/>
								<IconButton
									small
									label={words.down}
									icon={<ArrowDown aria-hidden />}
									disabledReason={i === items.length - 1 ? words.last : undefined}
									onClick={() => move(i, i + 1)}
								/>
								{copy && (
									<IconButton
										small
										label={words.duplicate}
										icon={<Copy aria-hidden />}
										disabledReason={limitReached}
										onClick={() => duplicate(i)}
									/>
								)}
								<IconButton small label={words.remove} icon={<Trash2 aria-hidden />} onClick={() => remove(i)} />
							</div>
						)}
					</li>
				))}
			</ol>
		</>
	);
}
