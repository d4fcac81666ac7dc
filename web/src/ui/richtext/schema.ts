import { type Attrs, type DOMOutputSpec, type MarkSpec, type Node, type NodeSpec, Schema } from "prosemirror-model";
import { attribute, nameOf, shownStyle } from "./tags";
import { inlineNames } from "./tree";

// The document that is edited. Nodes and marks keep the source of their tags, with the space around, so that
// writing them gives what was read. What has no tag of its own, such as the text of `<li>text</li>`, is a plain paragraph.

/** The source of the start and end tag. */
const tags = { open: { default: "" }, close: { default: "" } };

const open = (node: { attrs: Attrs }) => String(node.attrs.open);

/** Attributes of the element of the page that stands for one of the source. */
const shownAttributes = (tag: string) => ({
	style: shownStyle(tag),
	dir: attribute(tag, "dir") ?? null,
	lang: attribute(tag, "lang") ?? null,
});

const container = (content: string, group: string, tag: string, rules: string[] = [tag]): NodeSpec => ({
	content,
	group,
	attrs: { open: { default: `<${tag}>` }, close: { default: `</${tag}>` } },
	defining: true,
	parseDOM: rules.map((rule) => ({ tag: rule, attrs: { open: `<${rule}>`, close: `</${rule}>` } })),
	toDOM: (node): DOMOutputSpec => [nameOf(open(node)) || tag, shownAttributes(open(node)), 0],
});

/** A piece of the source that is moved and deleted as a whole. */
const piece = (spec: NodeSpec): NodeSpec => ({
	atom: true,
	attrs: { src: { default: "" } },
	...spec,
});

const headings = ["h1", "h2", "h3", "h4", "h5", "h6"];

const nodes: { [name: string]: NodeSpec } = {
	doc: { content: "block+" },
	paragraph: {
		content: "inline*",
		group: "block",
		// What stands for the content while there is none; null is a line break.
		attrs: { ...tags, fill: { default: null } },
		parseDOM: [
			...["p", ...headings].map((tag) => ({ tag, attrs: { open: `<${tag}>`, close: `</${tag}>` } })),
			{ tag: "div" },
		],
		toDOM: (node): DOMOutputSpec => {
			const name = nameOf(open(node));
			return [name || "div", { "data-plain": name === "" ? "" : null, ...shownAttributes(open(node)) }, 0];
		},
	},
	preformatted: {
		...container("inline*", "block", "pre"),
		code: true,
		whitespace: "pre",
		marks: "_",
	},
	list: container("(item | code_block)+", "block", "ul", ["ul", "ol"]),
	item: container("block+", "", "li"),
	box: {
		...container("block+", "block", "blockquote"),
		toDOM: (node): DOMOutputSpec => [
			nameOf(open(node)) === "blockquote" ? "blockquote" : "div",
			shownAttributes(open(node)),
			0,
		],
	},
	table: { ...container("(rows | row | code_block)+", "block", "table"), isolating: true },
	rows: container("(row | code_block)+", "", "tbody", ["thead", "tbody", "tfoot"]),
	row: container("(cell | code_block)+", "", "tr"),
	cell: { ...container("block+", "", "td", ["td", "th"]), isolating: true },
	rule: piece({ group: "block", toDOM: () => ["hr"], parseDOM: [{ tag: "hr", attrs: { src: "<hr/>" } }] }),
	code_block: piece({
		group: "block",
		toDOM: (node): DOMOutputSpec => ["div", { "data-code": "" }, String(node.attrs.src).trim()],
	}),
	text: { group: "inline" },
	line_break: {
		inline: true,
		group: "inline",
		selectable: false,
		linebreakReplacement: true,
		attrs: { src: { default: "<br/>" } },
		parseDOM: [{ tag: "br" }],
		toDOM: () => ["br"],
	},
	liquid: piece({
		inline: true,
		group: "inline",
		toDOM: (node): DOMOutputSpec => ["span", { "data-liquid": "" }, String(node.attrs.src)],
		leafText: (node: Node) => String(node.attrs.src),
	}),
	code: piece({
		inline: true,
		group: "inline",
		toDOM: (node): DOMOutputSpec => ["span", { "data-code": "" }, String(node.attrs.src)],
	}),
};

/** A mark of an element. Its number keeps it apart from another with the same tags, and those that it is in before it. */
const element = (tag: string, rules: MarkSpec["parseDOM"], shown = tag): MarkSpec => ({
	attrs: { open: { default: `<${tag}>` }, close: { default: `</${tag}>` }, id: { default: 0 } },
	excludes: "",
	parseDOM: rules,
	toDOM: (mark) => [shown, shownAttributes(String(mark.attrs.open)), 0],
});

const marks: { [name: string]: MarkSpec } = {
	link: {
		...element("a", []),
		inclusive: false,
		toDOM: (mark) => [
			"a",
			{ title: attribute(String(mark.attrs.open), "href") ?? null, ...shownAttributes(open(mark)) },
			0,
		],
	},
	element: {
		...element("span", []),
		toDOM: (mark) => {
			const name = nameOf(open(mark));
			return [/^(sub|sup|small|code)$/.test(name) ? name : "span", shownAttributes(open(mark)), 0];
		},
	},
	strong: element("strong", [{ tag: "strong" }, { tag: "b" }]),
	em: element("em", [{ tag: "em" }, { tag: "i" }]),
	underline: element("u", [{ tag: "u" }]),
	strike: element("s", [{ tag: "s" }, { tag: "strike" }, { tag: "del" }]),
	// A text whose source is not what would be written for it, such as an entity.
	source: {
		attrs: { src: {}, shown: {} },
		excludes: "",
		inclusive: false,
		toDOM: () => ["span", { "data-source": "" }, 0],
	},
};

export const schema = new Schema({ nodes, marks });

/** The marks of elements, by the names of these. */
export const markOf: { [element: string]: string } = {
	a: "link",
	b: "strong",
	strong: "strong",
	i: "em",
	em: "em",
	u: "underline",
	ins: "underline",
	s: "strike",
	strike: "strike",
	del: "strike",
};
for (const name of inlineNames) markOf[name] ??= "element";

/** The nodes of elements that hold blocks, by the names of these. */
export const nodeOf: { [element: string]: string } = { ul: "list", ol: "list", li: "item", table: "table", tr: "row" };
for (const name of ["thead", "tbody", "tfoot"]) nodeOf[name] = "rows";
for (const name of ["td", "th"]) nodeOf[name] = "cell";
for (const name of "div blockquote center section article header footer main aside figure address".split(" "))
	nodeOf[name] = "box";

/** The type of a node or mark; its name is known to be one. */
export const nodeType = (name: string) => schema.nodes[name] as NonNullable<(typeof schema.nodes)[string]>;
export const markType = (name: string) => schema.marks[name] as NonNullable<(typeof schema.marks)[string]>;

/** isPlain reports whether a node is a paragraph without an element of its own. */
export const isPlain = (node: Node | null | undefined) => node?.type.name === "paragraph" && nameOf(open(node)) === "";
