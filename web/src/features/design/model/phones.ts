import type { Change } from "../../../ui/editor/changeBetween";
import { children as allowed } from "../../../ui/editor/mjml";
import { defaultOf } from "../attributes";
import { type Act, act, fixedIn, kept, land, removal, setAttribute } from "./acts";
import { attributeValue, contentOf } from "./labels";
import { beginsLine, indentAt, laidOut, newlineOf, shifted, unitOf } from "./lines";
import { bodyOf, type ElementNode, elementAround, innerOf, isInBody, tagsOf, type Tree, walk } from "./tree";

// What is different on phones. MJML has two things for it: columns that stay beside each other in an mj-group, and a few
// attributes. The rest are classes, with rules for narrow screens in one mj-style of the head. The design writes that
// style, and reads its settings from it. A style that is not as the design writes it was written by a person, and stays
// as it is, as do all other classes.

/** PhoneLook is what is different about an element on phones. */
export type PhoneLook = {
	/** "not" is hidden on phones, "only" is hidden elsewhere. */
	shown?: "not" | "only";
	size?: string;
	align?: string;
	padding?: string;
};

export type PhoneSetting = keyof PhoneLook;

/** How elements are shown that can be hidden, and which other settings of theirs rules can change. */
const kinds: { [tag: string]: { display: string; settings: PhoneSetting[] } } = {
	"mj-section": { display: "block", settings: ["padding"] },
	"mj-wrapper": { display: "block", settings: ["padding"] },
	"mj-hero": { display: "block", settings: [] },
	"mj-column": { display: "inline-block", settings: [] },
	"mj-group": { display: "inline-block", settings: [] },
	"mj-text": { display: "table-cell", settings: ["size", "align", "padding"] },
	"mj-button": { display: "table-cell", settings: ["size", "align", "padding"] },
	"mj-image": { display: "table-cell", settings: ["align", "padding"] },
	"mj-divider": { display: "table-cell", settings: ["padding"] },
	"mj-spacer": { display: "table-cell", settings: [] },
	"mj-social": { display: "table-cell", settings: ["size", "align", "padding"] },
	"mj-table": { display: "table-cell", settings: ["size", "padding"] },
	"mj-navbar": { display: "table-cell", settings: ["align", "padding"] },
	"mj-accordion": { display: "table-cell", settings: ["padding"] },
	"mj-carousel": { display: "table-cell", settings: ["padding"] },
	"mj-navbar-link": { display: "inline-block", settings: ["size"] },
	"mj-social-element": { display: "table-row", settings: [] },
};

/** phoneSettings returns what can be different on phones about an element; null if there is nothing. */
export const phoneSettings = (element: ElementNode): PhoneSetting[] | null =>
	kinds[element.tag] && isInBody(element.parent) ? ["shown", ...(kinds[element.tag]?.settings ?? [])] : null;

/** Rule is a rule of a style for one class; wide is one that holds on all screens. */
type Rule = { name: string; selector: string; declarations: string; wide: boolean };

const title = "/* On phones: written by the design. */";

/** written returns the code of a style, which indents by two blanks. */
function written(rules: Rule[], width: number): string {
	const line = ({ selector, declarations }: Rule) => `${selector} { ${declarations} }`;
	return [
		title,
		...rules.filter((rule) => rule.wide).map(line),
		`@media only screen and (max-width: ${width}px) {`,
		...rules.filter((rule) => !rule.wide).map((rule) => `  ${line(rule)}`),
		"}",
	].join("\n");
}

const squashed = (css: string) => css.replace(/\s+/g, " ").trim();

const ofClass = /^\.on-phones-\d+(?: \*| table|(?: > (?:table|tbody|tr|td|div))*)$/;
const declared =
	/^(?:(?:display|mso-hide|font-size|line-height|text-align|margin|padding): [\w.% -]+(?: !important)?;(?: |$))+$/;

/** isWritten reports whether a rule is one that the design writes. */
const isWritten = ({ selector, declarations }: Rule) =>
	selector.split(", ").every((one) => ofClass.test(one)) && declared.test(declarations);

