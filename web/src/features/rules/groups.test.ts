import { equals, holds, Random, type Tests } from "../../base/testing";
import {
	type Condition,
	conditionAt,
	deepest,
	canMove,
	type Group,
	heightOf,
	insertAt,
	isGroup,
	moveTo,
	pathOf,
	pathText,
	replaceAt,
	parseRule,
	stepTo,
} from "./groups";

const leaf = (field: string): Condition => ({ field, operator: "is_set" });
const group = (...conditions: Condition[]): Group => ({ logic: "and", conditions });

/** names writes a rule in short: a (b c) d. */
const names = (condition: Condition): string =>
	isGroup(condition) ? `(${condition.conditions.map(names).join(" ")})` : String(condition.field);

/** allPaths returns the paths of all conditions of a rule. */
const allPaths = (group: Group, path: number[] = []): number[][] =>
	group.conditions.flatMap((condition, i) => [
		[...path, i],
		...(isGroup(condition) ? allPaths(condition, [...path, i]) : []),
	]);

const rule = group(leaf("a"), group(leaf("b"), leaf("c")), leaf("d"));

const movedBy = (path: number[], direction: 1 | -1) => {
	const to = stepTo(rule, path, direction);
	return to ? names(moveTo(rule, path, to).group) : null;
};

/** anyRule returns a rule by chance. */
function anyRule(random: Random): Group {
	const any = (depth: number): Condition =>
		depth < deepest && random.below(3) === 0
			? group(...Array.from({ length: 1 + random.below(3) }, () => any(depth + 1)))
			: leaf(`f${random.below(1000)}`);
	return group(...Array.from({ length: 1 + random.below(4) }, () => any(1)));
}

