import { hideStyles, sameMarkup, showStyles, unescapeLiquid } from "./markupText";

// Rich text between its source and an editable element. The policy of the page refuses style="" in parsed
// HTML, so styles travel as data-style and are set by script; pictures of other hosts are shown by name.

/** The elements and attributes that the server keeps. */
const elements = new Set(
	"p br strong b em i u s a ul ol li h1 h2 h3 h4 blockquote span img table thead tbody tr td th hr div code pre sub sup small".split(
		" ",
	),
);
const attributes = new Set(
	"href target src alt title dir lang width height border cellpadding cellspacing colspan rowspan align valign bgcolor start data-style".split(
		" ",
	),
);
const dropped = new Set("script style title head meta link template iframe object embed svg math noscript".split(" "));
const renamed: { [tag: string]: string } = { strike: "s", del: "s", ins: "u", h5: "h4", h6: "h4" };

/** toEditor returns the content of an editable element for a source. Pasted text also loses its styles. */
export function toEditor(source: string, isPasted = false): DocumentFragment {
	const parsed = new DOMParser().parseFromString(hideStyles(source), "text/html");
	const fragment = document.createDocumentFragment();
	for (const child of parsed.body.childNodes) fragment.append(...copy(child, isPasted));
	return fragment;
}

function copy(node: Node, isPasted: boolean): Node[] {
	if (node.nodeType === Node.TEXT_NODE) return [document.createTextNode(node.nodeValue ?? "")];
	if (!(node instanceof Element) && node.nodeType !== Node.ELEMENT_NODE) return [];
	const from = node as Element;
	const tag = renamed[from.localName] ?? from.localName;
	if (dropped.has(tag)) return [];
	const children = [...from.childNodes].flatMap((childNode) => copy(childNode, isPasted));
	if (!elements.has(tag)) return children;
	if (tag === "img") {
		const chip = document.createElement("span");
		chip.dataset.html = from.outerHTML.replaceAll("data-style=", "style=");
		chip.contentEditable = "false";
		chip.textContent = `🖼 ${from.getAttribute("alt") || from.getAttribute("src") || ""}`;
		return isPasted ? [] : [chip];
	}
	const to = document.createElement(tag);
	for (const { name, value } of [...from.attributes]) {
		if (!attributes.has(name) || (isPasted && name !== "href")) continue;
		if (name === "href" && /^\s*(javascript|data|vbscript):/i.test(value)) continue;
		to.setAttribute(name, value);
		if (name === "data-style") to.style.cssText = value;
	}
	to.append(...children);
	return [to];
}

/** fromEditor returns the source of an editable element. */
export function fromEditor(editor: Node): string {
	const holder = document.implementation.createHTMLDocument().createElement("div");
	for (const child of editor.childNodes) holder.append(holder.ownerDocument.importNode(child, true));
	const pictures: string[] = [];
	for (const chip of holder.querySelectorAll<HTMLElement>("[data-html]")) {
		pictures.push(chip.dataset.html ?? "");
		chip.replaceWith(`\u0000${pictures.length - 1}\u0000`);
	}
	for (const el of holder.querySelectorAll<HTMLElement>("[style]")) el.removeAttribute("style");
	const text = showStyles(holder.innerHTML);
	// biome-ignore lint/suspicious/noControlCharactersInRegex: it stands for a picture
	const html = text.replace(/\u0000(\d+)\u0000/g, (_, i: string) => pictures[Number(i)] ?? "");
	return html === "<br>" || html === "<div><br></div>" || html === "<p><br></p>" ? "" : unescapeLiquid(html);
}

/** isSupported reports whether formatted editing keeps a source as it is. */
export function isSupported(source: string): boolean {
	return source === "" || sameMarkup(fromEditor(toEditor(source)), source);
}
