import { type Act, insert } from "./model/acts";
import { children } from "../../ui/editor/mjml";
import { accepts, isMark, type Place } from "./model/places";
import { bodyOf, type Container, containersOf, type Node, pathOf, type Tree, walk } from "./model/tree";

/** inside returns the end of the first container in a node that takes elements of tags. */
function inside(node: Node, tags: string[]): Place | null {
	for (const container of containersOf(node)) {
		if (accepts(container, tags)) return { parent: container, index: container.children.length };
		for (const child of container.children) {
			const found = inside(child, tags);
			if (found) return found;
		}
	}
	return null;
}

/** bestPlace returns where elements of tags go for somebody who has selected a node: into it, behind it, or at the end of the mail. */
export function bestPlace(tree: Tree, selected: Node | null, what: string | string[]): Place | null {
	const tags = [what].flat();
	const body: Container = bodyOf(tree);
	if (selected && selected !== body) {
		const into = inside(selected, tags);
		if (into) return into;
		for (const node of pathOf(selected).reverse())
			if (accepts(node.parent, tags)) return { parent: node.parent, index: node.parent.children.indexOf(node) + 1 };
	}
	const all = [body, ...[...walk(body)].flatMap(containersOf)].filter((container) => accepts(container, tags));
	const last = all.includes(body) ? body : all.at(-1);
	return last ? { parent: last, index: last.children.length } : null;
}

/** What the palette inserts: code, and what that is made of. */
export type Insertable = { tag: string | string[]; code: string };

/** insertSnippet inserts what the palette has; where no place takes it, in a column or a section of its own. */
export function insertSnippet(tree: Tree, selected: Node | null, { tag, code }: Insertable): Act | null {
	const tags = [tag].flat();
	const place = bestPlace(tree, selected, tags);
	if (place) return insert(tree, place, code);
	const section = bestPlace(tree, selected, ["mj-section", ...tags.filter(isMark)]);
	const fits = (parent: string) => tags.every((tag) => isMark(tag) || children[parent]?.includes(tag));
	const around = (parent: string, inner: string) => `<${parent}>\n  ${inner.replaceAll("\n", "\n  ")}\n</${parent}>`;
	if (!section || !(fits("mj-column") || fits("mj-section"))) return null;
	return insert(tree, section, around("mj-section", fits("mj-column") ? around("mj-column", code) : code));
}
