import type { Range } from "./liquid";
import type { Reader } from "./reader";

// HTML inside an element of MJML is read only to find the end of the element, as the compiler's parser reads it: what
// hides an end tag from that parser (an attribute, a comment, a script) has to hide it here.

const voids = new Set(
	"area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr".split(
		" ",
	),
);
const opaque = new Set(["script", "style", "title", "textarea"]);
const form = "input option optgroup select button datalist textarea".split(" ");

/** closes lists which elements are ended by the start of another one. */
const closes = new Map<string, string[]>([
	["tr", ["tr", "th", "td"]],
	["th", ["th"]],
	["td", ["thead", "th", "td"]],
	["body", ["head", "link", "script"]],
	["li", ["li"]],
	["option", ["option"]],
	["optgroup", ["optgroup", "option"]],
	["dd", ["dd", "dt"]],
	["dt", ["dd", "dt"]],
	["rt", ["rt", "rp"]],
	["rp", ["rt", "rp"]],
	["tbody", ["thead", "tbody"]],
	["tfoot", ["thead", "tbody"]],
	...["select", "input", "output", "button", "datalist", "textarea"].map((name): [string, string[]] => [name, form]),
	..."p h1 h2 h3 h4 h5 h6 address article aside blockquote details div dl fieldset figcaption figure footer form header hr main nav ol pre section table ul"
		.split(" ")
		.map((name): [string, string[]] => [name, ["p"]]),
]);

const lower = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/**
 * contentEnd moves past the end tag of an element whose content is HTML, and returns where that tag stands. The reader
 * is behind the start tag, which begins at start; outside are the tags of the elements around it.
 */
export function contentEnd(reader: Reader, tag: string, start: number, outside: string[]): Range {
	const { text } = reader;
	const open: string[] = [];
	for (;;) {
		const at = text.indexOf("<", reader.at);
		if (at < 0) reader.fail(start, "unclosed");
		reader.at = at;
		if (text.startsWith("<!--", at)) {
			reader.at += "<!".length;
			if (!reader.skip("-->")) reader.fail(at, "comment");
		} else if (text.startsWith("<![CDATA[", at)) {
			if (!reader.skip("]]>")) reader.fail(at, "cdata");
		} else if (text.startsWith("<![", at) || text.startsWith("<?", at)) reader.skip(">");
		else if (text.startsWith("<!", at)) {
			// the parser reads the character after <! or <!- as a part of it, even if it is >
			reader.at = Math.min(at + (text[at + 2] === "-" ? 4 : 3), text.length);
			reader.skip(">");
		} else if (text.startsWith("</", at)) {
			reader.at += 2;
			if (endTag(reader, tag, start, outside, open)) return { from: at, to: reader.at };
		} else if (/[A-Za-z]/.test(text[at + 1] ?? "")) {
			reader.at++;
			startTag(reader, at, open);
		} else reader.at++;
	}
}

/** endTag reads an end tag, and reports whether it is that of the element. */
function endTag(reader: Reader, tag: string, start: number, outside: string[], open: string[]): boolean {
	reader.blanks();
	if (!/[A-Za-z]/.test(reader.peek())) {
		reader.skip(">"); // </> is nothing, </1> a comment
		return false;
	}
	const name = lower(reader.until(">"));
	reader.skip(">");
	if (voids.has(name)) return false;
	const inner = open.lastIndexOf(name);
	if (inner >= 0) {
		open.length = inner;
		return false;
	}
	if (name === tag) return true;
	if (outside.includes(name)) reader.fail(start, "unclosed");
	return false;
}

function startTag(reader: Reader, at: number, open: string[]) {
	const name = lower(reader.until("/>"));
	const implied = closes.get(name) ?? [];
	while (open.length > 0 && implied.includes(open.at(-1) ?? "")) open.pop();
	const end = tagEnd(reader);
	if (end === "") reader.fail(at, "tag");
	if (end === "/>" || voids.has(name)) return;
	if (!opaque.has(name)) {
		open.push(name);
		return;
	}
	const close = new RegExp(`</${name}(?=[>\\s])`, "gi");
	close.lastIndex = reader.at;
	const found = close.exec(reader.text); // nothing but its end tag ends it
	if (!found) return reader.fail(at, "unclosed");
	reader.at = found.index + found[0].length;
	reader.skip(">");
}

/** What most start tags are behind their names: attributes with quotes, and the end. */
const usualEnd = /(?:[ \t\r\n]+[\w-]+="[^"]*")*[ \t\r\n]*\/?>/y;

/** tagEnd moves past the end of a start tag, and returns it: ">" or "/>"; "" if there is none. */
function tagEnd(reader: Reader): string {
	const { text } = reader;
	const usual = reader.match(usualEnd);
	if (usual !== "") return usual.endsWith("/>") ? "/>" : ">";
	for (reader.blanks(); reader.at < text.length; reader.blanks()) {
		if (reader.peek() === ">") {
			reader.at++;
			return ">";
		}
		if (reader.peek() === "/") {
			reader.at++;
			reader.blanks();
			if (reader.peek() === ">") {
				reader.at++;
				return "/>";
			}
			continue;
		}
		reader.at++; // a name may start with anything
		reader.until("=/>");
		reader.blanks();
		if (reader.peek() !== "=") continue;
		reader.at++;
		reader.blanks();
		const quote = reader.peek();
		if (quote === '"' || quote === "'") {
			reader.at++;
			if (!reader.skip(quote)) return "";
		} else reader.until(">");
	}
	return "";
}
