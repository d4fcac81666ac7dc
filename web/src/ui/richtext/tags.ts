// The source of a start tag, of which one attribute is read or changed and the rest stays. It may have spaces around.

export type Attribute = { name: string; value: string; from: number; to: number };

const pattern = /\s+([^\s=/>"'{}]+)(?:\s*=\s*("(?:\{\{[\s\S]*?\}\}|[^"])*"|'(?:\{\{[\s\S]*?\}\}|[^'])*'|[^\s>"']+))?/g;

/** attributesOf returns the attributes of a start tag, with entities decoded, and their places with the space before. */
export function attributesOf(tag: string): Attribute[] {
	const start = /^\s*<[^\s/>]+/.exec(tag)?.[0].length;
	if (start === undefined) return [];
	const found: Attribute[] = [];
	pattern.lastIndex = start;
	for (let m = pattern.exec(tag); m; m = pattern.exec(tag)) {
		const raw = m[2] ?? "";
		const value = /^["']/.test(raw) ? raw.slice(1, -1) : raw;
		found.push({
			name: (m[1] ?? "").toLowerCase(),
			value: value.replace(/&(amp|lt|gt|quot|#39|#34);/g, (_, name: string) => entities[name] ?? ""),
			from: m.index,
			to: pattern.lastIndex,
		});
	}
	return found;
}

const entities: { [name: string]: string } = { amp: "&", lt: "<", gt: ">", quot: '"', "#34": '"', "#39": "'" };

/** attribute returns the value of an attribute of a start tag. */
export const attribute = (tag: string, name: string) => attributesOf(tag).find((a) => a.name === name)?.value;

/** quoted returns a value as an attribute has it. Liquid in it stays code, between quotes that it does not have. */
export function quoted(value: string): string {
	const pieces = value.split(/(\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\})/);
	const inLiquid = pieces.filter((_, i) => i % 2 === 1).join("");
	const quote = inLiquid.includes('"') ? "'" : '"';
	const escaped = pieces.map((piece, i) =>
		i % 2 === 1
			? piece
			: piece
					.replaceAll("&", "&amp;")
					.replaceAll("<", "&lt;")
					.replaceAll(">", "&gt;")
					.replaceAll(quote, quote === '"' ? "&quot;" : "&#39;"),
	);
	return quote + escaped.join("") + quote;
}

/** withAttribute returns a start tag with another value of an attribute, or without it. */
export function withAttribute(tag: string, name: string, value: string | null): string {
	const old = attributesOf(tag).find((a) => a.name === name);
	const next = value === null ? "" : ` ${name}=${quoted(value)}`;
	if (old) return old.value === value ? tag : tag.slice(0, old.from) + next + tag.slice(old.to);
	const start = /^\s*<[^\s/>]+/.exec(tag)?.[0].length;
	return start === undefined ? tag : tag.slice(0, start) + next + tag.slice(start);
}

/** nameOf returns the name of the element of a start tag, or "" where there is no tag. */
export const nameOf = (tag: string) => (/^\s*<([^\s/>]+)/.exec(tag)?.[1] ?? "").toLowerCase();

/** withName returns a tag of another element, with the same attributes. */
export const withName = (tag: string, name: string) => tag.replace(/(<\/?)[^\s/>]+/, `$1${name}`);

/** declarations returns the declarations of a style. */
export function declarations(style: string): [property: string, value: string][] {
	if (style === "") return [];
	return style
		.split(/;(?![^(]*\))/)
		.map((declaration): [string, string] => {
			const colon = declaration.indexOf(":");
			return [declaration.slice(0, colon).trim().toLowerCase(), declaration.slice(colon + 1).trim()];
		})
		.filter(([property]) => property !== "");
}

/** property returns the value of a property of the style of a start tag. */
export const property = (tag: string, name: string) =>
	declarations(attribute(tag, "style") ?? "").find(([property]) => property === name)?.[1];

/** withProperty returns a start tag with another value of a property of its style, or without it. */
export function withProperty(tag: string, name: string, value: string | null): string {
	if ((property(tag, name) ?? null) === value) return tag;
	const style = declarations(attribute(tag, "style") ?? "").filter(([property]) => property !== name);
	if (value !== null) style.push([name, value]);
	return withAttribute(tag, "style", style.map(([property, value]) => `${property}: ${value}`).join("; ") || null);
}

/** The properties whose effect an editor shows. */
const shown = new Set(
	"color background-color font-size font-family font-weight font-style text-decoration text-align line-height text-transform letter-spacing".split(
		" ",
	),
);

/** shownStyle returns the part of a start tag's style that an editor shows. */
export function shownStyle(tag: string): string | null {
	if (!tag.includes("=")) return null;
	const align = attribute(tag, "align");
	const style = declarations(attribute(tag, "style") ?? "")
		.filter(([property, value]) => shown.has(property) && !/[({@\\]/.test(value.replace(/(rgb|hsl)a?\(/g, "")))
		.map(([property, value]) => `${property}: ${value}`);
	if (align && /^(left|right|center|justify)$/i.test(align)) style.unshift(`text-align: ${align}`);
	return style.join("; ") || null;
}
