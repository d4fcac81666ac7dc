import { children as allowed } from "../../../ui/editor/mjml";
import {
	type Container,
	contains,
	containersOf,
	elementAround,
	isInBody,
	type Node,
	rootOf,
	sectionMark,
	slotMark,
	tagsOf,
	type Tree,
	walk,
} from "./tree";

/** Place is where a node may land: before the child of a container that has the index. */
export type Place = { parent: Container; index: number };

/** isMark reports whether something stands for what is no element. */
export const isMark = (tag: string) => tag === sectionMark || tag === slotMark;

/** accepts reports whether elements may stand in a container, as MJML has it. Nothing lands in mj-head. */
export function accepts(container: Container, those: string[]): boolean {
	const tags = those.filter((tag) => !isMark(tag));
	if (tags.length < those.length && isInSection(container)) return false;
	if (container.kind === "element" && container.content !== "elements") return false;
	// What is between case and the first when is shown to nobody.
	if (container.kind === "branch" && container.parent.name === "case" && container.parent.branches[0] === container)
		return false;
	if (!isInBody(container)) return false;
	const around = elementAround(container);
	if (around) {
		const inner = allowed[around.tag] ?? [];
		return tags.every((tag) => inner.includes(tag));
	}
	const root = rootOf(container);
	const all = [...new Set([...root.children.flatMap(tagsOf), ...tags])].filter((tag) => !isMark(tag));
	return ["mj-body", "mj-column"].some((tag) => all.every((inner) => allowed[tag]?.includes(inner)));
}

/** isInSection reports whether a container is in a section of placeholders. */
function isInSection(container: Container): boolean {
	if (container.kind === "root") return false;
	if (container.kind === "element") return isInSection(container.parent);
	return container.parent.name === "section" || isInSection(container.parent.parent);
}

/** places returns where elements of tags may stand, or a node that is there already: not in itself, and not where it is. */
export function places(tree: Tree, what: string | string[] | Node): Place[] {
	const node = typeof what === "string" || Array.isArray(what) ? null : what;
	const tags = node ? tagsOf(node) : [what as string | string[]].flat();
	const containers: Container[] = [tree.root];
	for (const node of walk(tree.root)) containers.push(...containersOf(node));
	return containers
		.filter((parent) => accepts(parent, tags) && !(node && contains(node, parent)))
		.flatMap((parent) => {
			const all = Array.from({ length: parent.children.length + 1 }, (_, index): Place => ({ parent, index }));
			if (node?.parent === parent) all.splice(parent.children.indexOf(node), 2);
			return all;
		});
}

/** isHere reports whether a node stands at a place already. */
export function isHere(node: Node, { parent, index }: Place): boolean {
	const own = parent.children.indexOf(node);
	return own >= 0 && (index === own || index === own + 1);
}
