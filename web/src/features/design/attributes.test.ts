import { equals, type Tests } from "../../base/testing";
import { attributes } from "../../ui/editor/mjml";
import { attributeName, valueName } from "./attributeNames";
import { attributesOf, choicesOf, defaultOf, isOffered, outlookDoes, stylesIn } from "./attributes";
import { parse } from "./model/parse";
import { type ElementNode, isInBody, type Tree, walk } from "./model/tree";

const isShown = (tag: string) => !/^mjml$|^mj-(?:style|font|breakpoint|raw|class|selector|html-attribute)$/.test(tag);
const all = Object.entries(attributes)
	.filter(([tag]) => isShown(tag))
	.flatMap(([tag, names]) => names.filter((name) => isOffered(tag, name)).map((name) => [tag, name] as const));

const read = (text: string) => parse(text, false) as Tree;
const find = (tree: Tree, tag: string) =>
	[...walk(tree.root)].find(
		(node) => node.kind === "element" && node.tag === tag && isInBody(node.parent),
	) as ElementNode;

const tests: Tests = {
	"each attribute that is offered has a name, and so do its choices"() {
		equals(
			all.filter(([tag, name]) => !attributeName(tag, name)).map(([tag, name]) => `${tag} ${name}`),
			[],
			"what has no name",
		);
		const values = new Set(all.flatMap(([tag, name]) => choicesOf(tag, name)));
		equals(
			[...values].filter((value) => valueName(value) === value),
			[],
			"choices without a name",
		);
	},
	"what people change most is offered, once"() {
		const tree = read(
			"<mjml><mj-body><mj-section><mj-column><mj-text>a</mj-text></mj-column></mj-section></mj-body></mjml>",
		);
		for (const tag of ["mj-section", "mj-column", "mj-text"]) {
			const { first, rest } = attributesOf(tree, find(tree, tag));
			equals(
				first.filter((name) => !isOffered(tag, name) || !attributes[tag]?.includes(name) || rest.includes(name)),
				[],
			);
		}
	},
	"elements take what is around them hands down, and styles of the head are offered"() {
		const tree =
			read(`<mjml><mj-head><mj-attributes><mj-class name="small" color="#777777" /><mj-social color="#123456" /></mj-attributes></mj-head>
			<mj-body><mj-section><mj-column><mj-social icon-size="30px"><mj-social-element name="x" /></mj-social><mj-text mj-class="small">a</mj-text></mj-column></mj-section></mj-body></mjml>`);
		const link = find(tree, "mj-social-element");
		equals(
			["icon-size", "color", "padding"].map((name) => defaultOf(tree, link, name)),
			["30px", "#123456", "4px"],
		);
		equals(defaultOf(tree, find(tree, "mj-text"), "color"), "#777777");
		equals([stylesIn(tree), attributesOf(tree, link).rest.includes("mj-class")], [["small"], true]);
	},
	"it is said where Outlook for Windows does something else, and nowhere else"() {
		equals(
			[
				["mj-button", "border-radius"],
				["mj-image", "max-height"],
				["mj-section", "background-url"],
				["mj-text", "text-transform"],
				["mj-text", "letter-spacing"],
				["mj-section", "background-color"],
				["mj-carousel", "thumbnails"],
			].map(([tag = "", name = ""]) => outlookDoes(tag, name)),
			["ignored", "ignored", "differently", "lowercase", null, null, "ignored"],
		);
	},
};

export default tests;
