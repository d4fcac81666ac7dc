import { equals, holds, Random, type Tests } from "../../base/testing";
import { configure, empty, equal, type Graph, insert, lead, placesOf, prune, remove, stepOf } from "./graph";
import { at, edit, isSound, line, step, wayTexts } from "./graph.test";
import type { Side } from "../../sync/merge";
import { merge, mergeDrafts } from "./merge";

const base = line(step("a"), step("b"), step("c"), step("d"));
const joined = (mine: Graph, theirs: Graph, side?: Side, was = base) =>
	merge({ mine: was, theirs: was }, mine, theirs, side && (() => side));

const tests: Tests = {
	"what only one side changed is taken over"() {
		const mine = insert(configure(base, "a", { tag: "mine" }), at("d"), step("x"));
		const theirs = remove(configure(base, "c", { tag: "theirs" }), "b", null);
		const { graph, clashes, taken } = joined(mine, theirs);
		equals(clashes, []);
		equals(wayTexts(graph), ["a - c", "c - d", "d - x"]);
		equals([stepOf(graph, "a")?.config, stepOf(graph, "c")?.config], [{ tag: "mine" }, { tag: "theirs" }]);
		equals(
			taken.map((step) => step.id),
			["a", "c", "b"],
			"what is taken over",
		);
	},
	"one step changed by both is a clash, and the choice decides"() {
		const mine = configure(base, "b", { tag: "mine" });
		const theirs = configure(configure(base, "b", { tag: "theirs" }), "d", { tag: "theirs" });
		equals(
			joined(mine, theirs).clashes.map((clash) => [clash.id, clash.mine?.config, clash.theirs?.config]),
			[["b", { tag: "mine" }, { tag: "theirs" }]],
		);
		equals(stepOf(joined(mine, theirs, "mine").graph, "b")?.config, { tag: "mine" });
		equals(stepOf(joined(mine, theirs, "theirs").graph, "b")?.config, { tag: "theirs" });
		equals(stepOf(joined(mine, theirs, "mine").graph, "d")?.config, { tag: "theirs" });
		equals(joined(theirs, configure(base, "b", { tag: "theirs" })).clashes, [], "the same change");
	},
	"a step that one side removed and the other changed comes back or goes"() {
		const mine = remove(base, "b", null);
		const theirs = configure(base, "b", { tag: "theirs" });
		equals(
			joined(mine, theirs).clashes.map((clash) => [clash.id, clash.mine]),
			[["b", null]],
		);
		equals(wayTexts(joined(mine, theirs, "theirs").graph), wayTexts(base));
		equals(wayTexts(joined(mine, theirs, "mine").graph), ["a - c", "c - d"]);
		equals(wayTexts(joined(theirs, mine, "mine").graph), wayTexts(base));
	},
	"a step put before one that the other side removed is a clash"() {
		const mine = insert(base, at("a"), step("x"));
		const theirs = remove(base, "b", null);
		holds(joined(mine, theirs).clashes.length > 0, "there is no clash");
		equals(wayTexts(joined(mine, theirs, "mine").graph), ["a - x", "b - c", "c - d", "x - b"]);
		equals(wayTexts(joined(mine, theirs, "theirs").graph), ["a - c", "c - d"]);
	},
	"steps that both put at the same place follow on each other, mine first"() {
		const mine = insert(base, at("a"), step("x"));
		const theirs = insert(insert(base, at("a"), step("y")), at("y"), step("z", "condition"));
		const both = joined(mine, theirs);
		equals([both.clashes, wayTexts(both.graph)], [[], ["a - x", "b - c", "c - d", "x - y", "y - z", "z true b"]]);
		equals(
			both.taken.map((step) => step.id),
			["x", "y", "z"],
			"what is taken over",
		);
		equals(wayTexts(joined(theirs, mine).graph), ["a - y", "b - c", "c - d", "x - b", "y - z", "z true x"]);
	},
	"steps that both put at the end follow on each other, and an exit comes last"() {
		const mine = insert(base, at("d"), step("x", "exit"));
		const theirs = insert(base, at("d"), step("y", "condition"));
		for (const [graph, t] of [
			[mine, theirs],
			[theirs, mine],
		] as const)
			equals(
				[joined(graph, t).clashes, wayTexts(joined(graph, t).graph)],
				[[], ["a - b", "b - c", "c - d", "d - y", "y true x"]],
			);
		equals(
			joined(mine, insert(base, at("d"), step("z", "exit"))).clashes.map((clash) => clash.id),
			["d"],
		);
	},
	"the start is a part of its own"() {
		const mine = insert(base, at(null), step("x"));
		const theirs = insert(base, at(null), step("y"));
		equals(joined(mine, base).graph.entry, "x");
		equals([joined(mine, theirs).clashes, joined(mine, theirs).graph.entry], [[], "x"]);
		equals(wayTexts(joined(mine, theirs).graph), ["a - b", "b - c", "c - d", "x - y", "y - a"]);
		const none = joined(
			insert(empty, at(null), step("x", "exit")),
			insert(empty, at(null), step("y", "exit")),
			"theirs",
			empty,
		);
		equals(
			[none.clashes.map((clash) => [clash.id, clash.mine?.id, clash.theirs?.id]), none.graph.entry],
			[[[null, "x", "y"]], "y"],
		);
	},
	"both insert at one place, and no step of either is lost"() {
		for (let seed = 1; seed <= 200; seed++) {
			const random = new Random(seed);
			let was = empty;
			for (let i = 0; i < 8; i++) was = edit(was, random);
			const place = random.of([at(null), ...was.steps.flatMap(placesOf)]);
			const type = () => random.of(["tag", "condition", "send"] as const);
			const mine = insert(was, place, step("x", type()));
			const theirs = insert(insert(was, place, step("y", type())), place, step("z", type()));
			const both = joined(mine, theirs, undefined, was);
			isSound(both.graph, `seed ${seed}`);
			equals(both.clashes, [], `seed ${seed}: the clashes`);
			equals(both.graph.steps.length, was.steps.length + 3, `seed ${seed}: the number of steps`);
		}
	},
	"ways of a branch are joined by their labels"() {
		const labels = (...all: string[]) => ({ branches: all.map((label) => ({ label })) });
		const was = insert(line(step("by", "branch", labels("a", "b"))), at("by", "a"), step("on_a"));
		const mine = insert(was, at("by", "b"), step("on_b"));
		const theirs = insert(configure(was, "by", labels("a", "b", "c")), at("by", "c"), step("on_c"));
		const both = joined(mine, theirs, undefined, was);
		equals([both.clashes, wayTexts(both.graph)], [[], ["by a on_a", "by b on_b", "by c on_c"]]);
		const other = configure(was, "by", labels("z"));
		equals(joined(theirs, other, "theirs", was).graph.steps[0]?.config, labels("z"));
	},
	"how the server writes a configuration is no change"() {
		const stored = configure(base, "b", { tag: "b", by: "server" });
		const mine = configure(configure(base, "b", { tag: "b" }), "c", { tag: "mine" });
		const both = merge(
			{ mine: configure(base, "b", { tag: "b" }), theirs: stored },
			mine,
			configure(stored, "d", { tag: "theirs" }),
		);
		equals(both.clashes, []);
		equals(stepOf(both.graph, "c")?.config, { tag: "mine" });
	},
	"drafts are joined only where both sides changed something"() {
		const mine = { graph: configure(base, "b", { tag: "mine" }) };
		const theirs = { graph: configure(base, "b", { tag: "theirs" }) };
		const bases = { mine: { graph: base }, theirs: { graph: base } };
		equals(mergeDrafts(bases, mine, { graph: base }), { merged: mine, clashes: [], joined: [] });
		equals(mergeDrafts(bases, { graph: base }, theirs), { merged: theirs, clashes: [], joined: [] });
		equals(
			mergeDrafts(bases, mine, theirs).clashes.map((clash) => clash.group),
			["b"],
		);
		const taken = mergeDrafts(bases, mine, theirs, (group) => (group === "b" ? "theirs" : "mine"));
		equals([stepOf(taken.merged.graph, "b")?.config, taken.joined], [{ tag: "theirs" }, ["b"]]);
		const other = { graph: configure(base, "d", { tag: "theirs" }) };
		equals(mergeDrafts(bases, mine, other).joined, ["d"]);
		const start = { mine: { graph: lead(base, at(null), "b") }, theirs: { graph: lead(base, at(null), "c") } };
		equals(
			mergeDrafts(bases, start.mine, start.theirs).clashes.map((clash) => clash.group),
			[""],
			"the start",
		);
	},
	"any two edited graphs are joined to a sound one"() {
		for (let seed = 1; seed <= 60; seed++) {
			const random = new Random(seed);
			let was = empty;
			for (let i = 0; i < 12; i++) was = edit(was, random);
			let [mine, theirs] = [was, was];
			for (let i = 0; i < 3; i++) [mine, theirs] = [edit(mine, random), edit(theirs, random)];
			for (const side of ["mine", "theirs"] as const)
				isSound(joined(mine, theirs, side, was).graph, `seed ${seed}, ${side}`);
			holds(equal(joined(mine, was, undefined, was).graph, mine), `seed ${seed}: they changed nothing`);
			holds(equal(joined(was, theirs, undefined, was).graph, theirs), `seed ${seed}: I changed nothing`);
			equals(joined(mine, mine, undefined, was).clashes, [], `seed ${seed}: the clashes of the same changes`);
			holds(
				equal(prune(mine), mine) && equal(lead(mine, at(null), mine.entry), mine),
				`seed ${seed}: it was not whole`,
			);
		}
	},
};

export default tests;
