import { equals, holds, Random, type Tests } from "../../base/testing";
import { configure, empty, equal, type Graph, insert, connect, placesOf, prune, remove, stepOf } from "./graph";
import { at, edit, isSound, line, step, wayTexts } from "./graph.test";
import type { Side } from "../../sync/merge";
import { merge } from "./merge";

const base = line(step("a"), step("b"), step("c"), step("d"));
const mergeOf = (mine: Graph, theirs: Graph, side?: Side, before = base) =>
	merge({ mine: before, theirs: before }, mine, theirs, side && (() => side));

const tests: Tests = {
	"what only one side changed is taken over"() {
		const mine = insert(configure(base, "a", { tag: "mine" }), at("d"), step("x"));
		const theirs = remove(configure(base, "c", { tag: "theirs" }), "b", null);
		const { graph, conflicts, taken } = mergeOf(mine, theirs);
		equals(conflicts, []);
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
			mergeOf(mine, theirs).conflicts.map((conflict) => [conflict.id, conflict.mine?.config, conflict.theirs?.config]),
			[["b", { tag: "mine" }, { tag: "theirs" }]],
		);
		equals(stepOf(mergeOf(mine, theirs, "mine").graph, "b")?.config, { tag: "mine" });
		equals(stepOf(mergeOf(mine, theirs, "theirs").graph, "b")?.config, { tag: "theirs" });
		equals(stepOf(mergeOf(mine, theirs, "mine").graph, "d")?.config, { tag: "theirs" });
		equals(mergeOf(theirs, configure(base, "b", { tag: "theirs" })).conflicts, [], "the same change");
	},
	"a step that one side removed and the other changed comes back or goes"() {
		const mine = remove(base, "b", null);
		const theirs = configure(base, "b", { tag: "theirs" });
		equals(
			mergeOf(mine, theirs).conflicts.map((conflict) => [conflict.id, conflict.mine]),
			[["b", null]],
		);
		equals(wayTexts(mergeOf(mine, theirs, "theirs").graph), wayTexts(base));
		equals(wayTexts(mergeOf(mine, theirs, "mine").graph), ["a - c", "c - d"]);
		equals(wayTexts(mergeOf(theirs, mine, "mine").graph), wayTexts(base));
	},
	"a step put before one that the other side removed is a clash"() {
		const mine = insert(base, at("a"), step("x"));
		const theirs = remove(base, "b", null);
		holds(mergeOf(mine, theirs).conflicts.length > 0, "there is no clash");
		equals(wayTexts(mergeOf(mine, theirs, "mine").graph), ["a - x", "b - c", "c - d", "x - b"]);
		equals(wayTexts(mergeOf(mine, theirs, "theirs").graph), ["a - c", "c - d"]);
	},
	"steps that both put at the same place follow on each other, mine first"() {
		const mine = insert(base, at("a"), step("x"));
		const theirs = insert(insert(base, at("a"), step("y")), at("y"), step("z", "condition"));
		const merged = mergeOf(mine, theirs);
		equals([merged.conflicts, wayTexts(merged.graph)], [[], ["a - x", "b - c", "c - d", "x - y", "y - z", "z true b"]]);
		equals(
			merged.taken.map((step) => step.id),
			["x", "y", "z"],
			"what is taken over",
		);
		equals(wayTexts(mergeOf(theirs, mine).graph), ["a - y", "b - c", "c - d", "x - b", "y - z", "z true x"]);
	},
	"steps that both put at the end follow on each other, and an exit comes last"() {
		const mine = insert(base, at("d"), step("x", "exit"));
		const theirs = insert(base, at("d"), step("y", "condition"));
		for (const [graph, t] of [
			[mine, theirs],
			[theirs, mine],
		] as const)
			equals(
				[mergeOf(graph, t).conflicts, wayTexts(mergeOf(graph, t).graph)],
				[[], ["a - b", "b - c", "c - d", "d - y", "y true x"]],
			);
		equals(
			mergeOf(mine, insert(base, at("d"), step("z", "exit"))).conflicts.map((conflict) => conflict.id),
			["d"],
		);
	},
	"the start is a part of its own"() {
		const mine = insert(base, at(null), step("x"));
		const theirs = insert(base, at(null), step("y"));
		equals(mergeOf(mine, base).graph.entry, "x");
		equals([mergeOf(mine, theirs).conflicts, mergeOf(mine, theirs).graph.entry], [[], "x"]);
		equals(wayTexts(mergeOf(mine, theirs).graph), ["a - b", "b - c", "c - d", "x - y", "y - a"]);
		const none = mergeOf(
			insert(empty, at(null), step("x", "exit")),
			insert(empty, at(null), step("y", "exit")),
			"theirs",
			empty,
		);
		equals(
			[none.conflicts.map((conflict) => [conflict.id, conflict.mine?.id, conflict.theirs?.id]), none.graph.entry],
			[[[null, "x", "y"]], "y"],
		);
	},
	"both insert at one place, and no step of either is lost"() {
		for (let seed = 1; seed <= 200; seed++) {
			const random = new Random(seed);
			let before = empty;
			for (let i = 0; i < 8; i++) before = edit(before, random);
			const place = random.of([at(null), ...before.steps.flatMap(placesOf)]);
			const type = () => random.of(["tag", "condition", "send"] as const);
			const mine = insert(before, place, step("x", type()));
			const theirs = insert(insert(before, place, step("y", type())), place, step("z", type()));
			const merged = mergeOf(mine, theirs, undefined, before);
			isSound(merged.graph, `seed ${seed}`);
			equals(merged.conflicts, [], `seed ${seed}: the clashes`);
			equals(merged.graph.steps.length, before.steps.length + 3, `seed ${seed}: the number of steps`);
		}
	},
	"edges of a branch are joined by their labels"() {
		const labels = (...all: string[]) => ({ branches: all.map((label) => ({ label })) });
		const before = insert(line(step("by", "branch", labels("a", "b"))), at("by", "a"), step("on_a"));
		const mine = insert(before, at("by", "b"), step("on_b"));
		const theirs = insert(configure(before, "by", labels("a", "b", "c")), at("by", "c"), step("on_c"));
		const merged = mergeOf(mine, theirs, undefined, before);
		equals([merged.conflicts, wayTexts(merged.graph)], [[], ["by a on_a", "by b on_b", "by c on_c"]]);
		const other = configure(before, "by", labels("z"));
		equals(mergeOf(theirs, other, "theirs", before).graph.steps[0]?.config, labels("z"));
	},
	"how the server writes a configuration is no change"() {
		const stored = configure(base, "b", { tag: "b", by: "server" });
		const mine = configure(configure(base, "b", { tag: "b" }), "c", { tag: "mine" });
		const merged = merge(
			{ mine: configure(base, "b", { tag: "b" }), theirs: stored },
			mine,
			configure(stored, "d", { tag: "theirs" }),
		);
		equals(merged.conflicts, []);
		equals(stepOf(merged.graph, "c")?.config, { tag: "mine" });
	},
	"any two edited graphs are joined to a sound one"() {
		for (let seed = 1; seed <= 60; seed++) {
			const random = new Random(seed);
			let before = empty;
			for (let i = 0; i < 12; i++) before = edit(before, random);
			let [mine, theirs] = [before, before];
			for (let i = 0; i < 3; i++) [mine, theirs] = [edit(mine, random), edit(theirs, random)];
			for (const side of ["mine", "theirs"] as const)
				isSound(mergeOf(mine, theirs, side, before).graph, `seed ${seed}, ${side}`);
			holds(equal(mergeOf(mine, before, undefined, before).graph, mine), `seed ${seed}: they changed nothing`);
			holds(equal(mergeOf(before, theirs, undefined, before).graph, theirs), `seed ${seed}: I changed nothing`);
			equals(mergeOf(mine, mine, undefined, before).conflicts, [], `seed ${seed}: the clashes of the same changes`);
			holds(
				equal(prune(mine), mine) && equal(connect(mine, at(null), mine.entry), mine),
				`seed ${seed}: it was not whole`,
			);
		}
	},
};

export default tests;
