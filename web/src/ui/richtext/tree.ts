import { type Token, tokens } from "./tokens";

// The tree of a source. Every character of it belongs to exactly one tag or leaf.

export type Element = {
	kind: "element";
	name: string;
	from: number;
	/** Where the start tag ends, and where the end tag begins: at `to` if there is none. */
	openTo: number;
	closeFrom: number;
	to: number;
	children: Part[];
};
export type Leaf = { kind: "text" | "output" | "tag" | "opaque"; from: number; to: number };
export type Part = Element | Leaf;

const words = (list: string) => new Set(list.split(" "));

/** Elements without content. */
export const voids = words("br hr img input col wbr area base embed link meta source track");
/** Elements that stand on lines of their own. */
export const blockNames = words(
	"p div h1 h2 h3 h4 h5 h6 ul ol li table thead tbody tfoot tr td th caption colgroup blockquote pre hr center section article header footer main aside figure figcaption address form fieldset dl dt dd nav details summary",
);

/** Elements of parts of a text. */
export const inlineNames = words(
	"a b strong i em u ins s strike del span font small big sub sup code kbd mark abbr cite q samp var tt time bdi bdo label",
);

/** Which open elements a start tag closes, and which of them it does not look beyond. */
const closedBy: { [name: string]: { closes: Set<string>; within: Set<string> } } = {
	li: { closes: words("li"), within: words("ul ol") },
	td: { closes: words("td th"), within: words("table tr") },
	th: { closes: words("td th"), within: words("table tr") },
	tr: { closes: words("tr"), within: words("table") },
	thead: { closes: words("thead tbody tfoot"), within: words("table") },
	tbody: { closes: words("thead tbody tfoot"), within: words("table") },
	tfoot: { closes: words("thead tbody tfoot"), within: words("table") },
	dt: { closes: words("dt dd"), within: words("dl") },
	dd: { closes: words("dt dd"), within: words("dl") },
	a: { closes: words("a"), within: words("td th table") },
};
const closesParagraph = { closes: words("p"), within: words("td th table li blockquote div center section") };

/** More deeply nested tags are leaves. */
const maxDepth = 60;

/** tree returns the parts of a source. */
export function tree(source: string, hasLiquid = true): Part[] {
	const root: Part[] = [];
	const open: Element[] = [];
	const leaf = (kind: Leaf["kind"], token: Token) =>
		(open.at(-1)?.children ?? root).push({ kind, from: token.from, to: token.to });
	/** Closes the open elements from an index on, of which the first has an end tag or none. */
	const close = (index: number, at: number, end?: Token) => {
		for (const element of open.splice(index)) element.closeFrom = element.to = at;
		const last = (open.at(-1)?.children ?? root).at(-1);
		if (end && last?.kind === "element") last.to = end.to;
	};
	const start = (token: Token) => {
		const rule = closedBy[token.name] ?? (blockNames.has(token.name) ? closesParagraph : undefined);
		for (let i = open.length - 1; rule && i >= 0; i--) {
			const { name } = open[i] as Element;
			if (rule.closes.has(name)) {
				close(i, token.from);
				break;
			}
			if (rule.within.has(name)) break;
		}
		// Browsers do not close elements of HTML by "/>".
		const isClosed = token.closed && !blockNames.has(token.name) && !inlineNames.has(token.name);
		const empty = isClosed || voids.has(token.name);
		if (!empty && open.length >= maxDepth) return leaf("opaque", token);
		const element: Element = {
			kind: "element",
			name: token.name,
			from: token.from,
			openTo: token.to,
			closeFrom: token.to,
			to: token.to,
			children: [],
		};
		(open.at(-1)?.children ?? root).push(element);
		if (!empty) open.push(element);
	};
	const end = (token: Token) => {
		const isBlock = blockNames.has(token.name);
		for (let i = open.length - 1; i >= 0; i--) {
			const { name } = open[i] as Element;
			if (name === token.name) return close(i, token.from, token);
			if (isBlock ? name === "table" : blockNames.has(name)) break;
		}
		leaf("opaque", token);
	};
	for (const token of tokens(source, hasLiquid)) {
		if (token.kind === "start") start(token);
		else if (token.kind === "end") end(token);
		else leaf(token.kind, token);
	}
	close(0, source.length);
	return root;
}

/** hasBlocks reports whether a part has an element that stands on lines of its own. */
export const hasBlocks = (part: Part): boolean =>
	part.kind === "element" && (blockNames.has(part.name) || part.children.some(hasBlocks));
