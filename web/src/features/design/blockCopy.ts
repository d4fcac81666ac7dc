import type { BlockRow, ParameterEntry, SectionEntry, SlotEntry } from "../../api/schema";
import type { Insertable } from "./inserting";
import { codeOf, spansOf } from "./model/liquid";
import { parse } from "./model/parse";
import { attributeOf } from "./model/text";
import { slotMark, tagsOf, type Tree, walk } from "./model/tree";

// What of an account and of a template can be inserted into MJML. A block is inserted as a copy, which has the values of
// its fields that it has by default, or else those that it is shown with: in a mail there is nobody who fills them in.

type Value = ParameterEntry["default"];
type Row = { [item: string]: { entry?: ParameterEntry; value: Value } };

const defaultOf = (entry: ParameterEntry): Value => (entry.default === "" ? null : entry.default) ?? entry.sample;

const rowOf = (entries: ParameterEntry[]): Row =>
	Object.fromEntries(entries.map((entry) => [entry.name, { entry, value: defaultOf(entry) }]));

/** printed returns what the code of a mail has in place of a field. */
function printed({ entry, value }: Row[string]): string {
	if (value === null) return "";
	const text = attributeOf(Array.isArray(value) ? value.join(", ") : String(value), '"');
	if (entry?.type === "rich_text" || entry?.type === "html") return String(value);
	return entry?.type === "textarea" ? text.replaceAll("\n", "<br />") : text;
}

/** NoCopy is thrown where a field is named by Liquid that cannot be written without it. */
class NoCopy extends Error {}

/** literal returns a value as Liquid writes it. */
function literal(value: Value): string {
	if (Array.isArray(value)) throw new NoCopy();
	if (typeof value !== "string") return String(value ?? "nil");
	const safe = value.replace(/[{}%]/g, "");
	return safe.includes('"') ? `'${safe.replaceAll("'", "")}'` : `"${safe}"`;
}

/** filled returns code with values in place of fields and sections. */
function filled(text: string, fields: Row, sections: SectionEntry[], row: Row | null): string {
	let out = "";
	let last = 0;
	const spans = spansOf(text);
	const codes = spans.map(({ from, to }) => codeOf(text.slice(from, to)));
	const placeholder = (kind: string, name: string) => (kind === "item" ? row : fields)?.[name];
	const inLiquid = (code: string) =>
		code
			.replace(
				/\{\{\s*(param|item)\s*:\s*(\w+)\s*\}\}|\b(param|item)\s*:\s*(\w+)/g,
				(whole, kind = "", name = "", kind2 = "", name2 = "") => {
					const field = placeholder(kind || kind2, name || name2);
					return field ? literal(field.value) : whole;
				},
			)
			.replace(/(?<![\w.])param\.(\w+)/g, (_, name: string) => literal(fields[name]?.value ?? null));
	for (let i = 0; i < spans.length; i++) {
		const span = spans[i] as (typeof spans)[number];
		const code = codes[i] ?? "";
		const piece = text.slice(span.from, span.to);
		const begin = span.name === "" && /^#section\s+(\w+)$/.exec(code);
		if (begin) {
			const end = codes.findIndex((other, n) => n > i && /^\/section\b/.test(other));
			const close = spans[end];
			const section = sections.find(({ name }) => name === begin[1]);
			if (!close || !section) throw new NoCopy();
			const [from, to] = [lineOf(text, span), lineOf(text, close)];
			out += text.slice(last, Math.max(last, from.from));
			const count = Math.max(1, section.min);
			for (let n = 0; n < count; n++) {
				const own: Row = {
					...rowOf(section.item_schema),
					_index: { value: n + 1 },
					_first: { value: n === 0 },
					_last: { value: n === count - 1 },
				};
				out += filled(text.slice(from.to, to.from), fields, sections, own);
			}
			last = to.to;
			i = end;
			continue;
		}
		out += text.slice(last, span.from);
		last = span.to;
		const named = span.name === "" && /^(?:(param|item)\s*:\s*)?([a-z_]\w*)$/.exec(code);
		const field = named && (named[1] ? placeholder(named[1], named[2] ?? "") : row ? null : fields[named[2] ?? ""]);
		out += field ? printed(field) : span.name === "comment" ? piece : inLiquid(piece);
	}
	return out + text.slice(last);
}

