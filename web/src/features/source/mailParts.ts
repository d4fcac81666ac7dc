import type { BindingOptions } from "../../api/schema";
import { nameOf } from "../binding/binding";

// What the elements of a mail are made of. A mail is shown with marks: the positions in its source at which its
// elements begin. Templates name what fills them in: see docs/content.md, "Placeholders".

/** Filling is what fills an element of a template: a parameter, a section or a field of its rows, or a slot. */
export type Filling = { kind: "parameters" | "sections" | "slots"; name: string; item?: string };

/** Part is an element of a mail that shows something. */
export type Part = { at: number; tag: string; text: string };

const startTag = /<([a-zA-Z][\w-]*)((?:[^>"']|"[^"]*"|'[^']*')*)>/y;

/** Elements of HTML without an end. */
const isVoid = (tag: string) => /^(area|br|col|hr|img|input|link|meta|source|wbr)$/i.test(tag);

/** startAt returns the start tag that begins at a position. */
function startAt(text: string, at: number) {
	startTag.lastIndex = at;
	const [whole, tag, attributes] = startTag.exec(text) ?? [];
	return whole && tag
		? {
				tag,
				attributes: attributes ?? "",
				end: at + whole.length,
				isClosed: isVoid(tag) || /\/\s*$/.test(attributes ?? ""),
			}
		: null;
}

/** elementAt returns the text of the element that begins at a position; empty if none does. */
export function elementAt(text: string, at: number): string {
	const start = startAt(text, at);
	if (!start) return "";
	if (start.isClosed) return text.slice(at, start.end);
	const tags = new RegExp(`<(/?)${start.tag}(?![\\w-])(?:[^>"']|"[^"]*"|'[^']*')*>`, "gi");
	tags.lastIndex = start.end;
	let depth = 1;
	for (let match = tags.exec(text); match; match = tags.exec(text)) {
		if (match[1]) depth--;
		else if (!/\/\s*>$/.test(match[0])) depth++;
		if (depth === 0) return text.slice(at, tags.lastIndex);
	}
	return text.slice(at, start.end);
}

const placeholder = /\{\{\s*(?:(param|slot|item):\s*(\w+)|#section\s+(\w+)|(\w+)\s*[}|])|(?<![\w.])param\.(\w+)/g;

/** sectionAround returns the section whose rows repeat what stands at a position. */
function sectionAround(text: string, at: number): string | undefined {
	const before = text.slice(0, at);
	const begins = [...before.matchAll(/\{\{\s*#section\s+(\w+)\s*\}\}/g)].at(-1);
	const isOver = begins && /\{\{\s*\/section\s*\}\}/.test(before.slice(begins.index));
	return isOver ? undefined : begins?.[1];
}

/**
 * fillingAt returns what fills the element, or is the slot, at a position of a template's text: what it names first, else
 * the section that repeats it. A short placeholder, {{name}}, is one if its name is among parameters.
 */
export function fillingAt(text: string, at: number, parameters: string[]): Filling | null {
	const around = sectionAround(text, at);
	const own = text.startsWith("{{", at) ? text.slice(at, text.indexOf("}}", at) + 2) : elementAt(text, at);
	for (const [, kind, named, section, short, liquid] of own.matchAll(placeholder)) {
		const parameter = kind === "param" ? named : (liquid ?? (short && parameters.includes(short) ? short : undefined));
		if (parameter) return { kind: "parameters", name: parameter };
		if (kind === "slot" && named) return { kind: "slots", name: named };
		if (section) return { kind: "sections", name: section };
		if (kind === "item" && named && around)
			return named.startsWith("_")
				? { kind: "sections", name: around }
				: { kind: "sections", name: around, item: named };
	}
	return around ? { kind: "sections", name: around } : null;
}

/** pathOf returns the path of the field of a filling; a row is that of an element that a section repeats. */
export const pathOf = ({ kind, name, item }: Filling, row: number) =>
	item === undefined ? `${kind}.${name}` : `${kind}.${name}[${row}].${item}`;

/** lineAt returns the line of a position, from 1. */
export const lineAt = (text: string, at: number) => text.slice(0, at).split("\n").length;

const shown =
	/<(mj-(?:text|button|image|hero|table|social|navbar|accordion|carousel|raw)|h[1-6]|p|li|a|img)(?![\w-])/gi;
const maxParts = 60;
const maxText = 48; // characters

/** partsOf returns the elements of MJML or HTML that show something, without those inside of others. */
export function partsOf(text: string): Part[] {
	const parts: Part[] = [];
	let end = 0;
	for (const match of text.matchAll(shown)) {
		if (match.index < end || parts.length === maxParts) continue;
		const element = elementAt(text, match.index);
		end = match.index + element.length;
		const own = element
			.replace(/<[^>]*>/g, " ")
			.replace(/\s+/g, " ")
			.trim();
		const label = own || /\b(?:alt|title)\s*=\s*["']([^"']+)/i.exec(element)?.[1] || "";
		const cut = [...label].length > maxText ? `${[...label].slice(0, maxText).join("").trimEnd()}…` : label;
		parts.push({ at: match.index, tag: (match[1] ?? "").toLowerCase(), text: cut });
	}
	return parts;
}

/** withoutMarks returns the HTML of a mail without the marks that a preview has put in. */
export const withoutMarks = (html: string) => html.replace(/ class="pb-mark-\d+"| ?\bpb-mark-\d+\b/g, "");

type Rect = { mark: number; x: number; y: number; width: number; height: number };

/** rowAt returns which of the elements with a mark, in their order, is at a point. */
export function rowAt(rects: Rect[], mark: number, x: number, y: number): number {
	const row = rects
		.filter((rect) => rect.mark === mark)
		.findIndex((rect) => x >= rect.x && x <= rect.x + rect.width && y >= rect.y && y <= rect.y + rect.height);
	return Math.max(0, row);
}

/** fillingsOf returns what a template can be filled with, with its names. */
export const fillingsOf = (options: BindingOptions | undefined): { filling: Filling; label: string }[] =>
	options
		? (
				[
					["parameters", options.parameters_schema],
					["sections", options.sections_schema],
					["slots", options.slots_schema],
				] as const
			).flatMap(([kind, entries]) =>
				entries.map((entry) => ({ filling: { kind, name: entry.name }, label: nameOf(entry) })),
			)
		: [];
