import type { Change } from "../../../ui/editor/changeBetween";
import type { Range } from "./liquid";
import { beginsLine, endsLine, indentAt, laidOut, lineEnd, lineStart, newlineOf, shifted, unitOf } from "./lines";
import { parse } from "./parse";
import { accepts, isHere, type Place } from "./places";
import { attributeOf, decode } from "./text";
import {
	type Branch,
	type ConditionNode,
	contains,
	containersOf,
	type ElementNode,
	elementAround,
	innerOf,
	isInBody,
	type Node,
	nodeAt,
	parentOf,
	tagsOf,
	type Tree,
} from "./tree";

/** Act is one transaction of an editor: changes of its text, in their order, and where the node that it is about begins behind them. */
export type Act = { changes: Change[]; select: number };

/** applied returns a text with changes. */
export function applied(text: string, changes: Change[]): string {
	let out = "";
	let last = 0;
	for (const { from, to, insert } of changes) {
		out += text.slice(last, from) + insert;
		last = to;
	}
	return out + text.slice(last);
}

/** act puts changes in order; select is a position of the text, and offset how far behind what is inserted there. */
export function act(changes: Change[], select: number, offset = 0): Act {
	const ordered = changes.toSorted((a, b) => a.from - b.from || a.to - b.to);
	const shift = ordered
		.filter(({ from, to }) => to <= select && from < select)
		.reduce((sum, { from, to, insert }) => sum + insert.length - (to - from), 0);
	return { changes: ordered, select: select + shift + offset };
}

/** Landing is a change that inserts something, and where in what is inserted that begins. */
export type Landing = { change: Change; offset: number };

/** land returns the change that puts code at a place; write lays it out for an indentation. */
export function land(tree: Tree, { parent, index }: Place, write: (indent: string) => string): Landing {
	const { text } = tree;
	const newline = newlineOf(text);
	const put = (from: number, before: string, code: string, after = "", to = from): Landing => ({
		change: { from, to, insert: before + code + after },
		offset: before.length,
	});
	const next = parent.children[index];
	const previous = parent.children[index - 1];
	if (next && beginsLine(text, next.from)) {
		const indent = indentAt(text, next.from);
		return put(lineStart(text, next.from), indent, write(indent), newline);
	}
	if (next && !(previous && endsLine(text, previous.to))) return put(next.from, "", write(indentAt(text, next.from)));
	if (previous) {
		const indent = indentAt(text, previous.from);
		return endsLine(text, previous.to)
			? put(previous.to, newline + indent, write(indent))
			: put(previous.to, "", write(indent));
	}
	return landInEmpty(tree, parent, put, write);
}

function landInEmpty(
	{ text }: Tree,
	parent: Place["parent"],
	put: (from: number, before: string, code: string, after?: string, to?: number) => Landing,
	write: (indent: string) => string,
): Landing {
	const newline = newlineOf(text);
	if (parent.kind === "root") return put(text.length, text.trim() === "" ? "" : newline, write(""));
	const outer = indentAt(text, parent.kind === "branch" ? parent.mark.from : parent.from);
	const indent = parent.kind === "branch" ? outer : outer + unitOf(text);
	if (parent.kind === "element" && !parent.close) {
		const slash = parent.open.to - "/>".length;
		const from = /[ \t]$/.test(text.slice(parent.open.from, slash)) ? slash - 1 : slash;
		return put(from, `>${newline}${indent}`, write(indent), `${newline}${outer}</${parent.tag}>`, parent.open.to);
	}
	const from = parent.kind === "branch" ? parent.from : parent.open.to;
	return put(from, newline + indent, write(indent), endsLine(text, from) ? "" : newline + outer);
}

/** insert puts the code of one element at a place; null if it may not stand there. The code indents by two blanks. */
export function insert(tree: Tree, place: Place, code: string): Act | null {
	const fragment = parse(code, true);
	if (fragment.broken || fragment.root.children.some((node) => !accepts(place.parent, tagsOf(node)))) return null;
	const { change, offset } = land(tree, place, (indent) => laidOut(code, tree.text, indent));
	return act([change], change.from, offset);
}

/** isFixed reports whether a node cannot be moved, copied or removed: what is not in the body, and text that is dropped. */
export const isFixed = (node: Node) => !isInBody(node.parent) || (node.kind === "opaque" && node.what === "text");

/** removal returns the range that goes with a node: its lines, if it stands alone on them. */
export function removal(text: string, { from, to }: Range): Range {
	const end = lineEnd(text, to);
	return beginsLine(text, from) && end >= 0 ? { from: lineStart(text, from), to: end } : { from, to };
}

