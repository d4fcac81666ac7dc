import { children as allowed, inHead, withHTML } from "../../../ui/editor/mjml";
import { contentEnd } from "./html";
import { filler, type Range } from "./liquid";
import { Reader } from "./reader";

/** Attribute is one of a start tag; value is what stands between the quotes. */
export type Attribute = Range & { name: string; value: Range; quote: string };

/** Scanned is what stands in a document or an element: elements, and what is none. */
export type Scanned = ScannedElement | (Range & { kind: "comment" | "cdata" | "instruction" | "text" });

export type ScannedElement = Range & {
	kind: "element";
	tag: string;
	/** The start tag. */
	open: Range;
	/** The end tag; null of an element that is one tag. */
	close: Range | null;
	/** What the content is: elements, or HTML, which is copied. */
	content: "elements" | "html";
	attributes: Attribute[];
	children: Scanned[];
};

/** The limits of a document, as the server has them. */
const maxDepth = 64;
const maxElements = 4000;
const maxAttributes = 100;

const voids = new Set(
	"area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr".split(
		" ",
	),
);

/** What most attributes are. */
const usualAttribute = /[A-Za-z_][\w-]*="[^"<]*"/y;

/** isName reports whether elements and attributes may have a name. */
const isName = (name: string) => /^[A-Za-z_:\u0080-\uffff][A-Za-z_:\u0080-\uffff0-9.-]*$/.test(name);

/** Blank are texts that the compiler passes over, a byte order mark among them. */
export const isBlank = (text: string) => /^[\s\u0085]*$/.test(text);

/**
 * scan reads a document, or the children of some element if it is a fragment, in a text whose Liquid is masked. It is
 * as strict as the server's check (package mjml), and throws a Fault where that finds one.
 */
export function scan(text: string, fragment: boolean): Scanned[] {
	return new DocumentScanner(text, fragment).document();
}

class DocumentScanner {
	private readonly reader: Reader;
	private readonly root: Scanned[] = [];
	private readonly open: ScannedElement[] = [];
	private elements = 0;
	private bodies = 0;

	constructor(
		private readonly text: string,
		private readonly fragment: boolean,
	) {
		this.reader = new Reader(text);
	}

	private get siblings(): Scanned[] {
		return this.open.at(-1)?.children ?? this.root;
	}

	private get inBody(): boolean {
		return this.open.length > 1 && this.open[1]?.tag === "mj-body";
	}

	document(): Scanned[] {
		const { reader, text } = this;
		while (reader.at < text.length) {
			const start = reader.at;
			const next = text.indexOf("<", start);
			reader.at = next < 0 ? text.length : next;
			this.between(start, reader.at);
			if (reader.at < text.length) this.construct(reader.at);
		}
		const last = this.open.at(-1);
		if (last) reader.fail(last.from, "unclosed");
		if (!this.fragment && this.root.every((child) => child.kind !== "element")) reader.fail(0, "root");
		if (!this.fragment && this.bodies === 0) reader.fail(0, "body");
		return this.root;
	}

	/** between notes the text between two constructs. */
	private between(from: number, to: number) {
		const text = this.text.slice(from, to);
		if (isBlank(text)) return;
		if (this.open.length === 0 && !this.fragment && !isBlank(text.replaceAll(filler, "")))
			this.reader.fail(from, "text");
		this.siblings.push({ kind: "text", from, to });
	}

	private construct(at: number) {
		const { reader, text } = this;
		const note = (kind: "comment" | "cdata" | "instruction") => this.siblings.push({ kind, from: at, to: reader.at });
		if (text.startsWith("<!--", at)) {
			reader.at += "<!".length;
			if (!reader.skip("-->")) reader.fail(at, "comment");
			note("comment");
		} else if (text.startsWith("<![CDATA[", at)) {
			if (!reader.skip("]]>")) reader.fail(at, "cdata");
			if (this.open.length === 0 && !this.fragment && !isBlank(text.slice(at + 9, reader.at - 3)))
				reader.fail(at, "text");
			note("cdata");
		} else if (text.startsWith("<!", at)) reader.fail(at, "declaration");
		else if (text.startsWith("<?", at)) {
			if (!reader.skip(">")) reader.fail(at, "instruction");
			note("instruction");
		} else if (text.startsWith("</", at)) {
			reader.at += "</".length;
			this.endTag(at);
		} else {
			reader.at++;
			this.startTag(at);
		}
	}

