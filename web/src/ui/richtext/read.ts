import { Fragment, type Mark, type Node } from "prosemirror-model";
import { decodeEntity } from "./entities";
import { isPlain, markOf, markType, nodeOf, nodeType, schema } from "./schema";
import { type Element, hasBlocks, type Part, tree } from "./tree";

// Reading a source makes the document from which write makes the same source.

const isParagraph = (name: string) => /^(p|h[1-6])$/.test(name);
const onlySpace = /^[ \t\r\n\f]*$/;
const leadingSpace = /^[ \t\r\n\f]+/;
const trailingSpace = /[ \t\r\n\f]+$/;

/** Pieces of a text: spaces that are seen as one, entities, characters that should be one, and what is plain. */
const pieces = /[ \t\r\n\f]{2,}|[\t\r\n\f]|&#?\w+;|[&<>\u00a0]|(?:[^ \t\r\n\f&<>\u00a0]+| (?![ \t\r\n\f]))+/g;

/** How far inline content is already said by something before or after it. */
type Edges = { from: number; to: number };

class Reader {
	private lastId = 0;

	constructor(private readonly source: string) {}

	private text = (part: { from: number; to: number }) => this.source.slice(part.from, part.to);
	private isSpace = (part: Part) => part.kind === "text" && onlySpace.test(this.text(part));
	private openTag = (element: Element) => this.source.slice(element.from, element.openTo);
	private closeTag = (element: Element) => this.source.slice(element.closeFrom, element.to);
	private code = (part: Part) => nodeType("code_block").create({ src: this.text(part) });

	/** Returns the blocks of some parts. Space between them goes to the one after it, and to the last one's end. */
	blocks(parts: Part[]): Node[] {
		const list = new List();
		let run: Part[] = [];
		const flush = () => {
			this.run(run, list);
			run = [];
		};
		for (const part of parts) {
			const block = part.kind === "element" ? this.block(part) : null;
			if (!block) {
				run.push(part);
				continue;
			}
			flush();
			list.add(block);
		}
		flush();
		return list.finish(() => nodeType("paragraph").create({ fill: "" }));
	}

	/** Adds inline parts that stand between blocks. */
	private run(parts: Part[], list: List) {
		if (parts.every((part) => this.isSpace(part) || part.kind === "tag" || part.kind === "opaque")) {
			for (const part of parts) {
				if (part.kind === "text") list.space(this.text(part));
				else list.add(this.code(part));
			}
			return;
		}
		list.add(this.paragraph(parts, "", ""));
	}

	private paragraph(parts: Part[], open: string, close: string): Node {
		const first = parts[0];
		const last = parts.at(-1);
		const edges = { from: first?.from ?? 0, to: last?.to ?? 0 };
		const all = this.source.slice(edges.from, edges.to);
		if (onlySpace.test(all) || (parts.filter((part) => !this.isSpace(part)).length === 1 && parts.some(isBreak)))
			return nodeType("paragraph").create({ open, close, fill: all });
		const before = first?.kind === "text" ? (leadingSpace.exec(this.text(first))?.[0] ?? "") : "";
		const after = last?.kind === "text" ? (trailingSpace.exec(this.text(last))?.[0] ?? "") : "";
		const content = this.inline(parts, [], { from: edges.from + before.length, to: edges.to - after.length });
		return nodeType("paragraph").create({ open: open + before, close: after + close }, Fragment.from(content));
	}

	/** Returns the block that an element is, or null if it is inline. */
	private block(element: Element): Node | null {
		const { name, children } = element;
		const open = this.openTag(element);
		const close = this.closeTag(element);
		const isInline = !children.some(hasBlocks);
		if (isParagraph(name) && isInline) return this.paragraph(children, open, close);
		if (name === "pre" && isInline) {
			const content = this.inline(children, [], { from: element.openTo, to: element.closeFrom }, true);
			return nodeType("preformatted").create({ open, close }, Fragment.from(content));
		}
		if (name === "hr") return nodeType("rule").create({ src: open });
		const type = nodeOf[name];
		if (type && type !== "item" && type !== "cell" && type !== "row" && type !== "rows") {
			const content = type === "box" ? this.blocks(children) : this.members(children, membersOf[type] ?? []);
			if (content) return nodeType(type).create({ open, close }, content);
		}
		return hasBlocks(element) ? this.code(element) : null;
	}

	/** Returns the members of a list or of a part of a table, or null if something else is among them. */
	private members(parts: Part[], types: string[]): Node[] | null {
		const list = new List();
		let hasMember = false;
		for (const part of parts) {
			if (this.isSpace(part)) list.space(this.text(part));
			else if (part.kind === "element") {
				const type = nodeOf[part.name] ?? "";
				if (!types.includes(type)) return null;
				const content =
					type === "rows" || type === "row"
						? this.members(part.children, membersOf[type] ?? [])
						: this.blocks(part.children);
				if (!content) return null;
				hasMember = true;
				list.add(nodeType(type).create({ open: this.openTag(part), close: this.closeTag(part) }, content));
			} else if (part.kind === "text") return null;
			else list.add(this.code(part));
		}
		return hasMember ? list.finish() : null;
	}

