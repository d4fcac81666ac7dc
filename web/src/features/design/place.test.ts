import { equals, holds, type Tests } from "../../base/testing";
import { applied, duplicate, insert, remove, setText } from "./model/acts";
import { parse } from "./model/parse";
import { find, nodeAt, type Tree, walk } from "./model/tree";
import { acted, follows, newId } from "./place";

const text = `<mjml>\r
	<mj-body>\r
		<mj-section>\r
			<mj-column>\r
				<mj-text>One</mj-text>\r
				<mj-text>Two</mj-text>\r
			</mj-column>\r
		</mj-section>\r
	</mj-body>\r
</mjml>\r
`;

const read = (text: string) => {
	const tree = parse(text);
	if (tree.broken) throw new Error(`broken at ${tree.broken.at}`);
	return tree;
};
const placeOf = (tree: Tree, words: string) => ({
	text: tree.text,
	at: [...walk(tree.root)].find((node) => node.kind === "element" && tree.text.slice(node.open.to).startsWith(words))
		?.from as number,
	edits: true,
	id: newId(),
});
const codeAt = (tree: Tree, at: number) => {
	const node = nodeAt(tree, at) ?? find(tree, at);
	return node && tree.text.slice(node.from, node.to);
};

const tests: Tests = {
	"what is selected follows its element when others write around it"() {
		const tree = read(text);
		const place = placeOf(tree, "Two");
		const others = [
			text.replace("<mj-section>", "<!-- theirs -->\r\n\t\t<mj-section padding='0'>"),
			text.replace("One", "1").replace("</mj-body>", "\t<mj-section></mj-section>\r\n\t</mj-body>"),
			text.replace("<mj-body>", "<mj-body width='1px'>").replace("Two", "Too").replace("</mjml>", "</mjml>\r\n"),
			text.replace("\t\t\t\t<mj-text>One</mj-text>\r\n", ""),
			text.replace("\t\t\t\t<mj-text>Two", "\t\t\t\t<mj-text>New</mj-text>\r\n\t\t\t\t<mj-text>Two"),
		];
		for (const other of others) {
			const { at, id, edits } = follows(place, other);
			equals(
				[codeAt(read(other), at)?.replace("Too", "Two"), id, edits],
				["<mj-text>Two</mj-text>", place.id, true],
				other,
			);
		}
		holds(follows(place, text) === place, "the same text changes nothing");
	},
	"what is gone leaves its neighbour, or what was around it, selected"() {
		const place = placeOf(read(text), "Two");
		const other = text.replace("\t\t\t\t<mj-text>Two</mj-text>\r\n", "");
		const found = codeAt(read(other), follows(place, other).at);
		holds(found?.startsWith("<mj-column>") === true, `${found} is selected`);
	},
	"an act that is about the same element leaves its fields and its text open"() {
		const tree = read(text);
		const place = placeOf(tree, "One");
		const node = nodeAt(tree, place.at);
		if (node?.kind !== "element") throw new Error("there is no element");
		for (const [act, same] of [
			[setText(tree, node, "Uno"), true],
			[duplicate(tree, node), false],
			[remove(tree, node), false],
			[insert(tree, { parent: node.parent, index: 2 }, "<mj-divider />"), false],
		] as const) {
			if (!act) throw new Error("it is refused");
			const after = acted(place, act.changes, applied(text, act.changes), act.select);
			equals([after.id === place.id, after.edits, after.at], [same, same, act.select]);
		}
	},
};

export default tests;