const tests: Tests = {
	"a step goes over leaves, into groups and out of them"() {
		equals(movedBy([0], 1), "((a b c) d)");
		equals(movedBy([2], -1), "(a (b c d))");
		equals(movedBy([1, 0], -1), "(a b (c) d)");
		equals(movedBy([1, 1], 1), "(a (b) c d)");
		equals(movedBy([1, 0], 1), "(a (c b) d)");
		equals(movedBy([1], 1), "(a d (b c))");
		equals(movedBy([0], -1), null);
		equals(movedBy([2], 1), null);
	},
	"what moves is where it is said to be, and nothing is lost"() {
		const random = new Random(1);
		for (let round = 0; round < 500; round++) {
			const group = anyRule(random);
			const paths = allPaths(group);
			const from = paths[random.below(paths.length)] ?? [0];
			const to = [...(paths[random.below(paths.length)] ?? [0])];
			if (random.below(2) === 0) to[to.length - 1] = (to.at(-1) ?? 0) + 1;
			if (!canMove(group, from, to)) continue;
			const moved = moveTo(group, from, to);
			equals(conditionAt(moved.group, moved.path), conditionAt(group, from), `${names(group)} ${from} to ${to}`);
			const leaves = (group: Group) => names(group).replace(/[()]/g, " ").split(/\s+/).sort().join(" ");
			equals(leaves(moved.group), leaves(group));
			holds(heightOf(moved.group) <= deepest, `${names(moved.group)} is not too deep`);
		}
	},
	"a group does not move into itself, nor too deep"() {
		holds(!canMove(rule, [1], [1, 0]), "a group is not within itself");
		holds(!canMove(rule, [2], [0, 0]), "a leaf has no conditions");
		holds(!canMove(rule, [5], [0]) && !canMove(rule, [], [0]), "what is not there, and the rule itself, do not move");
		const deepGroup = group(group(group(group(group(leaf("x"))))), leaf("y"), group(leaf("z")));
		holds(canMove(deepGroup, [1], [0, 0, 0, 0, 0]), "a leaf may stand in the deepest group");
		holds(!canMove(deepGroup, [2], [0, 0, 0, 0, 0]), "a group may not");
	},
	"the server's paths lead to conditions"() {
		equals(pathOf("definition.conditions[1].conditions[12].value[0]"), [1, 12]);
		equals(pathOf("conditions[3].segment_keys[1]"), [3]);
		equals(pathOf("definition"), []);
		equals(pathOf("name"), []);
		equals(pathOf("filters[2]"), []);
	},
	"a path is read as it is written"() {
		const random = new Random(9);
		for (let round = 0; round < 200; round++) {
			const path = random.list(6, () => random.below(30));
			equals(pathOf(pathText(path)), path);
			equals(pathOf(`definition.${pathText(path)}`), path);
		}
	},
	"a condition is replaced or removed where its path leads, and nowhere else"() {
		const random = new Random(2);
		for (let round = 0; round < 200; round++) {
			const group = anyRule(random);
			const before = JSON.stringify(group);
			const path = random.of(allPaths(group));
			const replaced = replaceAt(group, path, leaf("new"));
			equals(conditionAt(replaced, path), leaf("new"));
			equals(replaceAt(replaced, path, conditionAt(group, path) ?? null), group, "what is replaced back");
			const removed = replaceAt(group, path, null);
			equals(
				insertAt(removed, path, conditionAt(group, path) ?? leaf("none")),
				group,
				"what is removed and inserted again",
			);
			equals(JSON.stringify(group), before, "the rule that was given");
		}
	},
	"a path that leads nowhere changes nothing"() {
		for (const path of [[], [0, 1], [1, 0, 3]]) {
			equals(replaceAt(rule, path, leaf("new")), rule, `replaced at ${path}`);
			if (path.length > 0) equals(insertAt(rule, path, leaf("new")), rule, `inserted at ${path}`);
		}
		equals(conditionAt(rule, [5]), undefined);
		equals(conditionAt(rule, [0, 0]), undefined);
		equals(conditionAt(rule, []), rule);
		equals(stepTo(rule, [], 1), null);
		equals(moveTo(rule, [7], [0]), { group: rule, path: [7] });
	},
	"a rule is read from an address"() {
		equals(parseRule(JSON.stringify(rule)), rule);
		equals(parseRule('{"logic":"or","conditions":[],"negate":true}'), { logic: "or", conditions: [], negate: true });
		for (const text of [
			'{"conditions":[1]}',
			'{"conditions":[{"conditions":[null]}]}',
			'{"conditions":[[]]}',
			"[]",
			"3",
		])
			equals(parseRule(text), null, text);
		equals(parseRule('{"conditions":[]}'), { conditions: [], logic: "and" });
		for (const text of [null, "", "{", "null", "[]", "{}", '{"conditions":3}'])
			equals(parseRule(text), null, String(text));
	},
	"groups are counted by how deep they nest"() {
		equals([heightOf(leaf("a")), heightOf(group()), heightOf(rule)], [0, 1, 2]);
		equals(heightOf(group(leaf("a"), group(group(leaf("b"))), group(leaf("c")))), 3);
	},
	"every step leads somewhere else, and the step back from there leads back"() {
		const random = new Random(6);
		for (let round = 0; round < 300; round++) {
			const group = anyRule(random);
			const path = random.of(allPaths(group));
			const direction = random.of([1, -1] as const);
			const to = stepTo(group, path, direction);
			if (!to || !canMove(group, path, to)) continue;
			const target = moveTo(group, path, to);
			holds(names(target.group) !== names(group), `${names(group)} ${path} by ${direction} stays as it is`);
			const returnPath = stepTo(target.group, target.path, direction === 1 ? -1 : 1);
			holds(returnPath !== null, `${names(target.group)} ${target.path} has no way back`);
			if (returnPath)
				equals(
					names(moveTo(target.group, target.path, returnPath).group),
					names(group),
					`${names(group)} ${path} by ${direction} and back`,
				);
		}
	},
};

export default tests;