	/** Returns the inline content of some parts, between two places. */
	private inline(parts: Part[], marks: readonly Mark[], { from, to }: Edges, isExact = false): Node[] {
		const nodes: Node[] = [];
		let at = from;
		for (const [i, part] of parts.entries()) {
			const start = Math.max(part.from, at);
			const end = Math.min(part.to, to);
			if (start >= end && part.to > part.from) continue;
			if (isBreak(part) && !isExact) {
				const next = parts[i + 1];
				const space =
					next?.kind === "text" ? (leadingSpace.exec(this.source.slice(next.from, to))?.[0].length ?? 0) : 0;
				at = Math.min(part.to + space, next?.to ?? part.to);
				const before = this.spaceBefore(parts[i - 1], start, from, nodes);
				nodes.push(nodeType("line_break").create({ src: this.source.slice(start - before, at) }, null, marks));
			} else if (part.kind === "text") nodes.push(...this.plain(this.source.slice(start, end), marks, isExact));
			else nodes.push(...this.inlinePart(part, marks, isExact));
		}
		return nodes;
	}

	/** Takes the space that stands before a line break from the nodes, and returns its length. */
	private spaceBefore(part: Part | undefined, at: number, from: number, nodes: Node[]): number {
		if (part?.kind !== "text") return 0;
		const text = this.source.slice(Math.max(part.from, from), at);
		const length = trailingSpace.exec(text)?.[0].length ?? 0;
		const last = nodes.at(-1);
		const source = last?.marks.find((mark) => mark.type.name === "source");
		if (length === 0 || !last?.isText) return 0;
		if (source) {
			if (source.attrs.src !== text.slice(text.length - length)) return 0;
			nodes.pop();
		} else if (length === 1 && last.text?.endsWith(" ")) {
			nodes.pop();
			if (last.text.length > 1) nodes.push(schema.text(last.text.slice(0, -1), last.marks));
		} else return 0;
		return length;
	}

	private inlinePart(part: Exclude<Part, { kind: "text" }>, marks: readonly Mark[], isExact: boolean): Node[] {
		const whole = (type: string) => [nodeType(type).create({ src: this.text(part) }, null, marks)];
		if (part.kind === "output") return whole("liquid");
		if (part.kind !== "element" || part.name in nodeOf || isParagraph(part.name)) return whole("code");
		const mark = markOf[part.name];
		if (!mark) return whole("code");
		const attrs = { open: this.openTag(part), close: this.closeTag(part), id: ++this.lastId };
		const inner = [...marks, markType(mark).create(attrs)];
		const content = this.inline(part.children, inner, { from: part.openTo, to: part.closeFrom }, isExact);
		return content.length > 0 ? content : whole("code");
	}

	/** Returns the nodes of a text: its spaces and entities keep their source. */
	private plain(source: string, marks: readonly Mark[], isExact: boolean): Node[] {
		const nodes: Node[] = [];
		let text = "";
		const flush = () => {
			if (text) nodes.push(schema.text(text, marks));
			text = "";
		};
		for (const [piece] of source.matchAll(pieces)) {
			if (piece === "&amp;" || piece === "&lt;" || piece === "&gt;" || piece === "&nbsp;") {
				text += decodeEntity(piece) ?? "";
				continue;
			}
			const isSpaces = onlySpace.test(piece);
			if (piece === " " || (isSpaces && isExact) || !(isSpaces || /^[&<>\u00a0]/.test(piece))) {
				text += piece;
				continue;
			}
			flush();
			const shown = isSpaces ? " " : piece.length > 1 ? decodeEntity(piece) : piece;
			if (shown === null) nodes.push(nodeType("code").create({ src: piece }, null, marks));
			else nodes.push(schema.text(shown, [...marks, markType("source").create({ src: piece, shown })]));
		}
		flush();
		return nodes;
	}
}

const isBreak = (part: Part) => part.kind === "element" && part.name === "br";

const membersOf: { [type: string]: string[] } = {
	list: ["item"],
	table: ["rows", "row"],
	rows: ["row"],
	row: ["cell"],
};

/** A list of blocks, whose tags get the space between them. */
class List {
	private readonly nodes: Node[] = [];
	private before = "";

	space(text: string) {
		this.before += text;
	}

	add(node: Node) {
		this.nodes.push(this.before ? around(node, this.before, "") : node);
		this.before = "";
	}

	/** Returns the blocks; if there are none, the one that is made for that. */
	finish(empty?: () => Node): Node[] {
		if (this.nodes.length === 0 && empty) this.nodes.push(empty());
		const last = this.nodes.pop();
		if (last) this.nodes.push(this.before ? around(last, "", this.before) : last);
		return this.nodes;
	}
}

/** around returns a node with more space around it. */
function around(node: Node, before: string, after: string): Node {
	const attrs =
		"src" in node.attrs
			? { ...node.attrs, src: before + node.attrs.src + after }
			: { ...node.attrs, open: before + node.attrs.open, close: node.attrs.close + after };
	return node.type.create(attrs, node.content, node.marks);
}

/** read returns the document of a source. An empty one has a paragraph of its own element, or a plain one. */
export function read(source: string, paragraph = "p"): Node {
	const blocks =
		source === "" && paragraph !== ""
			? [nodeType("paragraph").create({ open: `<${paragraph}>`, close: `</${paragraph}>` })]
			: new Reader(source).blocks(tree(source));
	return nodeType("doc").create(null, blocks);
}

/** readInline returns the document of a source that is one line of text, or null if it has more than that. */
export function readLine(source: string): Node | null {
	const doc = read(source, "");
	return doc.childCount === 1 && isPlain(doc.firstChild) ? doc : null;
}
