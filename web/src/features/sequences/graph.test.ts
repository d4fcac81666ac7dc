import type { Sequence } from "../../api/schema";
import { equals, holds, Random, type Tests } from "../../base/testing";
import {
	addDetached,
	bodyOf,
	type Config,
	configure,
	copy,
	difference,
	empty,
	equal,
	type Graph,
	graphOf,
	insert,
	labelsOf,
	connect,
	lostSteps,
	neighbour,
	order,
	outline,
	paste,
	type Place,
	placesOf,
	prune,
	reachableSteps,
	remove,
	removeAll,
	type Step,
	type StepType,
	stepOf,
	targetOf,
} from "./graph";
import { newHistory, push, redo, undo } from "./history";

let count = 0;
const name = (type: StepType) => `${type}_${++count}`;
const step = (id: string, type: StepType = "tag", config: Config = {}): Step => ({ id, type, config });
const placeAt = (from: string | null, label: string | null = null): Place => ({ from, label });

/** Returns a graph of steps one after the other. */
const line = (...steps: Step[]) =>
	steps.reduce((graph, step, i) => {
		const before = steps[i - 1];
		return insert(graph, before ? placeAt(before.id, labelsOf(before)[0]) : placeAt(null), step);
	}, empty);

/** Returns a yes-or-no step with a step on each edge, which join in a last one. */
function diamondGraph(): Graph {
	let graph = line(step("if", "condition"));
	graph = insert(graph, placeAt("if", "true"), step("yes"));
	graph = insert(graph, placeAt("if", "false"), step("no"));
	graph = insert(graph, placeAt("yes"), step("last"));
	return connect(graph, placeAt("no"), "last");
}

const edgeTexts = (graph: Graph) => graph.edges.map((edge) => `${edge.from} ${edge.label ?? "-"} ${edge.to}`).sort();

/** What holds of every graph that is edited. */
function isSound(graph: Graph, description: string) {
	const ids = graph.steps.map((step) => step.id);
	holds(new Set(ids).size === ids.length, `${description}: two steps have one id`);
	holds(graph.entry === null || ids.includes(graph.entry), `${description}: it begins with a step that is not there`);
	const places = new Set<string>();
	for (const edge of graph.edges) {
		const from = stepOf(graph, edge.from);
		holds(
			from !== undefined && stepOf(graph, edge.to) !== undefined,
			`${description}: the way ${edge.from} to ${edge.to} leads from or to nothing`,
		);
		holds(labelsOf(from as Step).includes(edge.label), `${description}: ${edge.from} has no way ${edge.label}`);
		const place = `${edge.from} ${edge.label}`;
		holds(!places.has(place), `${description}: ${place} leads to two steps`);
		places.add(place);
	}
	equals(reachableSteps(graph).size, graph.steps.length, `${description}: the number of steps that people reach`);
	// Both views show each step once.
	equals([...order(graph)].sort(), [...ids].sort(), `${description}: the steps in order`);
}

/** One configuration of each type of step that has another kind of outgoing edge. */
const kinds: { type: StepType; configs: Config[] }[] = [
	{ type: "send", configs: [{ message_id: "m" }, { message_id: "n", version: 2 }] },
	{
		type: "wait",
		configs: [
			{ mode: "duration", amount: 1, unit: "day" },
			{ mode: "until_date", field: "created_at" },
			{ mode: "until_time", days: [1], time: "09:00" },
			{ mode: "until_event", event_name: "e", timeout: { amount: 1, unit: "day" } },
			{ mode: "until_segment", segment_key: "s", state: "in", timeout: { amount: 1, unit: "day" } },
			{ mode: "until_engagement", node_id: "send", event: "clicked", timeout: { amount: 1, unit: "day" } },
		],
	},
	{ type: "condition", configs: [{ definition: {} }] },
	{
		type: "branch",
		configs: [
			{ branches: [{ label: "a" }, { label: "b" }] },
			{ branches: [{ label: "a" }] },
			{ branches: [{ label: "x" }, { label: "b" }] },
		],
	},
	{
		type: "split",
		configs: [
			{
				branches: [
					{ label: "a", weight: 1 },
					{ label: "b", weight: 1 },
				],
			},
			{
				branches: [
					{ label: "a", weight: 1 },
					{ label: "b", weight: 1 },
					{ label: "c", weight: 2 },
				],
			},
		],
	},
	...(["list", "tag", "update_contact", "stage", "subscription", "event", "webhook", "notify", "enroll"] as const).map(
		(type) => ({
			type,
			configs: [{}, { of: type }],
		}),
	),
	{ type: "goal", configs: [{ definition: {} }] },
	{ type: "exit", configs: [{}] },
];

