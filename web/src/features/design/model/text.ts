import { spansOf } from "./liquid";

// What people read and write in attributes and texts, and how it is written in MJML. Liquid stays as it is.

const entities: { [name: string]: string } = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#39": "'" };

/** outsideLiquid replaces what a text has besides its Liquid. */
function outsideLiquid(text: string, replace: (piece: string) => string): string {
	let out = "";
	let last = 0;
	for (const { from, to } of spansOf(text)) {
		out += replace(text.slice(last, from)) + text.slice(from, to);
		last = to;
	}
	return out + replace(text.slice(last));
}

const decoded = /&(amp|lt|gt|quot|apos|#39|#123);/g;

/** decode returns the text that is written in MJML; entities that it has no need of stay as they are. */
export const decode = (written: string) =>
	outsideLiquid(written, (piece) =>
		piece.replace(decoded, (_, name: string) => (name === "#123" ? "{" : (entities[name] ?? ""))),
	);

/** escaped writes what would be read as something else: entities, tags, and braces that begin Liquid and do not end it. */
const escaped = (piece: string) =>
	piece
		.replace(/&(?=(?:amp|lt|gt|quot|apos|#39|#123);)/g, "&amp;")
		.replaceAll("<", "&lt;")
		.replace(/\{(?=[{%])/g, "&#123;")
		.replace(/\{$/, "&#123;");

/** attributeOf writes a value between quotes. */
export const attributeOf = (value: string, quote: string) =>
	outsideLiquid(value, (piece) => escaped(piece).replaceAll(quote, quote === '"' ? "&quot;" : "&#39;"));

/** wordsOf returns the words of HTML, for a label. */
export const wordsOf = (html: string, most = 60) => {
	const words = decode(
		outsideLiquid(html, (piece) => piece.replace(/<!--[\s\S]*?-->|<[^>]*>/g, " ").replaceAll("&nbsp;", " ")),
	)
		.replace(/\s+/g, " ")
		.trim();
	return words.length > most ? `${words.slice(0, most - 1).trimEnd()}…` : words;
};
