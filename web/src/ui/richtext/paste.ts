import type { Allowed } from "./allowed";
import { pastedAddress } from "./address";
import { decode, encodeAround, straightLiquid } from "./entities";
import { attributesOf, declarations, quoted } from "./tags";
import { blockNames, type Element, type Part, tree } from "./tree";

// What is pasted keeps its structure (paragraphs, headings, lists, bold, italic, links) and nothing else.

type Format = { bold: boolean; italic: boolean; underline: boolean; strike: boolean; href: string | null };
type Run = Format & { text: string };
/** A block; a loose one is text that is in no element of its own, such as a word of a sentence. */
type Block = { name: string; level: number; isOrdered: boolean; isLoose: boolean; runs: Run[] };
type Context = Format & Omit<Block, "runs"> & { isExact: boolean };

const dropped = new Set(
	"head meta link base template object embed applet svg math noscript img picture video audio canvas map input select option button col".split(
		" ",
	),
);

/** pastedMarkup returns the source of pasted HTML. */
export function pastedMarkup(html: string, allowed: Allowed): string {
	const collector = new Collector(html);
	collector.walk(tree(html, false), {
		name: "p",
		level: 0,
		isOrdered: false,
		isLoose: true,
		isExact: false,
		bold: false,
		italic: false,
		underline: false,
		strike: false,
		href: null,
	});
	return written(collector.blocks, allowed);
}

/** pastedText returns the source of pasted text: empty lines are between paragraphs. */
export function pastedText(text: string, allowed: Allowed): string {
	const plain = { bold: false, italic: false, underline: false, strike: false, href: null };
	const paragraphs = text.replace(/\r\n?|\u2028|\v/g, "\n").split(/\n[ \t]*\n+|\u2029/);
	const isLoose = paragraphs.length === 1 && !text.includes("\n");
	const blocks = paragraphs.map((paragraph) => ({
		name: "p",
		level: 0,
		isOrdered: false,
		isLoose,
		runs: [{ ...plain, text: paragraph.replace(/[ \t]+/g, " ") }],
	}));
	return written(blocks, allowed);
}

type Looks = { href: string | undefined; style: Map<string, string> };

/** Collects the blocks of pasted HTML. */
class Collector {
	readonly blocks: Block[] = [];
	private current: Block | null = null;
	private readonly seen = new Map<string, Looks>();

	constructor(private readonly source: string) {}

	/** looks returns what counts of a start tag. Programs write the same one thousands of times. */
	private looks(tag: string): Looks {
		let found = this.seen.get(tag);
		if (!found) {
			const attributes = new Map(tag.includes("=") ? attributesOf(tag).map(({ name, value }) => [name, value]) : []);
			found = { href: attributes.get("href"), style: new Map(declarations(attributes.get("style") ?? "")) };
			this.seen.set(tag, found);
		}
		return found;
	}

	walk(parts: Part[], context: Context) {
		for (const part of parts) {
			if (part.kind === "text") this.text(this.source.slice(part.from, part.to), context);
			else if (part.kind === "element" && !dropped.has(part.name)) this.element(part, context);
		}
	}

	private text(source: string, context: Context) {
		const decoded = decode(source);
		const text = context.isExact ? decoded.replace(/\r\n?/g, "\n") : decoded.replace(/[ \t\r\n\f]+/g, " ");
		if (!this.current) {
			if (text.trim() === "" && !context.isExact) return;
			const { name, level, isOrdered, isLoose } = context;
			this.current = { name, level, isOrdered, isLoose, runs: [] };
			this.blocks.push(this.current);
		}
		const { bold, italic, underline, strike, href } = context;
		this.current.runs.push({ text: text.replace(/[\u2028\v]/g, "\n"), bold, italic, underline, strike, href });
	}

	private element(element: Element, outer: Context) {
		const { name } = element;
		const { href, style } = this.looks(this.source.slice(element.from, element.openTo));
		if (style.get("display") === "none" || style.get("mso-hide") === "all") return;
		if (style.get("mso-list")?.toLowerCase() === "ignore") return; // the bullet or number of a list of Word
		if (name === "br") {
			if (style.get("page-break-before") !== "always") this.text("\n", { ...outer, isExact: true });
			return;
		}
		const context = { ...outer };
		format(context, name, href, style);
		if (!blockNames.has(name)) return this.walk(element.children, context);
		this.current = null;
		structure(context, element, style, this.source);
		this.walk(element.children, context);
		this.current = null;
	}
}

/** Sets the format that an element gives to its text. */
function format(context: Context, name: string, href: string | undefined, style: Map<string, string>) {
	if (name === "b" || name === "strong") context.bold = true;
	if (name === "i" || name === "em") context.italic = true;
	if (name === "u" || name === "ins") context.underline = true;
	if (name === "s" || name === "strike" || name === "del") context.strike = true;
	const weight = style.get("font-weight");
	if (weight) context.bold = weight === "bold" || weight === "bolder" || Number(weight) >= 600;
	const slope = style.get("font-style");
	if (slope) context.italic = slope === "italic" || slope === "oblique";
	const line = style.get("text-decoration") ?? style.get("text-decoration-line");
	if (line) {
		context.underline = line.includes("underline");
		context.strike = line.includes("line-through");
	}
	if (name === "a") context.href = pastedAddress(href ?? "") ?? context.href;
}

