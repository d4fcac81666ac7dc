import { equals, holds, type Tests } from "../../base/testing";
import { applied } from "./model/acts";
import { parse } from "./model/parse";
import { type ElementNode, type Tree, walk } from "./model/tree";
import { areaOf, dragged, edgesOf, paddingOf, pixelsOf, type Side, setPadding, sides } from "./padding";

const head = (attributes: string) => `<mj-head><mj-attributes>${attributes}</mj-attributes></mj-head>`;
const read = (element: string, inHead = "") =>
	parse(
		`<mjml>${inHead}<mj-body><mj-section><mj-column>${element}</mj-column></mj-section></mj-body></mjml>`,
		false,
	) as Tree;
const find = (tree: Tree, tag = "mj-text") =>
	[...walk(tree.root)].findLast((node) => node.kind === "element" && node.tag === tag) as ElementNode;
const four = (tree: Tree, tag?: string) => sides.map((side) => paddingOf(tree, find(tree, tag), side));

/** after returns the element with another padding of a side; null if nothing is to be changed. */
const after = (element: string, side: Side, value: string | null, inHead?: string) => {
	const tree = read(element, inHead);
	const act = setPadding(tree, find(tree), side, value);
	return act && applied(tree.text, act.changes).match(/<mj-column>(.*)<\/mj-column>/)?.[1];
};

const tests: Tests = {
	"a padding is that of its side, of all sides, of the head, or of MJML"() {
		equals(four(read("<mj-text />")), ["10px", "25px", "10px", "25px"]);
		equals(four(read('<mj-text padding="1px" padding-left="2px" />')), ["1px", "1px", "1px", "2px"]);
		equals(four(read('<mj-text padding="1px 2px 3px" />')), ["1px", "2px", "3px", "2px"]);
		equals(four(read('<mj-text padding="1px" />', head('<mj-text padding-top="9px" />'))), [
			"9px",
			"1px",
			"1px",
			"1px",
		]);
		equals(four(read("<mj-text />", head('<mj-all padding="4px 5px" />'))), ["4px", "5px", "4px", "5px"]);
		equals(four(read('<mj-text padding="{{ x }}" padding-top="1px" />')), ["1px", "", "", ""]);
		equals(four(read("<mj-text />"), "mj-column"), ["0px", "0px", "0px", "0px"]);
	},
	"a padding is written in the form that is there, and in the shortest one"() {
		equals(after('<mj-text padding="20px 0">a</mj-text>', "top", "30px"), '<mj-text padding="30px 0 20px">a</mj-text>');
		equals(after('<mj-text padding="20px 0" />', "left", "5px"), '<mj-text padding="20px 0 20px 5px" />');
		equals(after('<mj-text padding="30px 0 20px" />', "top", "20px"), '<mj-text padding="20px 0" />');
		equals(after('<mj-text padding="1px 2px" />', "top", "2px"), '<mj-text padding="2px 2px 1px" />');
		equals(after("<mj-text />", "top", "30px"), '<mj-text padding-top="30px" />');
		equals(after("<mj-text padding-top='3px' />", "left", "4px"), "<mj-text padding-top='3px' padding-left='4px' />");
		equals(
			after('<mj-text padding="1px" padding-top="3px" />', "top", "4px"),
			'<mj-text padding="1px" padding-top="4px" />',
		);
		equals(after('<mj-text padding="{{ x }}" />', "top", "4px"), '<mj-text padding="{{ x }}" padding-top="4px" />');
		const given = head('<mj-text padding-top="9px" />');
		equals(after('<mj-text padding="1px" />', "top", "4px", given), '<mj-text padding="1px" padding-top="4px" />');
	},
	"a padding that is what holds anyway is not written, and may be taken away"() {
		equals(after("<mj-text />", "top", "10px"), null);
		equals(after('<mj-text padding-top="30px" />', "top", "10px"), "<mj-text />");
		equals(after('<mj-text padding-top="30px" />', "top", null), "<mj-text />");
		equals(after('<mj-text padding="30px" />', "top", null), '<mj-text padding="10px 30px 30px" />');
		equals([after("<mj-text />", "top", null), after('<mj-text padding="0" />', "left", "0px")], [null, null]);
	},
	"the picture has an edge for each padding that is known"() {
		const tree = read('<mj-text padding="10% 20px 0" padding-left="{{ x }}">a</mj-text>');
		const box = { x: 5, y: 7, width: 300, height: 100 };
		const edges = edgesOf(tree, find(tree), box);
		equals(
			edges.map((edge) => [edge.side, edge.pixels, edge.most]),
			[
				["top", 30, 400],
				["right", 20, 276],
				["bottom", 0, 400],
			],
		);
		equals(
			edges.map((edge) => areaOf(edge, edge.pixels)),
			[
				{ x: 5, y: 7, width: 300, height: 30 },
				{ x: 285, y: 7, width: 20, height: 100 },
				{ x: 5, y: 107, width: 300, height: 0 },
			],
		);
		equals(edgesOf(tree, find(tree, "mj-body"), box), []);
		const [, right] = edges;
		holds(right !== undefined, "there is no right edge");
		if (right) equals([dragged(right, -15, 9), dragged(right, 50, 0), dragged(right, -999, 0)], [35, 0, 276]);
	},
	"the edges of a section of the full width are where its columns are, and inside its border"() {
		const text =
			'<mjml><mj-body width="500px"><mj-section full-width="full-width" border="2px solid #000000" /></mj-body></mjml>';
		const tree = parse(text, false) as Tree;
		const [top, right] = edgesOf(tree, find(tree, "mj-section"), { x: 0, y: 0, width: 700, height: 80 });
		equals([top && areaOf(top, 20), right?.box.width], [{ x: 102, y: 2, width: 496, height: 20 }, 496]);
	},
	"lengths are pixels, or percentages"() {
		equals(
			["12px", "50%", "0", "1.5px", "12", "1em", "{{ x }}"].map((length) => pixelsOf(length, 60)),
			[12, 30, 0, 1.5, null, null, null],
		);
	},
};

export default tests;
