import { equals, holds, Random, type Tests } from "../../base/testing";
import {
	type Condition,
	conditionAt,
	deepest,
	fits,
	type Group,
	heightOf,
	isGroup,
	moveTo,
	pathOf,
	stepTo,
} from "./groups";

const leaf = (field: string): Condition => ({ field, operator: "is_set" });
const group = (...conditions: Condition[]): Group => ({ logic: "and", conditions });

/** names writes a rule in short: a (b c) d. */
const names = (c: Condition): string => (isGroup(c) ? `(${c.conditions.map(names).join(" ")})` : String(c.field));

/** every returns the paths of all conditions of a rule. */
const every = (g: Group, path: number[] = []): number[][] =>
	g.conditions.flatMap((c, i) => [[...path, i], ...(isGroup(c) ? every(c, [...path, i]) : [])]);

const rule = group(leaf("a"), group(leaf("b"), leaf("c")), leaf("d"));

const stepped = (path: number[], by: 1 | -1) => {
	const to = stepTo(rule, path, by);
	return to ? names(moveTo(rule, path, to).group) : null;
};

const tests: Tests = {
	"a step goes over leaves, into groups and out of them"() {
		equals(stepped([0], 1), "((a b c) d)");
		equals(stepped([2], -1), "(a (b c d))");
		equals(stepped([1, 0], -1), "(a b (c) d)");
		equals(stepped([1, 1], 1), "(a (b) c d)");
		equals(stepped([1, 0], 1), "(a (c b) d)");
		equals(stepped([1], 1), "(a d (b c))");
		equals(stepped([0], -1), null);
		equals(stepped([2], 1), null);
	},
	"what moves is where it is said to be, and nothing is lost"() {
		const random = new Random(1);
		const any = (depth: number): Condition =>
			depth < deepest && random.below(3) === 0
				? group(...Array.from({ length: 1 + random.below(3) }, () => any(depth + 1)))
				: leaf(`f${random.below(1000)}`);
		for (let n = 0; n < 500; n++) {
			const g = group(...Array.from({ length: 1 + random.below(4) }, () => any(1)));
			const paths = every(g);
			const from = paths[random.below(paths.length)] ?? [0];
			const to = [...(paths[random.below(paths.length)] ?? [0])];
			if (random.below(2) === 0) to[to.length - 1] = (to.at(-1) ?? 0) + 1;
			if (!fits(g, from, to)) continue;
			const moved = moveTo(g, from, to);
			equals(conditionAt(moved.group, moved.path), conditionAt(g, from), `${names(g)} ${from} to ${to}`);
			const leaves = (x: Group) => names(x).replace(/[()]/g, " ").split(/\s+/).sort().join(" ");
			equals(leaves(moved.group), leaves(g));
			holds(heightOf(moved.group) <= deepest, `${names(moved.group)} is not too deep`);
		}
	},
	"a group does not move into itself, nor too deep"() {
		holds(!fits(rule, [1], [1, 0]), "a group is not within itself");
		const five = group(group(group(group(group(leaf("x"))))), leaf("y"), group(leaf("z")));
		holds(fits(five, [1], [0, 0, 0, 0, 0]), "a leaf may stand in the deepest group");
		holds(!fits(five, [2], [0, 0, 0, 0, 0]), "a group may not");
	},
	"the server's paths lead to conditions"() {
		equals(pathOf("definition.conditions[1].conditions[12].value[0]"), [1, 12]);
		equals(pathOf("conditions[3].segment_keys[1]"), [3]);
		equals(pathOf("definition"), []);
	},
};

export default tests;
