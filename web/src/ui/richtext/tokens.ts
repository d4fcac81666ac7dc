// HTML with Liquid, cut into tokens that together are the whole text. Nothing is decoded here.

export type Token = {
	kind: "text" | "output" | "tag" | "start" | "end" | "opaque";
	from: number;
	to: number;
	/** Of elements, in lower case. */
	name: string;
	/** A start tag that ends in "/>". */
	closed: boolean;
};

/** Elements whose content is no markup. */
const rawElements = new Set(["script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "xml"]);

const endraw = /\{%-?\s*endraw\s*-?%\}/g;
const endcomment = /\{%-?\s*(end)?comment\s*-?%\}/g;

/** liquidEnd returns where the Liquid that begins at a position ends, or -1 if it never does. Blocks whose content is no Liquid are one piece. */
export function liquidEnd(source: string, at: number): number {
	const end = source.indexOf(source[at + 1] === "{" ? "}}" : "%}", at + 2);
	if (end < 0) return -1;
	const block = /^\{%-?\s*(raw|comment)\b/.exec(source.slice(at, end + 2))?.[1];
	if (block === "raw") {
		endraw.lastIndex = end;
		return endraw.exec(source) ? endraw.lastIndex : source.length;
	}
	if (block !== "comment") return end + 2;
	endcomment.lastIndex = end + 2;
	for (let depth = 1; depth > 0; ) {
		const tag = endcomment.exec(source);
		if (!tag) return source.length;
		depth += tag[1] ? -1 : 1;
	}
	return endcomment.lastIndex;
}

const isLiquid = (source: string, at: number) =>
	source[at] === "{" && (source[at + 1] === "{" || source[at + 1] === "%");

/** What begins a tag, up to a length that no name has. */
const tagStart = /<(\/?)([a-z][^\s/>{]{0,97})/iy;

/** What most tags are: with values between quotes, and without what may be Liquid. */
const usualTag = /<[^<>"'{]*(?:=\s*(?:"[^"{]*"|'[^'{]*')[^<>"'{]*)*>/y;

/** tagEnd returns where the tag of an element ends that begins at a position, or -1. */
function tagEnd(source: string, at: number, hasLiquid: boolean): number {
	usualTag.lastIndex = at;
	if (usualTag.test(source)) return usualTag.lastIndex;
	let quote = "";
	for (let i = at + 1; i < source.length; i++) {
		const c = source[i] as string;
		if (hasLiquid && isLiquid(source, i)) {
			const end = liquidEnd(source, i);
			if (end > 0) i = end - 1;
		} else if (quote) {
			if (c === quote) quote = "";
		} else if ((c === '"' || c === "'") && /=\s*$/.test(source.slice(Math.max(at, i - 20), i))) quote = c;
		else if (c === ">") return i + 1;
	}
	return -1;
}

/** tokens returns the tokens of a source. Pasted markup has no Liquid in it: there it is text. */
export function tokens(source: string, hasLiquid = true): Token[] {
	const found: Token[] = [];
	let text = 0;
	let lacksTagEnd = false;
	const lacksLiquidEnd = { "{": false, "%": false };
	const add = (kind: Token["kind"], from: number, to: number, name = "", closed = false) => {
		if (text < from) found.push({ kind: "text", from: text, to: from, name: "", closed: false });
		found.push({ kind, from, to, name, closed });
		text = to;
	};
	for (let i = 0; i < source.length; ) {
		const c = source[i];
		const next = source[i + 1] ?? "";
		if (hasLiquid && isLiquid(source, i) && !lacksLiquidEnd[next as "{" | "%"]) {
			const end = liquidEnd(source, i);
			if (end > 0) {
				// Of three braces the inner two are an output.
				while (next === "{" && source[i + 2] === "{" && i + 4 < end) i++;
				add(next === "{" ? "output" : "tag", i, end);
				i = end;
				continue;
			}
			lacksLiquidEnd[next as "{" | "%"] = true;
		} else if (c === "<" && (next === "!" || next === "?")) {
			const isComment = source.startsWith("<!--", i);
			const end = source.indexOf(isComment ? "-->" : ">", i + (isComment ? 4 : 2));
			const to = end < 0 ? source.length : end + (isComment ? 3 : 1);
			add("opaque", i, to);
			i = to;
			continue;
		} else if (c === "<" && !lacksTagEnd) {
			tagStart.lastIndex = i;
			const name = tagStart.exec(source);
			const end = name ? tagEnd(source, i, hasLiquid) : 0;
			if (end < 0) lacksTagEnd = true;
			if (name && end > 0) {
				const element = (name[2] ?? "").toLowerCase();
				const closed = source[end - 2] === "/";
				let to = end;
				if (name[1]) add("end", i, to, element);
				else if (rawElements.has(element) && !closed) {
					const close = new RegExp(`</${element}\\s*>`, "gi");
					close.lastIndex = end;
					to = close.exec(source) ? close.lastIndex : source.length;
					add("opaque", i, to, element);
				} else add("start", i, to, element, closed);
				i = to;
				continue;
			}
		}
		i++;
		if (hasLiquid) continue;
		i = source.indexOf("<", i);
		if (i < 0) break;
	}
	if (text < source.length) found.push({ kind: "text", from: text, to: source.length, name: "", closed: false });
	return found;
}