/** Returns a graph after one edit by chance. */
function edit(graph: Graph, random: Random): Graph {
	const places = [placeAt(null), ...graph.steps.flatMap(placesOf)];
	const some = () => random.of(graph.steps).id;
	const newStep = () => {
		const kind = random.of(kinds);
		return step(name(kind.type), kind.type, random.of(kind.configs));
	};
	if (graph.steps.length === 0) return insert(graph, placeAt(null), newStep());
	switch (random.below(9)) {
		case 0:
		case 1:
		case 2:
			return insert(graph, random.of(places), newStep());
		case 3: {
			const step = random.of(graph.steps);
			return remove(graph, step.id, random.of([...labelsOf(step), undefined]));
		}
		case 4:
			return removeAll(graph, [some(), some()]);
		case 5: {
			const step = random.of(graph.steps);
			return configure(graph, step.id, random.of(kinds.find((kind) => kind.type === step.type)?.configs ?? [{}]));
		}
		case 6: {
			const clipboardContent = copy(graph, [some(), some(), some()]);
			return clipboardContent ? paste(graph, random.of(places), clipboardContent, name) : graph;
		}
		case 7:
			return prune(connect(graph, random.of(places), random.of([some(), null]))); // a join, a loop or an end
		default:
			return addDetached(graph, step(name("goal"), "goal", { definition: {} }));
	}
}

const ofServer = (graph: Graph): Sequence => {
	const body = JSON.parse(JSON.stringify(bodyOf(graph)));
	return { entry_node_id: body.entry_node_id || null, nodes: body.nodes, edges: body.edges } as unknown as Sequence;
};

