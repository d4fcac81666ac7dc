import type { Sequence } from "../../api/schema";
import { equals, holds, Random, type Tests } from "../../base/testing";
import {
	addApart,
	begin,
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
	lead,
	lost,
	neighbour,
	order,
	outline,
	paste,
	type Place,
	placesOf,
	prune,
	push,
	reached,
	redo,
	remove,
	removeAll,
	type Step,
	type StepType,
	stepOf,
	targetOf,
	undo,
} from "./graph";

let made = 0;
const name = (type: StepType) => `${type}_${++made}`;
const step = (id: string, type: StepType = "tag", config: Config = {}): Step => ({ id, type, config });
const at = (from: string | null, label: string | null = null): Place => ({ from, label });

/** Returns a graph of steps one after the other. */
const line = (...steps: Step[]) =>
	steps.reduce((g, s, i) => {
		const before = steps[i - 1];
		return insert(g, before ? at(before.id, labelsOf(before)[0]) : at(null), s);
	}, empty);

/** Returns a yes-or-no step with a step on each way, which join in a last one. */
function diamond(): Graph {
	let g = line(step("if", "condition"));
	g = insert(g, at("if", "true"), step("yes"));
	g = insert(g, at("if", "false"), step("no"));
	g = insert(g, at("yes"), step("last"));
	return lead(g, at("no"), "last");
}

const wayTexts = (g: Graph) => g.ways.map((w) => `${w.from} ${w.label ?? "-"} ${w.to}`).sort();

/** What holds of every graph that is edited. */
function isSound(g: Graph, what: string) {
	const ids = g.steps.map((s) => s.id);
	holds(new Set(ids).size === ids.length, `${what}: two steps have one id`);
	holds(g.entry === null || ids.includes(g.entry), `${what}: it begins with a step that is not there`);
	const places = new Set<string>();
	for (const w of g.ways) {
		const from = stepOf(g, w.from);
		holds(
			from !== undefined && stepOf(g, w.to) !== undefined,
			`${what}: the way ${w.from} to ${w.to} leads from or to nothing`,
		);
		holds(labelsOf(from as Step).includes(w.label), `${what}: ${w.from} has no way ${w.label}`);
		const place = `${w.from} ${w.label}`;
		holds(!places.has(place), `${what}: ${place} leads to two steps`);
		places.add(place);
	}
	equals(reached(g).size, g.steps.length, `${what}: the number of steps that people reach`);
	// Both views show each step once.
	equals([...order(g)].sort(), [...ids].sort(), `${what}: the steps in order`);
}

/** One configuration of each type of step that has another kind of way out. */
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
function edit(g: Graph, random: Random): Graph {
	const places = [at(null), ...g.steps.flatMap(placesOf)];
	const some = () => random.of(g.steps).id;
	const fresh = () => {
		const k = random.of(kinds);
		return step(name(k.type), k.type, random.of(k.configs));
	};
	if (g.steps.length === 0) return insert(g, at(null), fresh());
	switch (random.below(9)) {
		case 0:
		case 1:
		case 2:
			return insert(g, random.of(places), fresh());
		case 3: {
			const s = random.of(g.steps);
			return remove(g, s.id, random.of([...labelsOf(s), undefined]));
		}
		case 4:
			return removeAll(g, [some(), some()]);
		case 5: {
			const s = random.of(g.steps);
			return configure(g, s.id, random.of(kinds.find((k) => k.type === s.type)?.configs ?? [{}]));
		}
		case 6: {
			const clip = copy(g, [some(), some(), some()]);
			return clip ? paste(g, random.of(places), clip, name) : g;
		}
		case 7:
			return prune(lead(g, random.of(places), random.of([some(), null]))); // a join, a loop or an end
		default:
			return addApart(g, step(name("goal"), "goal", { definition: {} }));
	}
}

const ofServer = (g: Graph): Sequence => {
	const body = JSON.parse(JSON.stringify(bodyOf(g)));
	return { entry_node_id: body.entry_node_id || null, nodes: body.nodes, edges: body.edges } as unknown as Sequence;
};

