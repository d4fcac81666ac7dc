import type { GraphIssue, SequenceNodeReport } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { type Graph, labelsOf, type Place, placesOf, type Step, stepOf, targetOf } from "./graph";
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
	selected: "selected",
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
	issues: GraphIssue[];
	numbers: Map<string, SequenceNodeReport> | null;
	/** What starts the sequence, as a sentence. */
	trigger: string;
	focus: (id: string) => void;
	open: (id: string) => void;
	openTrigger: () => void;
	openPeople: (id: string) => void;
	add: (place: Place, trigger: HTMLElement) => void;
	act: (id: string, what: "after" | "copy" | "paste" | "delete" | "select", trigger?: HTMLElement) => void;
};

export const issuesOf = (v: Pick<View, "issues">, id: string) => v.issues.filter((i) => i.node_id === id);

const problemOf = (i: GraphIssue | undefined) => i && problemWords(i.message);

/** shownDetail is what stands below the title of a step: what is wrong with it, or what the title leaves out. */
export const shownDetail = (v: Pick<View, "issues" | "names">, s: Step): string =>
	problemOf(issuesOf(v, s.id)[0]) ?? detailOf(s, v.names);

/** spoken is the name of a step for screen readers: where it is, what it does, what follows, what is wrong with it. */
export function spoken(v: View, s: Step): string {
	const labels = labelsOf(s);
	const targets = placesOf(s).map((p) => targetOf(v.graph, p));
	const next = stepOf(v.graph, targets[0]);
	const follows =
		labels.length === 0
			? words.last
			: labels.length > 1
				? words.ways({ count: labels.length })
				: next
					? words.next({ title: titleOf(next, v.names, v.graph) })
					: words.end;
	const problems = issuesOf(v, s.id).length;
	const waiting = v.numbers?.get(s.id)?.waiting ?? 0;
	return [
		words.name({
			number: v.steps.indexOf(s.id) + 1,
			of: v.steps.length,
			title: [titleOf(s, v.names, v.graph), shownDetail(v, s).replace(/\.$/, "")].filter(Boolean).join(", "),
			next: follows,
		}),
		waiting > 0 && words.here({ count: waiting }),
		problems > 0 && words.problems({ count: problems }),
		v.selected.size > 1 && v.selected.has(s.id) && words.selected,
	]
		.filter(Boolean)
		.join("; ");
}
