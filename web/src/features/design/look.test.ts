import { equals, type Tests } from "../../base/testing";
import { backgroundOf, lookOf, placeOf } from "./look";
import { parse } from "./model/parse";
import { type ElementNode, bodyOf, type Tree, walk } from "./model/tree";

/** of reads a mail whose section has attributes, and returns it with an element in that section. */
function of(section: string, element: string, head = ""): [Tree, ElementNode] {
	const tree = parse(
		`<mjml>${head}<mj-body><mj-section ${section}><mj-column>${element}</mj-column></mj-section></mj-body></mjml>`,
	);
	if (tree.broken) throw new Error(tree.broken.why);
	for (const node of walk(bodyOf(tree))) if (node.kind === "element" && node.content === "html") return [tree, node];
	throw new Error("no text");
}

const tests: Tests = {
	"a text has the colours that the elements around it give"() {
		const black = of('background-color="#000"', '<mj-text color="#fff">a</mj-text>');
		equals([backgroundOf(...black), lookOf(...black).color], ["#000", "#fff"], "of the section");
		const own = of('background-color="#000"', '<mj-text container-background-color="#123">a</mj-text>');
		equals([backgroundOf(...own), lookOf(...own).color], ["#123", "#000000"], "its own");
		const plain = of("", "<mj-text>a</mj-text>");
		equals(backgroundOf(...plain), "#ffffff", "none");
	},

	"a text on what only the mail shows is black on white"() {
		for (const section of ['background-color="{{ brand.color }}"', 'background-color="#000" background-url="x.png"']) {
			const text = of(section, '<mj-text color="#fff">a</mj-text>');
			equals([backgroundOf(...text), lookOf(...text).color], ["#ffffff", undefined], section);
		}
		const button = of("", '<mj-button background-color="{{ brand.color }}">a</mj-button>');
		equals(lookOf(...button).color, undefined, "a button");
	},

	"a text stands where its settings put it"() {
		const head = '<mj-head><mj-attributes><mj-text padding="1px 2px" font-size="20px" /></mj-attributes></mj-head>';
		const text = of("", '<mj-text padding-left="9px" align="right">a</mj-text>', head);
		equals(placeOf(...text).padding, "1px 2px 1px 9px", "its room");
		equals([lookOf(...text).fontSize, lookOf(...text).textAlign], ["20px", "right"], "its letters");
		const button = of("", '<mj-button align="left">a</mj-button>');
		equals([placeOf(...button).justifyItems, lookOf(...button).textAlign], ["left", "center"], "a button");
	},
};

export default tests;
