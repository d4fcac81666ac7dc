import { equals, type Tests } from "../../base/testing";
import { parse } from "./model/parse";
import { containersOf, type Node, type Tree, walk } from "./model/tree";
import { nodeNow, type Target, targetNow } from "./targets";

const mail = (...lines: string[]) => `<mj-section>\n<mj-column>\n${lines.join("\n")}\n</mj-column>\n</mj-section>\n`;
const [one, image, two] = ["<mj-text>1</mj-text>", '<mj-image src="a" />', "<mj-text>2</mj-text>"];
const read = (text: string) => parse(text, true) as Tree;
const nodeOf = (tree: Tree, code: string) =>
	[...walk(tree.root)].find((node) => tree.text.startsWith(code, node.from)) as Node;

/** written says where images go in a mail that was another one before. */
function written(before: string, after: string, target: (tree: Tree) => Omit<Target, "text">, count = 1): string {
	const [old, tree] = [read(before), read(after)];
	const where = targetNow(tree, { ...target(old), text: before } as Target, count);
	if (!where) return "gone";
	const code = (node: Node | null | undefined) => (node ? tree.text.slice(node.from, node.to) : "nothing");
	if ("replaced" in where) return `over ${code(where.replaced)}`;
	if ("selected" in where) return `behind ${code(where.selected)}`;
	return `before ${code(where.place.parent.children[where.place.index])}`;
}

const before = mail(one, image, two);

const tests: Tests = {
	"dropped images land at the neighbours of their place"() {
		const place = (index: number) => (tree: Tree) => {
			const column = nodeOf(tree, "<mj-column");
			return { kind: "place", place: { parent: containersOf(column)[0], index } } as Omit<Target, "text">;
		};
		const more = mail("<mj-divider />", one, "<mj-text>new</mj-text>", image, two, "<mj-spacer />");
		equals(written(before, more, place(0)), `before ${one}`);
		equals(written(before, more, place(1)), `before ${image}`);
		equals(written(before, more, place(3)), "before <mj-spacer />");
		equals(written(before, mail(one, two), place(1)), `before ${two}`, "the next one is gone");
		equals(written(before, mail("<mj-spacer />"), place(1)), "gone", "both neighbours are gone");
		equals(written(mail(), mail(one), place(0)), `before ${one}`, "it was empty");
		equals(written(before, "<mj-section>\n</mj-section>\n", place(1)), "gone", "the column is gone");
	},
	"an image is only put over the one that it was dropped on"() {
		const over = (tree: Tree) => ({ kind: "replace", node: nodeOf(tree, image).from }) as Omit<Target, "text">;
		const changed = '<mj-image src="a" alt="b" />';
		equals(written(before, mail("<mj-spacer />", one, changed, two, "<mj-spacer />"), over), `over ${changed}`);
		equals(written(before, mail(one, two), over), "gone");
		equals(written(before, mail(one, '<mj-text src="a" />', two), over), "gone", "it is another element");
		equals(written(before, before, over, 2), `behind ${image}`, "several images");
	},
	"images go behind what is selected, and nowhere once that is gone"() {
		const behind = (code: string | null) => (tree: Tree) =>
			({ kind: "behind", node: code && nodeOf(tree, code).from }) as Omit<Target, "text">;
		equals(written(before, mail("<mj-spacer />", one, two, "<mj-spacer />"), behind(two)), `behind ${two}`);
		equals(written(before, mail(one, image), behind(two)), "gone");
		equals(written(before, mail(one), behind(null)), "behind nothing");
	},
	"a node is found after changes before and behind it"() {
		const after = read(mail("<mj-spacer />", one, image, two, "<mj-spacer />"));
		equals(nodeNow(after, before, before.indexOf(image))?.from, after.text.indexOf(image));
	},
};
export default tests;
