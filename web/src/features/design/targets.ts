import { changesBetween, kept } from "../../ui/editor/changesBetween";
import { isImage } from "./images";
import type { Place } from "./model/places";
import { containersOf, type ElementNode, type Node, nodeAt, type Tree, walk } from "./model/tree";

/** Target is where images go: to a place, behind a node, in place of the image of one. They are positions of a text, since it may change while the images are on their way. */
export type Target = { text: string } & (
	| { kind: "place"; place: Place }
	| { kind: "behind" | "replace"; node: number | null }
);

/** nodeNow returns the node that began at a position of an earlier text; null if it is gone. */
export function nodeNow(tree: Tree, text: string, from: number): Node | null {
	const at = kept(from, changesBetween(text, tree.text));
	return at === null ? null : nodeAt(tree, at);
}

/** targetNow returns where a number of images goes in a tree: over an image, to a place, or behind a node; null if that is gone. */
export function targetNow(
	tree: Tree,
	target: Target,
	count: number,
): { replaced: ElementNode } | { place: Place } | { selected: Node | null } | null {
	if (target.kind === "place") {
		const place = placeNow(tree, target.text, target.place);
		return place && { place };
	}
	const selected = target.node === null ? null : nodeNow(tree, target.text, target.node);
	if (target.node !== null && !selected) return null;
	if (target.kind === "behind" || count > 1) return { selected };
	return isImage(selected) ? { replaced: selected } : null;
}

const isLike = (node: Node, other: Node) =>
	node.kind === other.kind && !(node.kind === "element" && other.kind === "element" && node.tag !== other.tag);

/** placeNow returns a place of an earlier text: at the same neighbour, since others may have come to stand beside it. */
function placeNow(tree: Tree, text: string, { parent, index }: Place): Place | null {
	const changes = changesBetween(text, tree.text);
	const now = (position: number) => kept(position, changes);
	const at = parent.kind === "root" ? null : now(parent.kind === "branch" ? parent.mark.from : parent.from);
	const found =
		parent.kind === "root"
			? tree.root
			: [...walk(tree.root)]
					.flatMap(containersOf)
					.find((one) => one.kind === parent.kind && (one.kind === "branch" ? one.mark.from : one.from) === at);
	if (!found) return null;
	const neighbours = [
		{ node: parent.children[index], by: 0 },
		{ node: parent.children[index - 1], by: 1 },
	];
	for (const { node, by } of neighbours) {
		const i = node ? found.children.findIndex((child) => child.from === now(node.from) && isLike(child, node)) : -1;
		if (i >= 0) return { parent: found, index: i + by };
	}
	return parent.children.length === 0 ? { parent: found, index: 0 } : null;
}
