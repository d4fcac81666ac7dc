import { holds, Random } from "../../../base/testing";
import type { Change } from "../../../ui/editor/changeBetween";
import { paddingOf, setPadding, sides } from "../padding";
import { snippets } from "../snippets";
import {
	type Act,
	applied,
	duplicate,
	insert,
	isFixed,
	move,
	remove,
	setAttribute,
	setCondition,
	setText,
	step,
	unwrap,
	wrapInCondition,
} from "./acts";
import { attributeValue, contentOf } from "./labels";
import { parse } from "./parse";
import {
	columnsAround,
	type PhoneLook,
	phoneLook,
	phoneSettings,
	placeBelow,
	placeBeside,
	setPhoneLook,
} from "./phones";
import { places } from "./places";
import { type Container, containersOf, type ElementNode, type Node, nodeAt, pathOf, type Tree, walk } from "./tree";

// Random acts on documents, and what has to be so after each. tools/web runs them on the documents of all tests, and
// compiles what comes out.

export type Document = { name: string; text: string; fragment: boolean };

const values = [
	"#336699",
	"0",
	"",
	"a > b & c < \"d\" 'e'",
	'{{ x | default: "a>b" }}',
	"{% if a < b %}1px{% else %}2px{% endif %}",
	"100 {% off",
	"{{ and {",
	"%} }}",
	"&amp; &lt; &copy; &#39; &#123;",
	"Grüße 👩‍🚀 日本",
	"two\nlines",
	"https://example.com/?a=1&b=2&c={{ contact.id }}",
];
const contents = [
	"Hello",
	"",
	"a < b & c",
	"<b>bold</b><br>line",
	"{% for x in (1..3) %}<i>{{ x }}</i>{% endfor %}",
	'<a href="{{ url | default: "</mj-text>" }}">{{ name }}</a>',
	"<!-- </mj-text> -->",
	"<p>one<p>two",
	"Grüße 👩‍🚀 &amp; &nbsp;日本",
	"\n  <p>\n    lines\n  </p>\n",
	"</mj-text>",
	"{% if x %}",
	"{% endif %}",
	"<![CDATA[ </mj-text> ]]>",
	"<script>",
];

/** inverse returns the changes that undo others. */
function inverse(text: string, changes: Change[]): Change[] {
	let shift = 0;
	return changes.map(({ from, to, insert }) => {
		const start = from + shift;
		shift += insert.length - (to - from);
		return { from: start, to: start + insert.length, insert: text.slice(from, to) };
	});
}

/** bare is a code without the blanks that lines begin and end with. */
const bare = (code: string) => code.replace(/\s*\n\s*/g, "\n").trim();

/** isText reports whether a node is text that is dropped: two of them can become one. */
const isText = (node: Node) => node.kind === "opaque" && node.what === "text";

/** census counts the nodes of a tree by what they are. */
function census(container: Container): { [what: string]: number } {
	const counts: { [what: string]: number } = {};
	for (const node of walk(container)) {
		if (isText(node)) continue;
		const what = node.kind === "element" ? node.tag : node.kind === "opaque" ? node.what : node.name;
		counts[what] = (counts[what] ?? 0) + 1;
	}
	return counts;
}

/** differ fails unless a tree has what another one has, and more or less by a factor of what some nodes have. */
function differ(before: Tree, after: Tree, nodes: Node[], factor: number) {
	const want = census(before.root);
	for (const node of nodes)
		for (const [what, count] of Object.entries(census({ ...before.root, children: [node] })))
			want[what] = (want[what] ?? 0) + factor * count;
	const got = census(after.root);
	for (const what of new Set([...Object.keys(want), ...Object.keys(got)]))
		holds((want[what] ?? 0) === (got[what] ?? 0), `${what} is there ${got[what] ?? 0} times; want ${want[what] ?? 0}`);
}

type Tried = { what: string; act: Act | null; check: (after: Tree, node: Node) => void; needed: boolean };

/** An attempt at an act: what it has to have done, and whether it may not be refused. */
type Attempt = (tree: Tree, nodes: Node[], random: Random) => Tried | null;

const parentName = (container: Container) =>
	container.kind === "element" ? container.tag : container.kind === "branch" ? container.name : container.kind;