/** readRules returns the rules of a style; null if it is not as the design writes it. */
function readRules(css: string): { rules: Rule[]; width: number } | null {
	const [, before = "", width, inside = ""] =
		/^\s*\/\*[^*]*\*\/([^@]*)@media only screen and \(max-width: (\d+)px\) \{([\s\S]*)\}\s*$/.exec(css) ?? [];
	if (width === undefined) return null;
	const rulesIn = (part: string, wide: boolean) =>
		[...part.matchAll(/([^{}]+)\{([^{}]*)\}/g)].map(([, selector = "", declarations = ""]): Rule => {
			const name = /^\s*\.(on-phones-\d+)/.exec(selector)?.[1] ?? "";
			return { name, selector: squashed(selector), declarations: squashed(declarations), wide };
		});
	const rules = [...rulesIn(before, true), ...rulesIn(inside, false)];
	const isOurs = squashed(written(rules, Number(width))) === squashed(css) && rules.every(isWritten);
	return isOurs ? { rules, width: Number(width) } : null;
}

const elements = (parent: ElementNode | null | undefined, tag: string) =>
	(parent?.children ?? []).filter((node): node is ElementNode => node.kind === "element" && node.tag === tag);

/** documentOf returns the mjml element of a tree; null of a fragment. */
function documentOf(tree: Tree): ElementNode | null {
	const body = bodyOf(tree);
	return body.kind === "element" && body.parent.kind === "element" ? body.parent : null;
}

type Style = { element: ElementNode; rules: Rule[] };

/** styleOf returns the style that the design has written in a document. */
function styleOf(tree: Tree): Style | null {
	for (const head of elements(documentOf(tree), "mj-head"))
		for (const element of elements(head, "mj-style")) {
			const read = element.attributes.length === 0 ? readRules(contentOf(tree, element)) : null;
			if (read) return { element, rules: read.rules };
		}
	return null;
}

/** classesOf returns the classes of an element: its own, or those that it has from the head. */
const classesOf = (tree: Tree, element: ElementNode) =>
	attributeValue(tree, element, "css-class") ?? defaultOf(tree, element, "css-class");

/** nameIn returns the class of an element that has rules in a style; "" if it has none. */
const nameIn = (style: Style | null, classes: string) =>
	classes.split(/\s+/).find((name) => style?.rules.some((rule) => rule.name === name)) ?? "";

function readLook(rules: Rule[]): PhoneLook {
	const look: PhoneLook = {};
	for (const { declarations, wide } of rules) {
		const value = (name: string) => new RegExp(`(?:^|; )${name}: ([^;]*?) !important;`).exec(declarations)?.[1];
		if (wide) look.shown = "only";
		else if (value("display") === "none") look.shown = "not";
		look.size ??= value("font-size");
		look.align ??= value("text-align");
		look.padding ??= value("padding");
	}
	return look;
}

/** phoneLook returns what is different about an element on phones. */
export function phoneLook(tree: Tree, element: ElementNode): PhoneLook {
	const style = styleOf(tree);
	const name = nameIn(style, classesOf(tree, element));
	return readLook(style?.rules.filter((rule) => rule.name === name) ?? []);
}

/** rulesOf returns the rules of a class for an element, as the HTML of the compiler needs them. */
function rulesOf(tree: Tree, element: ElementNode, name: string, look: PhoneLook): Rule[] {
	const rules: Rule[] = [];
	const own = `.${name}`;
	const rule = (selector: string, declarations: string, wide = false) =>
		rules.push({ name, selector, declarations, wide });
	const { tag } = element;
	if (look.shown === "not") rule(own, "display: none !important;");
	if (look.shown === "only") {
		const isWide =
			(attributeValue(tree, element, "full-width") ?? defaultOf(tree, element, "full-width")) === "full-width";
		// mso-hide is for Outlook for Windows, which hides no table in what is hidden.
		rule(own, "display: none; mso-hide: all;", true);
		rule(own, `display: ${isWide ? "table" : kinds[tag]?.display} !important;`);
	}
	if (look.size) {
		// Lines in pixels would be too near to each other, or too far.
		const height = `${attributeValue(tree, element, "line-height") || defaultOf(tree, element, "line-height")} ${contentOf(tree, element)}`;
		const lines = /^[\d.]+px|line-height:\s*[\d.]+px/.test(height) ? " line-height: 1.4 !important;" : "";
		rule(`${own}, ${own} *`, `font-size: ${look.size} !important;${lines}`);
	}
	if (look.align && tag === "mj-text") rule(`${own}, ${own} *`, `text-align: ${look.align} !important;`);
	else if (look.align) {
		rule(own, `text-align: ${look.align} !important;`);
		const margin = { left: "0 auto 0 0", right: "0 0 0 auto" }[look.align] ?? "0 auto";
		if (tag !== "mj-navbar") rule(`${own} table`, `margin: ${margin} !important;`);
	}
	if (look.padding) {
		// The padding of a section is that of a cell in it, which a background or the full width put deeper.
		const cell = "table > tbody > tr > td";
		const row = `${own} > tbody > tr > td`;
		const inside = [
			`${own} > ${cell}`,
			`${own} > div > ${cell}`,
			`${row} > div > ${cell}`,
			`${row} > div > div > ${cell}`,
		];
		const isSection = tag === "mj-section" || tag === "mj-wrapper";
		rule(isSection ? inside.join(", ") : own, `padding: ${look.padding} !important;`);
	}
	return rules;
}