/** Sets what kind of block an element begins. */
function structure(context: Context, element: Element, style: Map<string, string>, source: string) {
	const { name } = element;
	context.isLoose = false;
	if (/^h[1-6]$/.test(name)) context.name = name;
	else if (name === "pre") context.isExact = true;
	else if (name === "ul" || name === "ol") {
		context.level++;
		context.isOrdered = name === "ol";
	} else if (name === "li") context.name = "li";
	const wordLevel = /\blevel(\d)\b/.exec(style.get("mso-list") ?? "")?.[1];
	if (!wordLevel || name === "li") return;
	context.name = "li";
	context.level = Number(wordLevel);
	const marker = /mso-list:\s*ignore[^>]*>([\s\S]{0,400})/i.exec(source.slice(element.from, element.to))?.[1] ?? "";
	context.isOrdered = /^\(?(\d+|[a-z]{1,4})[.)]/i.test(
		decode(marker.replace(/<[^>]*>/g, "")).replace(/[\s\u00a0]+/g, ""),
	);
}

/** written returns the source of blocks. */
function written(blocks: Block[], allowed: Allowed): string {
	const [first] = blocks;
	if (first?.isLoose && blocks.length === 1) return inline(first, allowed);
	const full = blocks
		.map((block) => ({ ...block, source: inline({ ...block, isLoose: false }, allowed) }))
		.filter((block) => block.source !== "");
	if (allowed.isLine) return full.map((block) => block.source.replaceAll("<br/>", " ")).join(" ");
	let source = "";
	const lists: string[] = [];
	const closeTo = (level: number) => {
		while (lists.length > level) source += `</li></${lists.pop()}>`;
	};
	for (const block of full) {
		if (block.name !== "li" || !allowed.lists) {
			closeTo(0);
			const name = allowed.blocks.includes(block.name) ? block.name : "p";
			source += `<${name}>${block.source}</${name}>`;
			continue;
		}
		const list = block.isOrdered ? "ol" : "ul";
		const level = Math.min(Math.max(block.level, 1), lists.length + 1);
		closeTo(level);
		if (lists.length === level && lists.at(-1) !== list) closeTo(level - 1);
		if (lists.length < level) {
			lists.push(list);
			source += `<${list}>`;
		} else source += "</li>";
		source += `<li>${block.source}`;
	}
	closeTo(0);
	return source;
}

/** How a run is formatted where it is pasted: links are underlined and headings are bold by themselves. */
function formatOf(run: Run, block: Block, allowed: Allowed): string {
	const isHeading = /^h\d$/.test(block.name);
	let tags = run.href ? `<a href=${quoted(run.href)}>` : "";
	if (run.bold && !isHeading) tags += "<strong>";
	if (run.italic) tags += "<em>";
	if (run.underline && !run.href && allowed.underline) tags += "<u>";
	if (run.strike && allowed.strike) tags += "<s>";
	return tags;
}

const closing = (tags: string) =>
	[...tags.matchAll(/<(\w+)(?:>| href)/g)]
		.reverse()
		.map((tag) => `</${tag[1]}>`)
		.join("");

/** inline returns the source of the text of a block. */
function inline(block: Block, allowed: Allowed): string {
	const runs: { tags: string; text: string }[] = [];
	for (const run of block.runs) {
		const blank = /^[ \u00a0]*$/.test(run.text);
		const last = runs.at(-1);
		const tags = blank && last && !run.href ? last.tags : formatOf(run, block, allowed);
		if (last?.tags === tags) last.text += run.text;
		else runs.push({ tags, text: run.text });
	}
	trim(runs, block.isLoose);
	return runs
		.filter((run) => run.text !== "")
		.map(({ tags, text }) => {
			const lines = encodeAround(text).replaceAll("\n", "<br/>");
			return tags + lines + closing(tags);
		})
		.join("");
}

/** trim makes the spaces of runs those that are seen: one between words, none at ends of lines. A loose text keeps those around it. */
function trim(runs: { text: string }[], isLoose: boolean) {
	let before = isLoose ? "" : "\n";
	for (const run of runs) {
		run.text = spaced(straightLiquid(run.text));
		if (before === "\n") run.text = run.text.replace(/^\s+/, "");
		else if (/[ \n]$/.test(before)) run.text = run.text.replace(/^ +/, "");
		before = run.text || before;
	}
	for (let i = runs.length - 1; i >= 0 && !isLoose; i--) {
		const run = runs[i] as { text: string };
		run.text = run.text.replace(/\s+$/, "");
		if (run.text !== "") return;
	}
}

/** spaced keeps spaces that do not break where typography wants them; others are made by programs. */
const spaced = (text: string) =>
	text
		.replace(/[ \u00a0]*\n[ \u00a0]*/g, "\n")
		.replace(/[ \u00a0]*\u00a0[ \u00a0]*/g, (space, at: number, all: string) => {
			const before = all[at - 1] ?? "";
			const after = all[at + space.length] ?? "";
			const holds = /[«\d]/.test(before) || /[»:;!?%€°]/.test(after);
			return space === "\u00a0" && holds ? space : " ";
		})
		.replace(/ {2,}/g, " ");