const codeIn = (tree: Tree, node: Node) => tree.text.slice(node.from, node.to);

const moved = (tree: Tree, node: Node, place: { parent: Container; index: number }) => (after: Tree, landed: Node) => {
	differ(tree, after, [], 0);
	holds(bare(codeIn(after, landed)) === bare(codeIn(tree, node)), "the code of what was moved is another");
	holds(parentName(landed.parent) === parentName(place.parent), "it landed in something else");
	const others = (nodes: Node[]) => nodes.filter((other) => other !== node && !isText(other)).length;
	const at = landed.parent.children.indexOf(landed);
	holds(
		others(landed.parent.children.slice(0, at)) === others(place.parent.children.slice(0, place.index)),
		"it landed at another place",
	);
};

const attempts: { [name: string]: Attempt } = {
	insert(tree, _, random) {
		const { id, tag, code } = random.of(snippets());
		const all = places(tree, tag);
		if (all.length === 0) return null;
		const place = random.of(all);
		const fragment = parse(code, true) as Tree;
		const check = (after: Tree, node: Node) => {
			differ(tree, after, fragment.root.children, 1);
			holds(bare(codeIn(after, node)) === bare(code), "the code is not what was inserted");
			const before = (nodes: Node[]) => nodes.filter((other) => !isText(other)).length;
			const at = node.parent.children.indexOf(node);
			holds(
				before(node.parent.children.slice(0, at)) === before(place.parent.children.slice(0, place.index)),
				"it is at another place",
			);
			holds(parentName(node.parent) === parentName(place.parent), "it is in something else");
		};
		return { what: `insert ${id}`, act: insert(tree, place, code), check, needed: true };
	},
	move(tree, nodes, random) {
		const node = random.of(nodes);
		const all = places(tree, node);
		if (all.length === 0 || isFixed(node)) return null;
		const place = random.of(all);
		return { what: "move", act: move(tree, node, place), check: moved(tree, node, place), needed: true };
	},
	step(tree, nodes, random) {
		const node = random.of(nodes);
		const place = step(node, random.of([-1, 1]));
		if (!place || isFixed(node)) return null;
		const known = node.kind !== "opaque" || node.what !== "unknown";
		return {
			what: "step",
			act: move(tree, node, place),
			check: moved(tree, node, place),
			needed:
				known && places(tree, node).length > 0 && places(tree, node).some((other) => other.parent === place.parent),
		};
	},
	duplicate(tree, nodes, random) {
		const node = random.of(nodes);
		const check = (after: Tree, copy: Node) => {
			differ(tree, after, [node], 1);
			holds(codeIn(after, copy) === codeIn(tree, node), "the copy is another");
		};
		return { what: "duplicate", act: duplicate(tree, node), check, needed: !isFixed(node) };
	},
	remove(tree, nodes, random) {
		const node = random.of(nodes);
		return {
			what: "remove",
			act: remove(tree, node),
			check: (after) => differ(tree, after, [node], -1),
			needed: !isFixed(node),
		};
	},
	setAttribute(tree, nodes, random) {
		const element = random.of(nodes);
		if (element.kind !== "element" || element.tag === "mj-selector") return null; // it names HTML by a pattern
		const had = element.attributes.map((attribute) => attribute.name);
		const name = random.of([...had, ...had, "color", "css-class", "title"]);
		const value = random.of([null, ...values]);
		const check = (after: Tree, node: Node) => {
			differ(tree, after, [], 0);
			const now = node as ElementNode;
			holds((attributeValue(after, now, name) ?? null) === value, `${name} is ${attributeValue(after, now, name)}`);
			for (const other of had)
				holds(
					other === name || attributeValue(after, now, other) === attributeValue(tree, element, other),
					`${other} changed`,
				);
			holds(
				now.attributes.length === new Set([...had, name]).size - (value === null ? 1 : 0),
				"the attributes are others",
			);
		};
		const same = (attributeValue(tree, element, name) ?? null) === value;
		return { what: `set ${name} to ${value}`, act: setAttribute(tree, element, name, value), check, needed: !same };
	},
	setText(tree, nodes, random) {
		const element = random.of(nodes);
		if (element.kind !== "element" || element.content !== "html") return null;
		const html = random.of(contents);
		const check = (after: Tree, node: Node) => {
			differ(tree, after, [], 0);
			holds(contentOf(after, node as ElementNode) === html, "the text is another");
		};
		return {
			what: `write ${html}`,
			act: setText(tree, element, html),
			check,
			needed: html === "Hello" && contentOf(tree, element) !== html,
		};
	},
	wrap(tree, nodes, random) {
		const first = random.of(nodes);
		const siblings = first.parent.children;
		const at = siblings.indexOf(first);
		const last = siblings[at + random.below(siblings.length - at)] as Node;
		const check = (after: Tree, node: Node) => {
			holds(node.kind === "condition" && node.branches[0]?.code === 'plan == "pro"', "it is no condition");
			differ(tree, after, [], 0);
		};
		const act = wrapInCondition(tree, first, last, 'plan == "pro"');
		const without = (after: Tree, node: Node) => {
			const again = unwrap(after, node as never);
			holds(again !== null && bare(applied(after.text, again.changes)) === bare(tree.text), "it cannot be unwrapped");
			if (node.kind === "condition")
				check({ ...after, root: { ...after.root, children: open(after.root.children, node) } }, node);
		};
		return { what: "wrap", act, check: without, needed: false };
	},
	setPadding(tree, nodes, random) {
		const element = random.of(nodes);
		if (element.kind !== "element" || element.tag === "mj-selector") return null;
		const side = random.of(sides);
		const value = random.of([null, "0px", "0", "10px", "37px", "5%", "{{ x }}px"]);
		const old = sides.map((one) => paddingOf(tree, element, one));
		const check = (after: Tree, node: Node) => {
			differ(tree, after, [], 0);
			sides.forEach((one, i) => {
				const now = paddingOf(after, node as ElementNode, one);
				const want = one === side ? value : old[i];
				const isZero = (length: string | null | undefined) => length === "0" || length === "0px";
				holds(want === null || now === want || (isZero(now) && isZero(want)), `${one} is ${now}; want ${want}`);
			});
		};
		return { what: `pad ${side} by ${value}`, act: setPadding(tree, element, side, value), check, needed: false };
	},
	setPhoneLook(tree, nodes, random) {
		const element = random.of(nodes);
		const settings = element.kind === "element" ? phoneSettings(element) : null;
		if (element.kind !== "element" || !settings) return null;
		const name = random.of(settings);
		const values = {
			shown: ["not", "only"],
			size: ["18px", "11px"],
			align: ["left", "center"],
			padding: ["8px", "0 16px"],
		};
		const value = random.of([undefined, ...values[name]]);
		const [before, others] = [phoneLook(tree, element), nodes.filter((node) => node !== element)];
		const looks = (all: Node[], of: Tree) =>
			all.map((node) => (node.kind === "element" ? JSON.stringify(phoneLook(of, node)) : ""));
		const check = (after: Tree, node: Node) => {
			const now: PhoneLook = phoneLook(after, node as ElementNode);
			for (const one of settings)
				holds(now[one] === (one === name ? value : before[one]), `${one} on phones is ${now[one]}`);
			const isElement = (one: Node) => one.kind === "element" && phoneSettings(one) !== null;
			const rest = [...walk(after.root)].filter((one) => one !== node && isElement(one));
			holds(
				looks(rest, after).join() === looks(others.filter(isElement), tree).join(),
				"another element looks different on phones",
			);
		};
		const act = setPhoneLook(tree, element, { [name]: value });
		return { what: `on phones ${name} ${value}`, act, check, needed: false };
	},
	columns(tree, nodes, random) {
		const element = random.of(nodes);
		const columns = element.kind === "element" ? columnsAround(element) : null;
		if (!columns || columns.stand === "mixed") return null;
		const { section, group, stand } = columns;
		const act = group ? placeBelow(tree, group) : placeBeside(tree, section);
		const check = (after: Tree, node: Node) => {
			const again = node.kind === "element" ? columnsAround(node) : null;
			const isOther = again?.stand === (stand === "below" ? "beside" : "below");
			holds(node.kind !== "element" || isOther, `the columns stand ${again?.stand}`);
			if (again?.group && stand === "below") {
				const back = placeBelow(after, again.group);
				holds(back !== null && bare(applied(after.text, back.changes)) === bare(tree.text), "it cannot be taken back");
			}
		};
		return { what: `columns ${stand}`, act, check, needed: false };
	},
	unwrap(tree, nodes, random) {
		const node = random.of(nodes);
		if (node.kind !== "condition") return null;
		return { what: "unwrap", act: unwrap(tree, node), check: () => undefined, needed: false };
	},
	setCondition(tree, nodes, random) {
		const node = random.of(nodes);
		if (node.kind !== "condition") return null;
		const branch = random.of(node.branches);
		if (branch.name === "for" || branch.name === "#section" || branch.name === "capture") return null;
		const check = (after: Tree, landed: Node) => {
			const now = landed as typeof node;
			holds(now.branches[node.branches.indexOf(branch)]?.code === "points > 10", "the condition is another");
			differ(tree, after, [], 0);
		};
		const needed = branch.code !== "" && branch.code !== "points > 10";
		return { what: "set condition", act: setCondition(tree, branch, "points > 10"), check, needed };
	},
};

