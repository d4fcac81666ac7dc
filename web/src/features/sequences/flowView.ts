import type { GraphIssue, SequenceNodeReport } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { isOfStart } from "./draft";
import { type Graph, labelsOf, type Place, placesOf, type Step, stepOf, targetOf } from "./graph";
import type { Passed } from "./stepReasons";
import { detailOf, type Names, problemWords, titleOf } from "./steps";

// What the outline and the canvas share besides the graph.

const words = catalogue("sequences.flowView", {
	name: "Step {number} of {of}, {title}, {next}",
	next: "then {title}",
	ways: "{count, plural, one {then # path} other {then # paths}}",
	end: "then the end",
	last: "the end",
	problems: "{count, plural, one {# problem} other {# problems}}",
	here: "{count, plural, one {# person is here} other {# people are here}}",
	passed: "{count, plural, one {on the path} other {# times on the path}}",
	selected: "selected",
	start: "Start, {trigger}",
	warnings: "{count, plural, one {# warning} other {# warnings}}",
});

/** View is what both views of a graph need. */
export type View = {
	graph: Graph;
	names: Names;
	/** The steps in the order in which they are read. */
	steps: string[];
	editable: boolean;
	selected: ReadonlySet<string>;
	current: string | null;
	/** What the panel shows: a step or the start. */
	opened: string | null;
	issues: GraphIssue[];
	/** Why nobody may enter, though nothing is wrong. */
	warnings: GraphIssue[];
	numbers: Map<string, SequenceNodeReport> | null;
	/** The way that one person took; null: none is shown. */
	passed: Passed | null;
	/** How many would have taken each edge in the past, by the key of edgeKey; null: that was not tried. */
	taken: Map<string, number> | null;
	/** What starts the sequence, as a sentence. */
	trigger: string;
	focus: (id: string) => void;
	/** Opens the panel of a step, which takes the focus if that was done by keys. */
	open: (id: string, byKeys?: boolean) => void;
	openStart: (byKeys?: boolean) => void;
	openPeople: (id: string) => void;
	add: (place: Place, trigger: HTMLElement) => void;
	act: (id: string, action: "after" | "copy" | "paste" | "delete" | "select", trigger?: HTMLElement) => void;
};

export const issuesOf = (value: Pick<View, "issues">, id: string) =>
	value.issues.filter((issue) => issue.node_id === id);

const problemOf = (issue: GraphIssue | undefined) => issue && problemWords(issue.message);

/** startText is the name of the start for screen readers: what starts the sequence, and what is wrong with it. */
export function startText(view: View): string {
	const problems = view.issues.filter(isOfStart).length;
	return [
		words.start({ trigger: view.trigger }),
		problems > 0 && words.problems({ count: problems }),
		view.warnings.length > 0 && words.warnings({ count: view.warnings.length }),
	]
		.filter(Boolean)
		.join("; ");
}

/** shownDetail is what stands below the title of a step: what is wrong with it, or what the title leaves out. */
export const shownDetail = (value: Pick<View, "issues" | "names">, step: Step): string =>
	problemOf(issuesOf(value, step.id)[0]) ?? detailOf(step, value.names);

/** screenReaderText is the name of a step for screen readers: where it is, what it does, what follows, what is wrong with it. */
export function screenReaderText(view: View, step: Step): string {
	const labels = labelsOf(step);
	const targets = placesOf(step).map((place) => targetOf(view.graph, place));
	const next = stepOf(view.graph, targets[0]);
	const nextText =
		labels.length === 0
			? words.last
			: labels.length > 1
				? words.ways({ count: labels.length })
				: next
					? words.next({ title: titleOf(next, view.names, view.graph) })
					: words.end;
	const problems = issuesOf(view, step.id).length;
	const passed = view.passed?.steps.get(step.id) ?? 0;
	const waiting = view.numbers?.get(step.id)?.waiting ?? 0;
	return [
		words.name({
			number: view.steps.indexOf(step.id) + 1,
			of: view.steps.length,
			title: [titleOf(step, view.names, view.graph), shownDetail(view, step).replace(/\.$/, "")]
				.filter(Boolean)
				.join(", "),
			next: nextText,
		}),
		waiting > 0 && words.here({ count: waiting }),
		passed > 0 && words.passed({ count: passed }),
		problems > 0 && words.problems({ count: problems }),
		view.selected.size > 1 && view.selected.has(step.id) && words.selected,
	]
		.filter(Boolean)
		.join("; ");
}