/** count returns how often a text has a class. */
const count = (text: string, name: string) => text.match(new RegExp(`(?<![\\w-])${name}(?![\\w-])`, "g"))?.length ?? 0;

function freshName(text: string): string {
	for (let n = 1; ; n++) if (count(text, `on-phones-${n}`) === 0) return `on-phones-${n}`;
}

/** withClass returns classes with one in place of another; either may be "". */
const withClass = (classes: string, before: string, after: string) =>
	before === ""
		? `${classes} ${after}`.trim()
		: classes
				.replace(new RegExp(`(?<![\\w-])${before}(?![\\w-])`), after)
				.replace(/ {2,}/, " ")
				.trim();

/** widthOf returns how wide the widest phone is, in pixels: columns are below each other on it. */
function widthOf(tree: Tree): number {
	const [breakpoint] = elements(documentOf(tree), "mj-head").flatMap((head) => elements(head, "mj-breakpoint"));
	const width = /^(\d+)px$/.exec((breakpoint && attributeValue(tree, breakpoint, "width")) ?? "")?.[1];
	return Number(width ?? 480) - 1;
}

const lengths = /^\d+(\.\d+)?(px|%)?( \d+(\.\d+)?(px|%)?){0,3}$/;
const valid: { [name in PhoneSetting]: RegExp } = {
	shown: /^(not|only)$/,
	size: /^\d+(\.\d+)?px$/,
	align: /^(left|center|right|justify)$/,
	padding: lengths,
};

/** setPhoneLook changes what is different about an element on phones; null of a fragment, which has no head, and of what is no value. */
export function setPhoneLook(tree: Tree, element: ElementNode, change: PhoneLook): Act | null {
	const top = documentOf(tree);
	const settings = phoneSettings(element);
	if (!top || !settings) return null;
	for (const [name, value] of Object.entries(change))
		if (value !== undefined && !(settings.includes(name as PhoneSetting) && valid[name as PhoneSetting].test(value)))
			return null;
	const { text } = tree;
	const style = styleOf(tree);
	const outside = style ? text.slice(0, style.element.from) + text.slice(style.element.to) : text;
	const classes = classesOf(tree, element);
	const before = nameIn(style, classes);
	const ofIt = style?.rules.filter((rule) => rule.name === before) ?? [];
	const now = readLook(ofIt);
	const look = { ...now, ...change };
	if (settings.every((name) => look[name] === now[name])) return null;
	const isEmpty = settings.every((name) => look[name] === undefined);
	// A copy of an element has its class, too, until one of them is changed.
	const isShared = before !== "" && count(outside, before) > 1;
	const after = isEmpty ? "" : isShared || before === "" ? freshName(text) : before;
	const next = isEmpty ? [] : rulesOf(tree, element, after, look);
	const isKept = ({ name }: Rule) => (name === before ? isShared : count(outside, name) > 0);
	const others = style?.rules.filter(isKept) ?? [];
	const at = isShared ? -1 : others.findIndex((rule) => rule.name > before && before !== "");
	const rules = at < 0 ? [...others, ...next] : others.toSpliced(at, 0, ...next);
	const classChange = setClasses(tree, element, withClass(classes, before, after));
	return classChange && kept(tree, act([...classChange, ...styleChanges(tree, top, style, rules)], element.from));
}