/** open returns nodes with what a condition encloses in its place. */
function open(nodes: Node[], condition: Node): Node[] {
	return nodes.flatMap((node): Node[] => {
		if (node === condition && node.kind === "condition") return node.branches.flatMap((branch) => branch.children);
		if (node.kind === "element") return [{ ...node, children: open(node.children, condition) }];
		if (node.kind === "condition")
			return [
				{
					...node,
					branches: node.branches.map((branch) => ({ ...branch, children: open(branch.children, condition) })),
				},
			];
		return [node];
	});
}

/** Outcome is a text after an act, how it was made, and how often which act was tried and done. */
export type Outcome = { name: string; what: string; text: string };

/**
 * randomActs does acts on a document, each on what the one before left, or on the document again, and fails unless each
 * does what it says: no other characters change, undo brings every one back, and the tree has what it has to have.
 */
export function randomActs(document: Document, seed: number, count: number): Outcome[] {
	const random = new Random(seed);
	const outcomes: Outcome[] = [];
	const start = parse(document.text, document.fragment);
	if (start.broken) throw new Error(`${document.name} is broken at ${start.broken.at}: ${start.broken.why}`);
	let tree = start;
	for (let tries = 0; outcomes.length < count; tries++) {
		if (tries > count * 50) break; // there is nothing to do in it
		if (random.below(8) === 0 || tree.text.length > 1.3 * document.text.length + 3000) tree = start;
		const nodes = [...walk(tree.root)];
		const name = random.of(Object.keys(attempts));
		const tried = nodes.length > 0 || name === "insert" ? attempts[name]?.(tree, nodes, random) : null;
		if (!tried) continue;
		const where = `${document.name}, seed ${seed}, ${tried.what}`;
		if (!tried.act) {
			holds(!tried.needed, `${where}: refused in\n${tree.text}`);
			continue;
		}
		try {
			tree = checked(tree, tried, tried.act);
		} catch (error) {
			throw new Error(
				`${where}: ${error instanceof Error ? error.message : error}; ${JSON.stringify(tried.act)} in\n${tree.text}`,
			);
		}
		outcomes.push({ name: document.name, what: tried.what, text: tree.text });
	}
	return outcomes;
}

function checked(tree: Tree, { check }: Tried, { changes, select }: Act): Tree {
	let last = 0;
	for (const { from, to } of changes) {
		holds(last <= from && from <= to && to <= tree.text.length, "changes overlap, or leave the text");
		last = to;
	}
	const text = applied(tree.text, changes);
	holds(applied(text, inverse(tree.text, changes)) === tree.text, "undo does not bring the text back");
	const after = parse(text, tree.root.fragment);
	if (after.broken) throw new Error(`broken at ${after.broken.at}: ${after.broken.why}`);
	const node = nodeAt(after, select);
	if (node) {
		holds(pathOf(node).at(-1) === node, "a path does not end with its node");
		for (const container of containersOf(node))
			for (const child of container.children) holds(child.parent === container, "a child has another parent");
		check(after, node);
	} else holds(select === 0 && after.root.fragment, "nothing is selected");
	return after;
}

/** brokenAt tells where a document is broken, and why; null if it is not. */
export function brokenAt(document: Document): { at: number; why: string } | null {
	return parse(document.text, document.fragment).broken ?? null;
}