/** remove takes a node away; null if it has to stay. What is selected then is its neighbour, or what is around it. */
export function remove(tree: Tree, node: Node): Act | null {
	if (isFixed(node)) return null;
	// Text that is dropped may become one with other text.
	const siblings = node.parent.children.filter((sibling) => !isFixed(sibling));
	const at = siblings.indexOf(node);
	const next = siblings[at + 1] ?? siblings[at - 1];
	return act([{ ...removal(tree.text, node), insert: "" }], (next ?? parentOf(node) ?? tree.root).from);
}

/** fixedIn returns the ranges in a node whose blanks count, or may count. */
export function fixedIn(text: string, node: Node): Range[] {
	if (node.kind === "opaque") return [node];
	if (node.kind === "condition")
		return node.branches.flatMap((branch) => branch.children.flatMap((child) => fixedIn(text, child)));
	const values = node.attributes.map((attribute) => attribute.value);
	if (node.content === "elements") return [...values, ...node.children.flatMap((child) => fixedIn(text, child))];
	const inner = innerOf(node);
	const counts = inner && /<(?:pre|textarea|!\[CDATA\[|!--)|white-space/i.test(text.slice(inner.from, inner.to));
	return counts ? [...values, inner] : values;
}

/** move takes a node to another place; null if it may not stand there, or stands there already. */
export function move(tree: Tree, node: Node, place: Place): Act | null {
	if (isFixed(node) || contains(node, place.parent) || isHere(node, place)) return null;
	if (!accepts(place.parent, tagsOf(node))) return null;
	const fixed = fixedIn(tree.text, node);
	const { change, offset } = land(tree, place, (indent) => shifted(tree.text, node, indent, fixed));
	return act([{ ...removal(tree.text, node), insert: "" }, change], change.from, offset);
}

/** step returns the place before or behind the neighbour of a node, or out of what is around it; null if there is none. */
export function step(node: Node, by: -1 | 1): Place | null {
	const { parent } = node;
	const at = parent.children.indexOf(node);
	const neighbour = parent.children[at + by];
	if (neighbour) {
		const inside = neighbour.kind === "condition" ? containersOf(neighbour).at(by < 0 ? -1 : 0) : undefined;
		if (inside && accepts(inside, tagsOf(node))) return { parent: inside, index: by < 0 ? inside.children.length : 0 };
		return { parent, index: by < 0 ? at - 1 : at + 2 };
	}
	return outOf(node, by) ?? intoCousin(node, by);
}

/** outOf returns the place beside the condition that a node is first or last in, or in its next branch. */
function outOf(node: Node, by: -1 | 1): Place | null {
	if (node.parent.kind !== "branch") return null;
	const condition = node.parent.parent;
	const branch = condition.branches[condition.branches.indexOf(node.parent) + by];
	if (branch && accepts(branch, tagsOf(node))) return { parent: branch, index: by < 0 ? branch.children.length : 0 };
	return { parent: condition.parent, index: condition.parent.children.indexOf(condition) + (by < 0 ? 0 : 1) };
}

/** intoCousin returns the place in the next element like the one around a node: a column beside its column, or one of the next section. */
function intoCousin(node: Node, by: -1 | 1): Place | null {
	const around = elementAround(node.parent);
	if (!around || isFixed(around)) return null;
	const within = (container: Node | undefined): Place | null => {
		if (!container) return null;
		const inner = containersOf(container);
		for (const one of by < 0 ? inner.toReversed() : inner) {
			if (accepts(one, tagsOf(node))) return { parent: one, index: by < 0 ? one.children.length : 0 };
			for (const child of by < 0 ? one.children.toReversed() : one.children) {
				const found = within(child);
				if (found) return found;
			}
		}
		return null;
	};
	for (let at: Node = around; ; ) {
		const siblings = at.parent.children;
		for (let i = siblings.indexOf(at) + by; i >= 0 && i < siblings.length; i += by) {
			const found = within(siblings[i]);
			if (found) return found;
		}
		const up: Node | null = parentOf(at);
		if (!up || isFixed(up)) return null;
		at = up;
	}
}

/** duplicate puts a copy of a node behind it; null of what there is once. */
export function duplicate(tree: Tree, node: Node): Act | null {
	if (isFixed(node)) return null;
	const { text } = tree;
	const alone = beginsLine(text, node.from) && endsLine(text, node.to);
	const before = alone ? newlineOf(text) + indentAt(text, node.from) : "";
	const code = text.slice(node.from, node.to);
	return act([{ from: node.to, to: node.to, insert: before + code }], node.to, before.length);
}

/** kept returns an act if the text can be read after it, and the element that it is about begins where it did. */
export function kept(tree: Tree, act: Act): Act | null {
	const after = parse(applied(tree.text, act.changes), tree.root.fragment);
	return after.broken || !nodeAt(after, act.select) ? null : act;
}

/** setAttribute writes an attribute of an element, or takes it away if the value is null. Nothing else changes. */
export function setAttribute(tree: Tree, element: ElementNode, name: string, value: string | null): Act | null {
	const { text } = tree;
	const { attributes } = element;
	const at = attributes.findIndex((attribute) => attribute.name === name);
	const found = attributes[at];
	if (found && value === null) {
		const from = attributes[at - 1]?.to ?? element.open.from + 1 + element.tag.length;
		return act([{ from, to: found.to, insert: "" }], element.from);
	}
	if (value === null || (found && decode(text.slice(found.value.from, found.value.to)) === value)) return null;
	if (found) return kept(tree, act([{ ...found.value, insert: attributeOf(value, found.quote) }], element.from));
	const last = attributes.at(-1);
	const end = last?.to ?? element.open.from + 1 + element.tag.length;
	const start = attributes.at(-2)?.to ?? element.open.from + 1 + element.tag.length;
	const space = last ? text.slice(start, last.from) : " ";
	const quote = last?.quote ?? '"';
	const written = `${space}${name}=${quote}${attributeOf(value, quote)}${quote}`;
	return kept(tree, act([{ from: end, to: end, insert: written }], element.from));
}

/** setText writes the HTML inside an element; null if that would not stay in it. */
export function setText(tree: Tree, element: ElementNode, html: string): Act | null {
	if (element.content !== "html") return null;
	const inner = innerOf(element);
	if (!inner) {
		const slash = element.open.to - "/>".length;
		return withText(tree, element, { from: slash, to: element.open.to, insert: `>${html}</${element.tag}>` }, html);
	}
	if (tree.text.slice(inner.from, inner.to) === html) return null;
	return withText(tree, element, { ...inner, insert: html }, html);
}

function withText(tree: Tree, element: ElementNode, change: Change, html: string): Act | null {
	const after = parse(applied(tree.text, [change]), tree.root.fragment);
	const node = after.broken ? null : nodeAt(after, element.from);
	const inner = node?.kind === "element" && node.tag === element.tag ? innerOf(node) : null;
	if (!inner || after.text.slice(inner.from, inner.to) !== html) return null;
	if (node?.to !== element.to + change.insert.length - (change.to - change.from)) return null;
	return act([change], element.from);
}

/** wrapInCondition shows neighbours only if an expression of Liquid holds; null if there may be none around them. */
export function wrapInCondition(tree: Tree, first: Node, last: Node, expression: string, name = "if"): Act | null {
	const { text } = tree;
	if (first.parent !== last.parent || isFixed(first) || !accepts(first.parent, ["mj-raw"])) return null;
	if (expression.trim() === "" || /[%{}\r\n]/.test(expression)) return null;
	const begin = `<mj-raw>{% ${name} ${expression.trim()} %}</mj-raw>`;
	const end = `<mj-raw>{% end${name} %}</mj-raw>`;
	const alone = beginsLine(text, first.from) && endsLine(text, last.to);
	const gap = alone ? newlineOf(text) + indentAt(text, first.from) : "";
	return kept(
		tree,
		act(
			[
				{ from: first.from, to: first.from, insert: begin + gap },
				{ from: last.to, to: last.to, insert: gap + end },
			],
			first.from,
		),
	);
}

/** unwrap takes the marks of a condition away, and leaves what it encloses. */
export function unwrap(tree: Tree, node: ConditionNode): Act | null {
	const marks = [...node.branches.map((branch) => branch.mark), node.end];
	const changes = marks.map((mark) => ({ ...removal(tree.text, mark), insert: "" }));
	const [first] = node.branches.flatMap((branch) => branch.children);
	return kept(tree, act(changes, (first ?? parentOf(node) ?? tree.root).from));
}

/** setCondition writes the expression of a branch; null if it would not stay one. */
export function setCondition(tree: Tree, branch: Branch, expression: string): Act | null {
	if (expression.trim() === "" || /%\}|\{%|[\r\n]/.test(expression) || branch.code === "") return null;
	if (expression.trim() === branch.code) return null;
	return kept(tree, act([{ ...branch.codeRange, insert: expression.trim() }], branch.parent.from));
}
