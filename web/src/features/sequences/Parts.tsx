import { AlertTriangle, Plus, Zap } from "lucide-react";
import type { SequenceNodeReport } from "../../api/schema";
import { Menu } from "../../ui/Menu";
import { catalogue } from "../../base/words/catalogue";
import css from "./Flow.module.css";
import { issuesOf, shownDetail, spoken, type View } from "./flowView";
import type { Place, Step } from "./graph";
import { stepOf } from "./graph";
import { iconOf } from "./stepIcons";
import { kindOf, labelOf, problemWords, titleOf } from "./steps";

const words = catalogue("sequences.parts", {
	addFirst: "Add first step",
	addAtStart: "Add step at the start",
	addAfter: "Add step after: {title}",
	addOn: "Add step after: {title}, on path: {label}",
	edit: "Edit",
	see: "View",
	after: "Add step after",
	copy: "Copy",
	paste: "Paste after",
	remove: "Delete",
	actions: "Actions of: {title}",
	entered: "{count, plural, one {# entered} other {# entered}}",
	here: "{count, plural, one {# is here} other {# are here}}",
	people: "{here}: {title}",
	opened: "{count, number} opened",
	clicked: "{count, number} clicked",
	delivered: "{count, number} delivered",
	start: "Start",
});

/** StepButton is a step: what it does, and what is wrong with it. */
export function StepButton({ view: v, step: s }: { view: View; step: Step }) {
	const k = kindOf(s);
	const Icon = iconOf(k);
	const problems = issuesOf(v, s.id);
	const detail = shownDetail(v, s);
	return (
		<button
			type="button"
			data-step={s.id}
			className={css.step}
			data-group={k.group}
			data-bad={problems.length > 0 || undefined}
			data-selected={v.selected.has(s.id) || undefined}
			tabIndex={v.current === s.id ? 0 : -1}
			aria-label={spoken(v, s)}
			aria-description={
				problems
					.slice(1)
					.map((p) => problemWords(p.message))
					.join(". ") || undefined
			}
			onFocus={() => v.focus(s.id)}
			onClick={(e) => (e.shiftKey ? v.act(s.id, "select") : v.open(s.id))}
		>
			<span className={css.icon} aria-hidden>
				<Icon size={16} />
			</span>
			<span className={css.words}>
				<b>{titleOf(s, v.names, v.graph)}</b>
				{detail && (
					<>
						{" "}
						<small>{detail}</small>
					</>
				)}
			</span>
			{problems.length > 0 && (
				<span className={css.problem} aria-hidden>
					<AlertTriangle size={14} />
					{problems.length}
				</span>
			)}
		</button>
	);
}

/** StartButton is what starts the sequence. */
export function StartButton({ view: v }: { view: View }) {
	return (
		<button type="button" className={css.start} onClick={v.openTrigger}>
			<Zap aria-hidden size={16} />
			<span>
				<b>{words.start}</b>
				<small>{v.trigger}</small>
			</span>
		</button>
	);
}

/** Numbers are the counts beside a step. Those who are there now open the people. */
export function Numbers({ view: v, step: s }: { view: View; step: Step }) {
	const n: SequenceNodeReport | undefined = v.numbers?.get(s.id);
	if (!n || n.entered === 0) return null;
	return (
		<span className={css.numbers}>
			<span>{words.entered({ count: n.entered })}</span>
			{s.type === "send" && n.delivered > 0 && <span>{words.delivered({ count: n.delivered })}</span>}
			{s.type === "send" && n.opened > 0 && <span>{words.opened({ count: n.opened })}</span>}
			{s.type === "send" && n.clicked > 0 && <span>{words.clicked({ count: n.clicked })}</span>}
			{n.waiting > 0 && (
				<button
					type="button"
					className={css.here}
					aria-label={words.people({ here: words.here({ count: n.waiting }), title: titleOf(s, v.names, v.graph) })}
					onClick={() => v.openPeople(s.id)}
				>
					{words.here({ count: n.waiting })}
				</button>
			)}
		</span>
	);
}

/** StepMenuButton is the menu of a step. */
export function StepMenuButton({ view: v, step: s, clip }: { view: View; step: Step; clip: boolean }) {
	return (
		<Menu
			small
			label={words.actions({ title: titleOf(s, v.names, v.graph) })}
			actions={[
				{ id: "edit", label: v.editable ? words.edit : words.see, run: () => v.open(s.id) },
				v.editable &&
					s.type !== "exit" && {
						id: "after",
						label: words.after,
						run: () => requestAnimationFrame(() => v.act(s.id, "after")),
					},
				{ id: "copy", label: words.copy, run: () => v.act(s.id, "copy") },
				v.editable && clip && s.type !== "exit" && { id: "paste", label: words.paste, run: () => v.act(s.id, "paste") },
				v.editable && { id: "delete", label: words.remove, danger: true, run: () => v.act(s.id, "delete") },
			]}
		/>
	);
}

/** AddButton adds a step at a place. */
export function AddButton({ view: v, place, tab = true }: { view: View; place: Place; tab?: boolean }) {
	if (!v.editable) return null;
	const s = stepOf(v.graph, place.from);
	const label =
		place.from === null
			? v.graph.steps.length === 0
				? words.addFirst
				: words.addAtStart
			: !s
				? words.addFirst
				: place.label === null
					? words.addAfter({ title: titleOf(s, v.names, v.graph) })
					: words.addOn({ title: titleOf(s, v.names, v.graph), label: labelOf(s, place.label) });
	return (
		<button
			type="button"
			className={css.add}
			data-place={`${place.from ?? ""}:${place.label ?? ""}`}
			aria-label={label}
			title={label}
			tabIndex={tab ? undefined : -1}
			onClick={(e) => v.add(place, e.currentTarget)}
		>
			<Plus aria-hidden size={14} />
		</button>
	);
}
