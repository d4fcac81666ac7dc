import { type Act, insert } from "./model/acts";
import { accepts, type Place } from "./model/places";
import { bodyOf, type Container, containersOf, type Node, pathOf, type Tree, walk } from "./model/tree";
import type { Snippet } from "./snippets";

/** inside returns the end of the first container in a node that takes elements of a tag. */
function inside(node: Node, tag: string): Place | null {
	for (const container of containersOf(node)) {
		if (accepts(container, [tag])) return { parent: container, index: container.children.length };
		for (const child of container.children) {
			const found = inside(child, tag);
			if (found) return found;
		}
	}
	return null;
}

/** bestPlace returns where an element of a tag goes for somebody who has selected a node: into it, behind it, or at the end of the mail. */
export function bestPlace(tree: Tree, selected: Node | null, tag: string): Place | null {
	const body: Container = bodyOf(tree);
	if (selected && selected !== body) {
		const into = inside(selected, tag);
		if (into) return into;
		for (const node of pathOf(selected).reverse())
			if (accepts(node.parent, [tag])) return { parent: node.parent, index: node.parent.children.indexOf(node) + 1 };
	}
	const all = [body, ...[...walk(body)].flatMap(containersOf)].filter((container) => accepts(container, [tag]));
	const last = all.includes(body) ? body : all.at(-1);
	return last ? { parent: last, index: last.children.length } : null;
}

/** insertSnippet inserts what the palette has; where no place takes it, in a section of its own. */
export function insertSnippet(tree: Tree, selected: Node | null, { tag, code }: Snippet): Act | null {
	const place = bestPlace(tree, selected, tag);
	if (place) return insert(tree, place, code);
	const section = bestPlace(tree, selected, "mj-section");
	const inner = code.replaceAll("\n", "\n    ");
	return section && insert(tree, section, `<mj-section>\n  <mj-column>\n    ${inner}\n  </mj-column>\n</mj-section>`);
}