	private startTag(at: number) {
		const { reader } = this;
		if (!/[A-Za-z_:]/.test(reader.peek())) reader.fail(at, "lt");
		const tag = reader.until("/>");
		if (!isName(tag)) reader.fail(at, "name");
		if (++this.elements > maxElements) reader.fail(at, "limit");
		const { attributes, closed } = this.attributes(at);
		this.checkPlace(tag, at);
		const content = withHTML.has(tag) ? "html" : "elements";
		const element: ScannedElement = {
			kind: "element",
			tag,
			from: at,
			to: reader.at,
			open: { from: at, to: reader.at },
			close: null,
			content,
			attributes,
			children: [],
		};
		this.siblings.push(element);
		if (closed || (voids.has(tag) && !Object.hasOwn(allowed, tag))) return;
		if (content === "html") {
			const outside = this.open.map((parent) => parent.tag);
			element.close = contentEnd(reader, tag, at, outside);
			element.to = element.close.to;
		} else if (this.open.length === maxDepth) reader.fail(at, "limit");
		else this.open.push(element);
	}

	private checkPlace(tag: string, at: number) {
		const { reader } = this;
		const depth = this.open.length;
		if (this.fragment) {
			if (tag === "mjml" || tag === "mj-body" || inHead.has(tag)) reader.fail(at, "place");
			return;
		}
		if (depth === 0 && (tag !== "mjml" || this.root.some((child) => child.kind === "element"))) reader.fail(at, "root");
		if (depth > 0 && (tag === "mjml" || (inHead.has(tag) && this.inBody))) reader.fail(at, "place");
		if (depth === 1 && tag === "mj-body") this.bodies++;
	}

	private attributes(at: number): { attributes: Attribute[]; closed: boolean } {
		const { reader, text } = this;
		const attributes: Attribute[] = [];
		for (;;) {
			const space = reader.blanks();
			const c = reader.peek();
			if (c === ">" || text.startsWith("/>", reader.at)) {
				reader.at += c === ">" ? 1 : 2;
				return { attributes, closed: c === "/" };
			}
			if (c === "" || c === "<" || c === "/") reader.fail(at, "tag");
			if (c === filler || !space) reader.fail(reader.at, "attribute");
			const attribute = this.attribute();
			if (attributes.some((other) => other.name === attribute.name) || attributes.length === maxAttributes)
				reader.fail(attribute.from, "attribute");
			attributes.push(attribute);
		}
	}

	private attribute(): Attribute {
		const { reader, text } = this;
		const from = reader.at;
		const usual = reader.match(usualAttribute);
		if (usual !== "") {
			const equals = usual.indexOf("=");
			const value = { from: from + equals + 2, to: reader.at - 1 };
			return { name: usual.slice(0, equals), from, to: reader.at, value, quote: '"' };
		}
		const name = reader.until("=/>");
		if (!isName(name)) reader.fail(from, "attribute");
		reader.blanks();
		if (reader.peek() !== "=") reader.fail(from, "attribute");
		reader.at++;
		reader.blanks();
		const quote = reader.peek();
		if (quote !== '"' && quote !== "'") reader.fail(from, "attribute");
		reader.at++;
		const value = reader.at;
		if (!reader.skip(quote)) reader.fail(from, "attribute");
		const to = reader.at - 1;
		const lt = text.slice(value, to).indexOf("<");
		if (lt >= 0) reader.fail(value + lt, "attribute");
		return { name, from, to: reader.at, value: { from: value, to }, quote };
	}

	private endTag(at: number) {
		const { reader } = this;
		const tag = reader.until("/>");
		reader.blanks();
		if (!isName(tag) || reader.peek() !== ">") reader.fail(at, "tag");
		reader.at++;
		if (voids.has(tag)) return;
		const top = this.open.at(-1);
		if (!top) return reader.fail(at, "end");
		if (top.tag !== tag) reader.fail(this.open.some((parent) => parent.tag === tag) ? top.from : at, "unclosed");
		top.close = { from: at, to: reader.at };
		top.to = reader.at;
		this.open.pop();
	}
}