const tests: Tests = {
	"a step that is inserted takes what followed on its first way"() {
		const g = insert(line(step("a"), step("b")), at("a"), step("if", "condition"));
		equals(wayTexts(g), ["a - if", "if true b"]);
		equals(wayTexts(insert(line(step("a"), step("b")), at("a"), step("exit", "exit"))), ["a - exit"]);
		equals(insert(line(step("a")), at(null), step("first")).entry, "first");
	},
	"a deleted step is rejoined with the way that one chooses"() {
		const g = diamond();
		equals(wayTexts(remove(line(step("a"), step("b"), step("c")), "b", null)), ["a - c"]);
		const yes = remove(g, "if", "true");
		equals([yes.entry, wayTexts(yes)], ["yes", ["yes - last"]]);
		const no = remove(g, "if", "false");
		equals([no.entry, wayTexts(no), lost(g, no).map((s) => s.id)], ["no", ["no - last"], ["if", "yes"]]);
		equals(remove(g, "if", undefined), empty);
	},
	"a step that led to itself does not rejoin with itself"() {
		const g = lead(line(step("a"), step("b")), at("b"), "b");
		equals(wayTexts(remove(g, "b", null)), []);
	},
	"a branch that is removed takes with it what only it led to"() {
		const two = (labels: string[]) => ({ branches: labels.map((label) => ({ label })) });
		let g = line(step("by", "branch", two(["a", "b"])));
		for (const label of ["a", "b", "else"]) g = insert(g, at("by", label), step(`on_${label}`));
		const less = configure(g, "by", two(["a"]));
		equals(wayTexts(less), ["by a on_a", "by else on_else"]);
		const renamed = configure(g, "by", two(["a", "z"]));
		equals(wayTexts(renamed), ["by a on_a", "by else on_else", "by z on_b"]);
		equals(wayTexts(configure(g, "by", two(["a", "b", "c"]))), wayTexts(g));
	},
	"a wait that becomes one for an event keeps what followed"() {
		const g = line(step("w", "wait", { mode: "duration" }), step("b"));
		const until = configure(g, "w", { mode: "until_event" });
		equals(wayTexts(until), ["w met b"]);
		equals(wayTexts(configure(until, "w", { mode: "duration" })), ["w - b"]);
	},
	"a copy has new ids, its ways, and refers to its own steps"() {
		const g = line(step("mail", "send"), step("w", "wait", { mode: "until_engagement", node_id: "mail" }), step("end"));
		const clip = copy(g, ["w", "mail"]);
		holds(clip !== null, "nothing was copied");
		if (!clip) return;
		let n = 0;
		const pasted = paste(g, at("end"), clip, (type) => `${type}${++n}`);
		equals(stepOf(pasted, "wait2")?.config.node_id, "send1");
		equals(wayTexts(pasted), ["end - send1", "mail - w", "send1 - wait2", "w met end"]);
		const between = paste(g, at("mail"), clip, (type) => `${type}${++n}`);
		equals(targetOf(between, at("wait4", "met")), "w");
		equals(copy(g, ["nothing"]), null);
	},
	"steps that are copied without those between them follow on each other"() {
		const g = line(step("a"), step("b"), step("c"), step("d"));
		const clip = copy(g, ["a", "c"]);
		equals(
			[clip?.steps.map((s) => s.id), clip?.ways, clip?.out],
			[["a", "c"], [{ from: "a", label: null, to: "c" }], [at("c")]],
		);
		const ends = copy(line(step("a"), step("w", "exit")), ["a", "w"]);
		equals([ends?.steps.length, ends?.out], [2, []]);
	},
	"undo and redo go through all changes, and typing is one of them"() {
		const random = new Random(7);
		let h = begin(empty);
		const seen = [h.now];
		for (let i = 0; i < 60; i++) {
			const next = edit(h.now, random);
			if (next !== h.now) seen.push(next);
			h = push(h, next);
		}
		for (const g of [...seen].reverse().slice(1)) {
			h = undo(h);
			equals(h.now, g, "what undo brings back");
		}
		equals(undo(h), h);
		for (const g of seen.slice(1)) {
			h = redo(h);
			equals(h.now, g, "what redo brings back");
		}
		equals(redo(h), h);
		const typed = ["a", "ab", "abc"].reduce(
			(x, tag) => push(x, line(step("t", "tag", { tag })), "edit t"),
			begin(empty),
		);
		equals(undo(typed).now, empty);
	},
	"joins stand below all ways into them, loops lead back"() {
		const g = lead(diamond(), at("last"), "if");
		const [root] = outline(g).roots;
		equals(
			root?.slots.map((s) => [s.label, s.kind]),
			[
				["true", "block"],
				["false", "block"],
			],
		);
		equals(
			root?.joins.map((j) => [j.step.id, j.slots.map((s) => s.kind)]),
			[["last", ["loop"]]],
		);
		equals(order(g), ["if", "yes", "no", "last"]);
	},
	"arrows walk along ways and between them"() {
		const g = diamond();
		equals(neighbour(g, "if", "down"), "yes");
		equals(neighbour(g, "yes", "right"), "no");
		equals(neighbour(g, "no", "left"), "yes");
		equals(neighbour(g, "no", "down"), "last");
		equals(neighbour(g, "yes", "up"), "if");
		const apart = addApart(g, step("goal", "goal"));
		equals(neighbour(apart, "if", "right"), "goal");
		equals(neighbour(apart, "goal", "left"), "if");
	},
	"graphs are sound after any edits, and every step can be walked to"() {
		for (let seed = 1; seed <= 25; seed++) {
			const random = new Random(seed);
			let g = empty;
			for (let i = 0; i < 25; i++) {
				g = edit(g, random);
				isSound(g, `seed ${seed}, edit ${i}`);
			}
			for (const s of g.steps)
				for (const to of ["up", "down", "left", "right"] as const) {
					const next = neighbour(g, s.id, to);
					holds(next === null || stepOf(g, next) !== undefined, `seed ${seed}: ${to} of ${s.id} is no step`);
				}
		}
	},
	"a graph comes back from the server as it was"() {
		for (let seed = 1; seed <= 30; seed++) {
			const random = new Random(seed);
			let g = empty;
			for (let i = 0; i < 20; i++) g = edit(g, random);
			const back = graphOf(ofServer(g));
			holds(equal(g, back), `seed ${seed}: ${JSON.stringify(difference(g, back))}`);
			equals(bodyOf(back), bodyOf(g));
		}
	},
	"functions change nothing"() {
		for (let seed = 1; seed <= 25; seed++) {
			const random = new Random(seed);
			let g = empty;
			for (let i = 0; i < 15; i++) {
				const before = JSON.stringify(g);
				const next = edit(g, random);
				equals(JSON.stringify(g), before);
				g = next;
			}
		}
	},
	"a stored header that is taken away is a difference"() {
		const calling = (headers: Config) => line(step("a", "webhook", { headers }));
		holds(!equal(calling({ Authorization: null, "X-Plan": null }), calling({ "X-Plan": null })), "one of two headers");
		holds(
			equal(calling({ Authorization: null, "X-Plan": null }), calling({ "X-Plan": null, Authorization: null })),
			"the order counts",
		);
	},
	"absent and null members are no difference, and the order of ways is none"() {
		const g = diamond();
		holds(equal(g, { ...g, ways: [...g.ways].reverse() }), "the order of ways counts");
		holds(equal(line(step("a", "tag", { x: null, y: 1 })), line(step("a", "tag", { y: 1 }))), "null counts");
		const d = difference(g, remove(configure(g, "yes", { tags: ["x"] }), "no", null));
		equals([d.changed.map((s) => s.id), d.removed.map((s) => s.id), d.moved], [["yes"], ["no"], true]);
	},
};

export default tests;

export { diamond, edit, isSound, line, step, at, wayTexts };