/** lineOf returns the whole line of what stands alone in it, or else that itself. */
function lineOf(text: string, { from, to }: { from: number; to: number }) {
	const before = /(?:^|\n)[ \t]*$/.exec(text.slice(0, from));
	const after = /^[ \t]*(?:\n|$)/.exec(text.slice(to));
	if (!before || !after) return { from, to };
	return { from: before.index + (before[0].startsWith("\n") ? 1 : 0), to: to + after[0].length };
}

/** insertable returns code that can be inserted; null if it is not to be read, or has nothing that is shown. */
function insertable(code: string, marks: string[] = []): Insertable | null {
	const tree = parse(code, true);
	if (tree.broken) return null;
	const tag = [...new Set([...marks, ...tree.root.children.flatMap(tagsOf)])];
	return tag.length > 0 ? { tag, code } : null;
}

/** copyOf returns the code of a block as it stands in a mail by itself; null if it cannot. */
export function copyOf(
	block: Pick<BlockRow, "content_mjml" | "parameters_schema" | "sections_schema">,
): Insertable | null {
	const lines = (block.content_mjml ?? "")
		.replaceAll("\r\n", "\n")
		.replace(/^\t+/gm, (tabs) => "  ".repeat(tabs.length))
		.replace(/^(?:[ \t]*\n)+/, "")
		.trimEnd();
	const indent = /^ */.exec(lines)?.[0] ?? "";
	const source = lines.replace(new RegExp(`^${indent}`, "gm"), "");
	try {
		return insertable(filled(source, rowOf(block.parameters_schema), block.sections_schema, null));
	} catch (error) {
		if (error instanceof NoCopy) return null;
		throw error;
	}
}

/** sectionOf returns code that repeats for the rows of a section, with an element for each of its fields. */
export function sectionOf(section: Pick<SectionEntry, "name" | "item_schema">, text: string): Insertable | null {
	const elements = section.item_schema
		.filter(({ type }) => type !== "color" && type !== "boolean")
		.map(({ name, type, label }) => {
			if (type === "image") return `<mj-image src="{{item:${name}}}" alt="" />`;
			if (type === "url") return `<mj-button href="{{item:${name}}}">${attributeOf(label ?? name, '"')}</mj-button>`;
			return `<mj-text>{{item:${name}}}</mj-text>`;
		});
	const inner = elements.length > 0 ? elements : [`<mj-text>${text}</mj-text>`];
	return insertable(`{{#section ${section.name}}}\n${inner.join("\n")}\n{{/section}}`);
}

/** slotOf returns the code of a slot, which goes where the blocks go that fit it; null if the text has it already. */
export function slotOf(
	tree: Tree,
	slot: Pick<SlotEntry, "name" | "tag_filter">,
	blocks: BlockRow[],
): Insertable | null {
	if (new RegExp(`\\{\\{-?\\s*slot\\s*:\\s*${slot.name}\\s*-?\\}\\}`).test(tree.text)) return null;
	for (const { tags, content_mjml } of blocks) {
		if (!slot.tag_filter.every((tag) => tags.includes(tag))) continue;
		const block = parse(content_mjml ?? "", true);
		const first = block.broken ? null : [...walk(block.root)].find((node) => node.kind === "element");
		if (first) return { tag: [slotMark, ...tagsOf(first)], code: `{{slot:${slot.name}}}` };
	}
	return { tag: [slotMark, "mj-section"], code: `{{slot:${slot.name}}}` };
}
