import { equals, holds, type Tests } from "../../base/testing";
import { bestPlace, insertSnippet } from "./inserting";
import { landings, nearest } from "./landing";
import { applied } from "./model/acts";
import { parse } from "./model/parse";
import { places } from "./model/places";
import { type ElementNode, type Tree, walk } from "./model/tree";
import { mapped, View } from "./picture";
import { snippets } from "./snippets";

const read = (text: string, fragment = false) => {
	const tree = parse(text, fragment);
	if (tree.broken) throw new Error(`broken at ${tree.broken.at}`);
	return tree;
};
const all = (tree: Tree, tag: string) =>
	[...walk(tree.root)].filter((node): node is ElementNode => node.kind === "element" && node.tag === tag);

const text =
	"<mjml><mj-body><mj-section><mj-column><mj-text>1</mj-text><mj-text>2</mj-text></mj-column><mj-column></mj-column></mj-section></mj-body></mjml>";

const box = (y: number, height: number, x = 0, width = 300) => ({ x, y, width, height });

const tests: Tests = {
	"positions of one text are those of another, but in what differs"() {
		const at = mapped("abcdef", "abXYef");
		equals([0, 1, 2, 3, 4, 5].map(at), [0, 1, null, null, 4, 5]);
		equals([mapped("ab", "aXb")(1), mapped("aXb", "ab")(2), mapped("aa", "aaa")(1)], [2, 1, 1]);
	},
	"what is shown of a node is found by its mark, also after the text has changed"() {
		const tree = read(text.replace("1", "one"));
		const [first, second] = all(tree, "mj-text");
		const marks = all(read(text), "mj-text").map((node) => node.from);
		const view = new View(tree, text, [
			{ mark: marks[0] ?? 0, ...box(0, 20) },
			{ mark: marks[1] ?? 0, ...box(20, 20) },
			{ mark: marks[1] ?? 0, ...box(40, 20) },
		]);
		holds(view.nodeOf(marks[1] ?? 0) === second && view.nodeOf(-1) === null, "the nodes are others");
		equals(first && view.boxesOf(first), [box(0, 20)]);
		equals(second && view.boxesOf(second), [box(20, 20), box(40, 20)]);
	},
	"a condition and a comment are shown where what they enclose is"() {
		const code =
			"<mj-section><mj-column><mj-raw>{% if a %}</mj-raw><mj-text>1</mj-text><mj-text>2</mj-text><mj-raw>{% endif %}</mj-raw><mj-text>3</mj-text></mj-column></mj-section>";
		const tree = read(code, true);
		const marks = all(tree, "mj-text").map((node) => node.from);
		// The last one repeats as often as a mail may show it.
		const rects = [...marks, ...Array.from({ length: 9000 }, () => marks[2] ?? 0)];
		const view = new View(
			tree,
			code,
			rects.map((mark, i) => ({ mark, ...box(20 * i, 20) })),
		);
		const condition = [...walk(tree.root)].find((node) => node.kind === "condition");
		equals(condition && view.boxesOf(condition), [box(0, 40)]);
		const [last] = all(tree, "mj-text").slice(-1);
		equals(last && view.boxesOf(last).length, 9001);
	},
	"what is dragged lands between the nearest neighbours, and in what is empty"() {
		const tree = read(text);
		const [left, right] = all(tree, "mj-column");
		const marks: [ElementNode | undefined, ReturnType<typeof box>][] = [
			[left, box(0, 40)],
			[right, box(0, 40, 300)],
			[all(tree, "mj-text")[0], box(0, 20)],
			[all(tree, "mj-text")[1], box(20, 20)],
		];
		const view = new View(
			tree,
			text,
			marks.map(([node, shown]) => ({ mark: node?.from ?? -1, ...shown })),
		);
		const texts = landings(places(tree, "mj-text"), view);
		const landing = (x: number, y: number) => {
			const place = nearest(texts, x, y)?.place;
			return place && [place.parent === left ? "left" : "right", place.index];
		};
		equals(
			[landing(10, 3), landing(10, 17), landing(10, 38), landing(400, 20)],
			[
				["left", 0],
				["left", 1],
				["left", 2],
				["right", 0],
			],
		);
		const columns = landings(places(tree, "mj-column"), view).map(({ box }) => [box.x, box.width]);
		equals(columns, [
			[0, 0],
			[300, 0],
			[600, 0],
		]);
	},
	"what is added goes into what is selected, behind it, or to the end; what has no place gets a section"() {
		const tree = read(text);
		const place = (selected: ElementNode | undefined, tag: string) => {
			const found = bestPlace(tree, selected ?? null, tag);
			return found?.parent.kind === "element" && `${found.parent.tag} ${found.index}`;
		};
		equals(
			[
				place(all(tree, "mj-text")[0], "mj-button"),
				place(all(tree, "mj-section")[0], "mj-button"),
				place(all(tree, "mj-text")[0], "mj-section"),
				place(undefined, "mj-hero"),
			],
			["mj-column 1", "mj-column 2", "mj-body 1", "mj-body 1"],
		);
		for (const [code, fragment] of [
			["<mjml><mj-body></mj-body></mjml>", false],
			["<mjml><mj-body /></mjml>", false],
			["", true],
			["<mj-section></mj-section>", true],
			["<mj-text>1</mj-text>", true],
		] as const) {
			for (const snippet of snippets()) {
				const empty = read(code, fragment);
				const act = insertSnippet(empty, null, snippet);
				if (!act && code.startsWith("<mj-text>") && !["mj-section", "mj-hero"].includes(snippet.tag))
					throw new Error(`${snippet.id} has no place`);
				const after = act && parse(applied(code, act.changes), fragment);
				holds(
					!after || (!after.broken && all(after, snippet.tag).length + Number(snippet.tag === "mj-raw") > 0),
					`${snippet.id} is not in ${after?.text}`,
				);
			}
		}
	},
};

export default tests;