/** setClasses returns the changes that give an element classes; null if it cannot have them. */
function setClasses(tree: Tree, element: ElementNode, classes: string): Change[] | null {
	const own = attributeValue(tree, element, "css-class") ?? null;
	const next = classes === defaultOf(tree, element, "css-class") ? null : classes;
	return next === own ? [] : (setAttribute(tree, element, "css-class", next)?.changes ?? null);
}

function styleChanges(tree: Tree, top: ElementNode, style: Style | null, rules: Rule[]): Change[] {
	const css = written(rules, widthOf(tree)).replace(/^/gm, "  ");
	const code = `<mj-style>\n${css}\n</mj-style>`;
	if (style) {
		const { element } = style;
		if (rules.length === 0) return [{ ...removal(tree.text, element), insert: "" }];
		const insert = laidOut(code, tree.text, indentAt(tree.text, element.from));
		return insert === tree.text.slice(element.from, element.to) ? [] : [{ from: element.from, to: element.to, insert }];
	}
	if (rules.length === 0) return [];
	const [head] = elements(top, "mj-head");
	const write = (code: string) => (indent: string) => laidOut(code, tree.text, indent);
	if (head) return [land(tree, { parent: head, index: head.children.length }, write(code)).change];
	const index = top.children.findIndex((node) => node.kind === "element");
	const whole = `<mj-head>\n${code.replace(/^/gm, "  ")}\n</mj-head>`;
	return [land(tree, { parent: top, index }, write(whole)).change];
}

const loops = new Set(["for", "section"]);

/** Columns are how the columns of a section stand on phones: below each other, or beside each other, or some of them so. */
export type Columns = { section: ElementNode; group: ElementNode | null; stand: "below" | "beside" | "mixed" };

/** columnsAround returns how the columns stand of the section that an element is, or is a column of; null if there are not two. */
export function columnsAround(element: ElementNode): Columns | null {
	let section: ElementNode | null = element;
	while (section && ["mj-column", "mj-group"].includes(section.tag)) section = elementAround(section.parent);
	if (section?.tag !== "mj-section") return null;
	const inside = [...walk(section)].filter((node) => node.kind === "element");
	const columns = inside.filter((node) => node.tag === "mj-column");
	const repeats = columns.some((node) => node.parent.kind === "branch" && loops.has(node.parent.parent.name));
	if (columns.length < 2 && !repeats) return null;
	const groups = inside.filter((node) => node.tag === "mj-group");
	if (groups.length === 0) return { section, group: null, stand: "below" };
	const [group = null] = groups;
	const isAll = groups.length === 1 && section.children.every((node) => node === group || tagsOf(node).length === 0);
	return { section, group, stand: isAll ? "beside" : "mixed" };
}

/** placeBeside puts all columns of a section into a group, so that they stay beside each other on phones. */
export function placeBeside(tree: Tree, section: ElementNode): Act | null {
	const { text } = tree;
	const [first, last] = [section.children[0], section.children.at(-1)];
	const inGroup = allowed["mj-group"] ?? [];
	if (!first || !last || !section.children.every((node) => tagsOf(node).every((tag) => inGroup.includes(tag))))
		return null;
	const range = { from: first.from, to: last.to };
	if (!beginsLine(text, first.from)) {
		const insert = `<mj-group>${text.slice(range.from, range.to)}</mj-group>`;
		return kept(tree, act([{ ...range, insert }], section.from));
	}
	const indent = indentAt(text, first.from);
	const deeper = indent + unitOf(text);
	const newline = newlineOf(text);
	const fixed = section.children.flatMap((node) => fixedIn(text, node));
	const code = shifted(text, range, deeper, fixed);
	const insert = `<mj-group>${newline}${deeper}${code}${newline}${indent}</mj-group>`;
	return kept(tree, act([{ ...range, insert }], section.from));
}

/** placeBelow takes the group around columns away; null if it has settings of its own, which would be lost. */
export function placeBelow(tree: Tree, group: ElementNode): Act | null {
	const { text } = tree;
	const inner = innerOf(group);
	const [first, last] = [group.children[0], group.children.at(-1)];
	const section = elementAround(group.parent);
	if (!section || group.attributes.length > 0 || !inner || !first || !last) return null;
	const fixed = group.children.flatMap((node) => fixedIn(text, node));
	const insert = shifted(text, { from: first.from, to: last.to }, indentAt(text, group.from), fixed);
	return kept(tree, act([{ from: group.from, to: group.to, insert }], section.from));
}
