import { AlertTriangle, Plus, Zap } from "lucide-react";
import type { SequenceNodeReport } from "../../api/schema";
import { Menu } from "../../ui/Menu";
import { catalogue } from "../../base/words/catalogue";
import css from "./Flow.module.css";
import { isOfStart, startNode } from "./draft";
import { issuesOf, shownDetail, screenReaderText, startText, type View } from "./flowView";
import type { Place, Step } from "./graph";
import { stepOf } from "./graph";
import { iconOf } from "./stepIcons";
import { edgeKey } from "./stepReasons";
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
	taken: "{count, plural, one {# person} other {# people}}",
	start: "Start",
});

/** StepButton is a step: what it does, and what is wrong with it. */
export function StepButton({ view, step }: { view: View; step: Step }) {
	const kind = kindOf(step);
	const Icon = iconOf(kind);
	const problems = issuesOf(view, step.id);
	const detail = shownDetail(view, step);
	return (
		<button
			type="button"
			data-step={step.id}
			className={css.step}
			data-group={kind.group}
			data-bad={problems.length > 0 || undefined}
			data-selected={view.selected.has(step.id) || undefined}
			data-passed={view.passed?.steps.has(step.id) || undefined}
			aria-current={view.opened === step.id || undefined}
			tabIndex={view.current === step.id ? 0 : -1}
			aria-label={screenReaderText(view, step)}
			aria-description={
				problems
					.slice(1)
					.map((problem) => problemWords(problem.message))
					.join(". ") || undefined
			}
			onFocus={() => view.focus(step.id)}
			onClick={(e) => (e.shiftKey ? view.act(step.id, "select") : view.open(step.id, e.detail === 0))}
		>
			<span className={css.icon} aria-hidden>
				<Icon size={16} />
			</span>
			<span className={css.words}>
				<b>{titleOf(step, view.names, view.graph)}</b>
				{detail && (
					<>
						{" "}
						<small>{detail}</small>
					</>
				)}
			</span>
			{problems.length > 0 && (
				<span className={css.problem} data-count={problems.length} aria-hidden>
					<AlertTriangle size={14} />
				</span>
			)}
		</button>
	);
}

/** StartButton is what starts the sequence. */
export function StartButton({ view }: { view: View }) {
	const problems = view.issues.filter(isOfStart).length;
	return (
		<button
			type="button"
			data-start
			className={css.start}
			data-tone={problems > 0 ? "danger" : view.warnings.length > 0 ? "warning" : undefined}
			aria-label={startText(view)}
			aria-current={view.opened === startNode || undefined}
			onClick={({ detail }) => view.openStart(detail === 0)}
		>
			<Zap aria-hidden size={16} />
			<span>
				<b>{words.start}</b> <small>{view.trigger}</small>
			</span>
			{(problems > 0 || view.warnings.length > 0) && <AlertTriangle aria-hidden size={14} />}
		</button>
	);
}

/** Numbers are the counts beside a step. Those who are there now open the people. */
export function Numbers({ view, step }: { view: View; step: Step }) {
	const counts: SequenceNodeReport | undefined = view.numbers?.get(step.id);
	if (!counts || counts.entered === 0) return null;
	return (
		<span className={css.numbers}>
			<span>{words.entered({ count: counts.entered })}</span>
			{step.type === "send" && counts.delivered > 0 && <span>{words.delivered({ count: counts.delivered })}</span>}
			{step.type === "send" && counts.opened > 0 && <span>{words.opened({ count: counts.opened })}</span>}
			{step.type === "send" && counts.clicked > 0 && <span>{words.clicked({ count: counts.clicked })}</span>}
			{counts.waiting > 0 && (
				<button
					type="button"
					className={css.here}
					aria-label={words.people({
						here: words.here({ count: counts.waiting }),
						title: titleOf(step, view.names, view.graph),
					})}
					onClick={() => view.openPeople(step.id)}
				>
					{words.here({ count: counts.waiting })}
				</button>
			)}
		</span>
	);
}

/** Taken is how many would have gone on from a place in the past. */
export function Taken({ view, place }: { view: View; place: Place }) {
	const count = view.taken?.get(edgeKey(place.from, place.label));
	return count === undefined ? null : <span className={css.taken}>{words.taken({ count })}</span>;
}

/** StepMenuButton is the menu of a step. */
export function StepMenuButton({ view, step, canPaste }: { view: View; step: Step; canPaste: boolean }) {
	return (
		<Menu
			small
			label={words.actions({ title: titleOf(step, view.names, view.graph) })}
			actions={[
				{ id: "edit", label: view.editable ? words.edit : words.see, run: () => view.open(step.id, true) },
				view.editable &&
					step.type !== "exit" && {
						id: "after",
						label: words.after,
						run: () => requestAnimationFrame(() => view.act(step.id, "after")),
					},
				{ id: "copy", label: words.copy, run: () => view.act(step.id, "copy") },
				view.editable &&
					canPaste &&
					step.type !== "exit" && { id: "paste", label: words.paste, run: () => view.act(step.id, "paste") },
				view.editable && { id: "delete", label: words.remove, danger: true, run: () => view.act(step.id, "delete") },
			]}
		/>
	);
}

/** AddButton adds a step at a place. */
export function AddButton({ view, place, tab = true }: { view: View; place: Place; tab?: boolean }) {
	if (!view.editable) return null;
	const step = stepOf(view.graph, place.from);
	const label =
		place.from === null
			? view.graph.steps.length === 0
				? words.addFirst
				: words.addAtStart
			: !step
				? words.addFirst
				: place.label === null
					? words.addAfter({ title: titleOf(step, view.names, view.graph) })
					: words.addOn({ title: titleOf(step, view.names, view.graph), label: labelOf(step, place.label) });
	return (
		<button
			type="button"
			className={css.add}
			data-place={`${place.from ?? ""}:${place.label ?? ""}`}
			aria-label={label}
			title={label}
			tabIndex={tab ? undefined : -1}
			onClick={(e) => view.add(place, e.currentTarget)}
		>
			<Plus aria-hidden size={14} />
		</button>
	);
}