const tests: Tests = {
	"a step that is inserted takes what followed on its first edge"() {
		const graph = insert(line(step("a"), step("b")), placeAt("a"), step("if", "condition"));
		equals(edgeTexts(graph), ["a - if", "if true b"]);
		equals(edgeTexts(insert(line(step("a"), step("b")), placeAt("a"), step("exit", "exit"))), ["a - exit"]);
		equals(insert(line(step("a")), placeAt(null), step("first")).entry, "first");
	},
	"a deleted step is rejoined with the edge that one chooses"() {
		const graph = diamondGraph();
		equals(edgeTexts(remove(line(step("a"), step("b"), step("c")), "b", null)), ["a - c"]);
		const yes = remove(graph, "if", "true");
		equals([yes.entry, edgeTexts(yes)], ["yes", ["yes - last"]]);
		const no = remove(graph, "if", "false");
		equals(
			[no.entry, edgeTexts(no), lostSteps(graph, no).map((step) => step.id)],
			["no", ["no - last"], ["if", "yes"]],
		);
		equals(remove(graph, "if", undefined), empty);
	},
	"a step that led to itself does not rejoin with itself"() {
		const graph = connect(line(step("a"), step("b")), placeAt("b"), "b");
		equals(edgeTexts(remove(graph, "b", null)), []);
	},
	"a branch that is removed takes with it what only it led to"() {
		const branchConfig = (labels: string[]) => ({ branches: labels.map((label) => ({ label })) });
		let graph = line(step("by", "branch", branchConfig(["a", "b"])));
		for (const label of ["a", "b", "else"]) graph = insert(graph, placeAt("by", label), step(`on_${label}`));
		const reduced = configure(graph, "by", branchConfig(["a"]));
		equals(edgeTexts(reduced), ["by a on_a", "by else on_else"]);
		const renamed = configure(graph, "by", branchConfig(["a", "z"]));
		equals(edgeTexts(renamed), ["by a on_a", "by else on_else", "by z on_b"]);
		equals(edgeTexts(configure(graph, "by", branchConfig(["a", "b", "c"]))), edgeTexts(graph));
	},
	"a wait that becomes one for an event keeps what followed"() {
		const graph = line(step("w", "wait", { mode: "duration" }), step("b"));
		const changed = configure(graph, "w", { mode: "until_event" });
		equals(edgeTexts(changed), ["w met b"]);
		equals(edgeTexts(configure(changed, "w", { mode: "duration" })), ["w - b"]);
	},
	"a copy has new ids, its edges, and refers to its own steps"() {
		const graph = line(
			step("mail", "send"),
			step("w", "wait", { mode: "until_engagement", node_id: "mail" }),
			step("end"),
		);
		const clipboardContent = copy(graph, ["w", "mail"]);
		holds(clipboardContent !== null, "nothing was copied");
		if (!clipboardContent) return;
		let n = 0;
		const pasted = paste(graph, placeAt("end"), clipboardContent, (type) => `${type}${++n}`);
		equals(stepOf(pasted, "wait2")?.config.node_id, "send1");
		equals(edgeTexts(pasted), ["end - send1", "mail - w", "send1 - wait2", "w met end"]);
		const inserted = paste(graph, placeAt("mail"), clipboardContent, (type) => `${type}${++n}`);
		equals(targetOf(inserted, placeAt("wait4", "met")), "w");
		equals(copy(graph, ["nothing"]), null);
	},
	"steps that are copied without those between them follow on each other"() {
		const graph = line(step("a"), step("b"), step("c"), step("d"));
		const clipboardContent = copy(graph, ["a", "c"]);
		equals(
			[clipboardContent?.steps.map((step) => step.id), clipboardContent?.edges, clipboardContent?.exits],
			[["a", "c"], [{ from: "a", label: null, to: "c" }], [placeAt("c")]],
		);
		const ends = copy(line(step("a"), step("w", "exit")), ["a", "w"]);
		equals([ends?.steps.length, ends?.exits], [2, []]);
	},
	"undo and redo go through all changes, and typing is one of them"() {
		const random = new Random(7);
		let history = newHistory(empty);
		const states = [history.now];
		for (let i = 0; i < 60; i++) {
			const next = edit(history.now, random);
			if (next !== history.now) states.push(next);
			history = push(history, next);
		}
		for (const graph of [...states].reverse().slice(1)) {
			history = undo(history);
			equals(history.now, graph, "what undo brings back");
		}
		equals(undo(history), history);
		for (const graph of states.slice(1)) {
			history = redo(history);
			equals(history.now, graph, "what redo brings back");
		}
		equals(redo(history), history);
		const edited = ["a", "ab", "abc"].reduce(
			(history, tag) => push(history, line(step("t", "tag", { tag })), "edit t"),
			newHistory(empty),
		);
		equals(undo(edited).now, empty);
	},
	"joins stand below all edges into them, loops lead back"() {
		const graph = connect(diamondGraph(), placeAt("last"), "if");
		const [root] = outline(graph).roots;
		equals(
			root?.slots.map((slot) => [slot.label, slot.kind]),
			[
				["true", "block"],
				["false", "block"],
			],
		);
		equals(
			root?.joins.map((join) => [join.step.id, join.slots.map((slot) => slot.kind)]),
			[["last", ["loop"]]],
		);
		equals(order(graph), ["if", "yes", "no", "last"]);
	},
	"arrows walk along edges and between them"() {
		const graph = diamondGraph();
		equals(neighbour(graph, "if", "down"), "yes");
		equals(neighbour(graph, "yes", "right"), "no");
		equals(neighbour(graph, "no", "left"), "yes");
		equals(neighbour(graph, "no", "down"), "last");
		equals(neighbour(graph, "yes", "up"), "if");
		const withGoal = addDetached(graph, step("goal", "goal"));
		equals(neighbour(withGoal, "if", "right"), "goal");
		equals(neighbour(withGoal, "goal", "left"), "if");
	},
	"graphs are sound after any edits, and every step can be walked to"() {
		for (let seed = 1; seed <= 25; seed++) {
			const random = new Random(seed);
			let graph = empty;
			for (let i = 0; i < 25; i++) {
				graph = edit(graph, random);
				isSound(graph, `seed ${seed}, edit ${i}`);
			}
			for (const step of graph.steps)
				for (const to of ["up", "down", "left", "right"] as const) {
					const next = neighbour(graph, step.id, to);
					holds(next === null || stepOf(graph, next) !== undefined, `seed ${seed}: ${to} of ${step.id} is no step`);
				}
		}
	},
	"a graph comes back from the server as it was"() {
		for (let seed = 1; seed <= 30; seed++) {
			const random = new Random(seed);
			let graph = empty;
			for (let i = 0; i < 20; i++) graph = edit(graph, random);
			const roundTrip = graphOf(ofServer(graph));
			holds(equal(graph, roundTrip), `seed ${seed}: ${JSON.stringify(difference(graph, roundTrip))}`);
			equals(bodyOf(roundTrip), bodyOf(graph));
		}
	},
	"functions change nothing"() {
		for (let seed = 1; seed <= 25; seed++) {
			const random = new Random(seed);
			let graph = empty;
			for (let i = 0; i < 15; i++) {
				const before = JSON.stringify(graph);
				const next = edit(graph, random);
				equals(JSON.stringify(graph), before);
				graph = next;
			}
		}
	},
	"a stored header that is taken away is a difference"() {
		const webhookGraph = (headers: Config) => line(step("a", "webhook", { headers }));
		holds(
			!equal(webhookGraph({ Authorization: null, "X-Plan": null }), webhookGraph({ "X-Plan": null })),
			"one of two headers",
		);
		holds(
			equal(
				webhookGraph({ Authorization: null, "X-Plan": null }),
				webhookGraph({ "X-Plan": null, Authorization: null }),
			),
			"the order counts",
		);
	},
	"absent and null members are no difference, and the order of edges is none"() {
		const graph = diamondGraph();
		holds(equal(graph, { ...graph, edges: [...graph.edges].reverse() }), "the order of ways counts");
		holds(equal(line(step("a", "tag", { x: null, y: 1 })), line(step("a", "tag", { y: 1 }))), "null counts");
		const d = difference(graph, remove(configure(graph, "yes", { tags: ["x"] }), "no", null));
		equals(
			[d.changed.map((step) => step.id), d.removed.map((step) => step.id), d.reconnected],
			[["yes"], ["no"], true],
		);
	},
};

export default tests;

export { diamondGraph as diamond, edit, isSound, line, step, placeAt as at, edgeTexts as wayTexts };
