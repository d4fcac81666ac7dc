import { children as allowed } from "../../../ui/editor/mjml";
import {
	type Container,
	contains,
	containersOf,
	elementAround,
	isInBody,
	type Node,
	rootOf,
	tagsOf,
	type Tree,
	walk,
} from "./tree";

/** Place is where a node may land: before the child of a container that has the index. */
export type Place = { parent: Container; index: number };

/** accepts reports whether elements may stand in a container, as MJML has it. Nothing lands in mj-head. */
export function accepts(container: Container, tags: string[]): boolean {
	if (container.kind === "element" && container.content !== "elements") return false;
	// What is between case and the first when is shown to nobody.
	if (container.kind === "branch" && container.parent.name === "case" && container.parent.branches[0] === container)
		return false;
	if (!isInBody(container)) return false;
	const around = elementAround(container);
	if (around) {
		const those = allowed[around.tag] ?? [];
		return tags.every((tag) => those.includes(tag));
	}
	const root = rootOf(container);
	const all = [...new Set([...root.children.flatMap(tagsOf), ...tags])];
	return ["mj-body", "mj-column"].some((tag) => all.every((inner) => allowed[tag]?.includes(inner)));
}

/** places returns where an element of a tag may stand, or a node that is there already: not in itself, and not where it is. */
export function places(tree: Tree, what: string | Node): Place[] {
	const tags = typeof what === "string" ? [what] : tagsOf(what);
	const containers: Container[] = [tree.root];
	for (const node of walk(tree.root)) containers.push(...containersOf(node));
	return containers
		.filter((parent) => accepts(parent, tags) && (typeof what === "string" || !contains(what, parent)))
		.flatMap((parent) => {
			const all = Array.from({ length: parent.children.length + 1 }, (_, index): Place => ({ parent, index }));
			if (typeof what !== "string" && what.parent === parent) all.splice(parent.children.indexOf(what), 2);
			return all;
		});
}

/** isHere reports whether a node stands at a place already. */
export function isHere(node: Node, { parent, index }: Place): boolean {
	const own = parent.children.indexOf(node);
	return own >= 0 && (index === own || index === own + 1);
}
