import type { GraphIssue, Sequence } from "../../api/schema";
import { equals, holds, type Tests } from "../../base/testing";
import {
	type Draft,
	draftBody,
	draftOf,
	equalDrafts,
	fieldOfIssue,
	mergeDrafts,
	startBody,
	startChanges,
	startOf,
	startPart,
} from "./draft";
import { configure, connect, stepOf } from "./graph";
import { at, line, step } from "./graph.test";

const graph = line(step("a"), step("b"), step("c"), step("d"));
const base: Draft = { trigger: { type: "", config: {} }, exits: {}, allow_reentry: false, graph };
const bases = { mine: base, theirs: base };
const tagged = (tag: string): Partial<Draft> => ({ trigger: { type: "tag_added", config: { tag } } });

const tests: Tests = {
	"drafts are joined only where both sides changed something"() {
		const mine = { ...base, graph: configure(graph, "b", { tag: "mine" }) };
		const theirs = { ...base, graph: configure(graph, "b", { tag: "theirs" }) };
		equals(mergeDrafts(bases, mine, base), { merged: mine, conflicts: [], theirFields: [] });
		equals(mergeDrafts(bases, base, theirs).merged, theirs);
		equals(
			mergeDrafts(bases, mine, theirs).conflicts.map((conflict) => conflict.group),
			["b"],
		);
		const taken = mergeDrafts(bases, mine, theirs, (group) => (group === "b" ? "theirs" : "mine"));
		equals([stepOf(taken.merged.graph, "b")?.config, taken.theirFields], [{ tag: "theirs" }, ["b"]]);
		const other = { ...base, graph: configure(graph, "d", { tag: "theirs" }) };
		equals(mergeDrafts(bases, mine, other).theirFields, ["d"]);
		const first = (id: string) => ({ ...base, graph: connect(graph, at(null), id) });
		equals(
			mergeDrafts(bases, first("b"), first("c")).conflicts.map((conflict) => conflict.group),
			[""],
			"the edge to the first step",
		);
	},
	"a trigger of one side and steps of the other are both kept"() {
		const mine = { ...base, ...tagged("vip") };
		const theirs = { ...base, allow_reentry: true, graph: configure(graph, "b", { tag: "theirs" }) };
		const { merged, conflicts, theirFields } = mergeDrafts(bases, mine, theirs);
		equals([merged.trigger.config, merged.allow_reentry, conflicts], [{ tag: "vip" }, true, []]);
		equals(stepOf(merged.graph, "b")?.config, { tag: "theirs" });
		equals(theirFields, ["~start.allow_reentry", "b"]);
	},
	"two triggers are a clash, and the choice decides"() {
		const [mine, theirs] = [
			{ ...base, ...tagged("mine") },
			{ ...base, ...tagged("theirs") },
		];
		const { merged, conflicts } = mergeDrafts(bases, mine, theirs);
		equals([merged.trigger.config, conflicts.map(({ group }) => startPart(group))], [{ tag: "mine" }, ["trigger"]]);
		equals(mergeDrafts(bases, mine, theirs, () => "theirs").merged.trigger.config, { tag: "theirs" });
	},
	"an empty start is written as none, and what did not change is left out"() {
		equals(startBody({ trigger: { type: "", config: {} } }), { entry_trigger: null });
		equals(startBody({ exits: {} }), { exit_conditions: null });
		equals(startBody({ allow_reentry: false }), { allow_reentry: false });
		const { entry_trigger, exit_conditions, nodes } = draftBody(graph, tagged("vip"));
		equals(
			[entry_trigger, exit_conditions, nodes.length],
			[{ trigger_type: "tag_added", trigger_config: { tag: "vip" } }, undefined, 4],
		);
	},
	"what is sent of a draft is read back"() {
		const draft: Draft = {
			...base,
			...tagged("vip"),
			exits: { events: [{ event_name: "left" }] },
			allow_reentry: true,
		};
		const { entry_trigger, exit_conditions, allow_reentry } = draftBody(graph, draft);
		const row = { entry_trigger, exit_conditions, allow_reentry, entry_node_id: null } as Sequence;
		equals({ ...startOf(draftOf(row)), graph }, draft);
		equals(startChanges(draft, base), ["trigger", "exits", "allow_reentry"]);
		holds(!equalDrafts(draft, base) && equalDrafts(draft, { ...draft, exits: { ...draft.exits } }), "what is equal");
	},
	"problems of the start are none of a step"() {
		const field = (message: string, node_id: string | null = null) => fieldOfIssue({ message, node_id } as GraphIssue);
		equals(field("entry_trigger.trigger_config.tag: is required"), "trigger");
		equals(field("exit_conditions: events[0]: event_name must be 1 to 128 characters"), "exits");
		equals(field("entry_node_id must be the id of a node"), "graph");
		equals(field("entry_trigger", "a"), "graph");
	},
};

export default tests;
