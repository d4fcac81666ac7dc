import { loadProblems } from "../../base/words/errors";
import type { GraphIssue, SequenceNodeReport } from "../../api/schema";
import { equals, holds, type Tests } from "../../base/testing";
import { issuesOf, shownDetail, screenReaderText, type View } from "./flowView";
import { order, stepOf } from "./graph";
import { diamond, line, step } from "./graph.test";

const view = (graph = diamond(), parts: Partial<View> = {}): View => ({
	graph,
	names: {
		messages: new Map(),
		types: new Map(),
		segments: new Map(),
		stages: new Map(),
		sequences: new Map(),
		forms: new Map(),
		fields: [],
	},
	steps: order(graph),
	editable: true,
	selected: new Set(),
	current: null,
	opened: null,
	issues: [],
	warnings: [],
	numbers: null,
	passed: null,
	taken: null,
	trigger: "",
	focus: () => {},
	open: () => {},
	openStart: () => {},
	openPeople: () => {},
	add: () => {},
	act: () => {},
	...parts,
});

const issue = (node_id: string, message: string) => ({ node_id, message }) as GraphIssue;

const textOf = (view: View, id: string) => {
	const step = stepOf(view.graph, id);
	return step ? screenReaderText(view, step) : "";
};

const tests: Tests = {
	"a step says where it is, what it does and what follows"() {
		const v = view(line(step("a", "tag", { tags: ["vip"] }), step("b", "stage"), step("c", "exit")));
		equals(textOf(v, "a"), "Step 1 of 3, Add vip, then Move to …");
		equals(textOf(v, "b"), "Step 2 of 3, Move to …, then Exit");
		equals(textOf(v, "c"), "Step 3 of 3, Exit, the end");
		equals(textOf(view(line(step("a"))), "a"), "Step 1 of 1, Add …, then the end");
	},
	"a step with several edges counts them"() {
		equals(textOf(view(), "if"), "Step 1 of 4, no condition yet?, then 2 paths");
		const flow = view(line(step("by", "branch", { branches: [] })));
		holds(textOf(flow, "by").endsWith("then the end"), textOf(flow, "by"));
	},
	async "problems, people and the selection are said, too"() {
		await loadProblems();
		const issues = [
			issue("yes", "tags: required"),
			issue("yes", "tags: is wrong"),
			issue("no", "no path leads from the entry to this node"),
		];
		const numbers = new Map([["yes", { waiting: 1 } as SequenceNodeReport]]);
		const v = view(diamond(), { issues, numbers, selected: new Set(["yes", "no"]) });
		equals(
			textOf(v, "yes"),
			"Step 2 of 4, Add …, Tags must be filled in, then Add …; 1 person is here; 2 problems; selected",
		);
		equals(
			textOf(v, "no"),
			"Step 3 of 4, Add …, No path leads from the start to this step, then Add …; 1 problem; selected",
		);
		equals(textOf(v, "last"), "Step 4 of 4, Add …, then the end");
		const selectedView = view(diamond(), { selected: new Set(["yes"]) });
		holds(!textOf(selectedView, "yes").includes("selected"), "one step that is selected is the one that is open");
	},
	async "below the title stands what is wrong, or else the detail"() {
		await loadProblems();
		const s = step("w", "wait", { mode: "until_event", timeout: { amount: 2, unit: "day" } });
		const v = view(line(s));
		equals(shownDetail(v, s), "Up to 2 days");
		equals(
			shownDetail({ ...v, issues: [issue("w", "timeout: required"), issue("w", "is wrong")] }, s),
			"Time limit must be filled in.",
		);
		equals(shownDetail({ ...v, issues: [issue("x", "is wrong")] }, s), "Up to 2 days", "a problem of another step");
		equals(
			issuesOf({ issues: [issue("w", "a"), issue("x", "b"), issue("w", "c")] }, "w").map((issue) => issue.message),
			["a", "c"],
		);
	},
};

export default tests;
