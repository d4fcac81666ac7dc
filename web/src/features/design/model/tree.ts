import type { Range } from "./liquid";
import type { Attribute } from "./scan";

/** ElementNode is an element of MJML. */
export type ElementNode = Range & {
	kind: "element";
	tag: string;
	/** The start tag. */
	open: Range;
	/** The end tag; null of an element that is one tag. */
	close: Range | null;
	/** Whether the content is elements, or HTML that is copied. */
	content: "elements" | "html";
	attributes: Attribute[];
	children: Node[];
	parent: Container;
};

/** OpaqueNode is shown and moved as a whole, and not opened. */
export type OpaqueNode = Range & {
	kind: "opaque";
	/** slot is a place for blocks of the account; group is what Liquid holds together in another way than a condition. */
	what: "raw" | "liquid" | "slot" | "comment" | "text" | "unknown" | "group";
	/** The elements that it is made of, which decide where it may stand. */
	tags: string[];
	parent: Container;
};

/** ConditionNode is a block of Liquid, or a section of placeholders, around elements: if, unless, case, for, capture, section. */
export type ConditionNode = Range & {
	kind: "condition";
	name: string;
	branches: Branch[];
	/** The mark that ends it. */
	end: Range;
	/** False if the compiler drops its marks, since they do not stand in mj-raw. */
	effective: boolean;
	tags: string[];
	parent: Container;
};

/** Branch is a part of a condition; it reaches from behind its mark to the next one. */
export type Branch = Range & {
	kind: "branch";
	name: string;
	/** The tag of Liquid, with the mj-raw around it. */
	mark: Range;
	/** What stands in the tag behind its name. */
	code: string;
	codeRange: Range;
	children: Node[];
	parent: ConditionNode;
};

/** Root is what is around all: the document, or the fragment. */
export type Root = Range & { kind: "root"; fragment: boolean; children: Node[]; parent: null };

export type Node = ElementNode | OpaqueNode | ConditionNode;
export type Container = Root | ElementNode | Branch;

/** Tree is a text that was understood. */
export type Tree = { text: string; root: Root; broken?: undefined };

/** Broken is a text that was not: at which position, and why. */
export type Broken = { text: string; broken: { at: number; why: string } };

/** containersOf returns the containers of a node whose children can be seen: itself, or its branches. */
export function containersOf(node: Node): Container[] {
	if (node.kind === "element") return node.content === "elements" ? [node] : [];
	return node.kind === "condition" ? node.branches : [];
}

/** walk visits the nodes of a container in the order of the text. */
export function* walk(container: Container): Generator<Node> {
	for (const node of container.children) {
		yield node;
		for (const inner of containersOf(node)) yield* walk(inner);
	}
}

/** elementAround returns the element whose child a container's children are; null at the root. */
export function elementAround(container: Container): ElementNode | null {
	if (container.kind === "element") return container;
	return container.kind === "branch" ? elementAround(container.parent.parent) : null;
}

/** isInBody reports whether the children of a container are what a mail shows. */
export function isInBody(container: Container): boolean {
	const around = elementAround(container);
	if (around) return around.tag === "mj-body" || isInBody(around.parent);
	return rootOf(container).fragment;
}

/** rootOf returns the root of the tree that a container is in. */
export function rootOf(container: Container): Root {
	let at = container;
	while (at.kind !== "root") at = at.kind === "branch" ? at.parent.parent : at.parent;
	return at;
}

/** find returns the innermost node at a position. */
export function find(tree: Tree, position: number): Node | null {
	const within = (container: Container): Node | null => {
		const node = container.children.find((child) => child.from <= position && position < child.to);
		if (!node) return null;
		for (const inner of containersOf(node)) {
			if (inner.kind === "branch" && (position < inner.from || position >= inner.to)) continue;
			const found = within(inner);
			if (found) return found;
		}
		return node;
	};
	return within(tree.root);
}

/** nodeAt returns the outermost node that begins at a position. */
export function nodeAt(tree: Tree, from: number): Node | null {
	for (let node = find(tree, from), up: Node | null = node; node; node = up) {
		up = parentOf(node);
		if (node.from === from && up?.from !== from) return node;
	}
	return null;
}

/** parentOf returns the node around a node: an element, or a condition. */
export function parentOf(node: Node): Node | null {
	if (node.parent.kind === "root") return null;
	return node.parent.kind === "branch" ? node.parent.parent : node.parent;
}

/** pathOf returns the nodes around a node, the outermost first, and itself. */
export function pathOf(node: Node): Node[] {
	const up = parentOf(node);
	return up ? [...pathOf(up), node] : [node];
}

/** contains reports whether a container is inside a node. */
export function contains(node: Node, container: Container): boolean {
	for (let at: Container | null = container; at; ) {
		if (at === node) return true;
		if (at.kind === "root") return false;
		if (at.kind === "branch" && at.parent === node) return true;
		at = at.kind === "branch" ? at.parent.parent : at.parent;
	}
	return false;
}

/** What stands for a section of placeholders, and for a slot, among the elements that a node is made of: neither may stand in a section. */
export const sectionMark = "{{#section}}";
export const slotMark = "{{slot}}";

/** tagsOf returns the elements that a node is made of, and the marks of what is in it, which decide where it may stand. */
export function tagsOf(node: Node): string[] {
	const marks = containersOf(node)
		.flatMap((container) => [...walk(container)])
		.flatMap((inner) => {
			if (inner.kind === "opaque") return inner.what === "slot" ? [slotMark] : [];
			return inner.kind === "condition" && inner.name === "section" ? [sectionMark] : [];
		});
	return [...(node.kind === "element" ? [node.tag] : node.tags), ...marks];
}

/** innerOf returns the range between the tags of an element; null of an element that is one tag. */
export const innerOf = (node: ElementNode): Range | null => node.close && { from: node.open.to, to: node.close.from };

/** bodyOf returns mj-body, or what is in its place in a fragment. */
export function bodyOf(tree: Tree): Root | ElementNode {
	if (tree.root.fragment) return tree.root;
	const top = tree.root.children.find((node) => node.kind === "element");
	const body =
		top?.kind === "element" && top.children.find((node) => node.kind === "element" && node.tag === "mj-body");
	return body && body.kind === "element" ? body : tree.root;
}
