import { codeOf } from "./liquid";
import { decode, wordsOf } from "./text";
import { type ElementNode, innerOf, type Node, type Tree } from "./tree";

/** attributeValue returns the value of an attribute as people read it; undefined if the element does not have it. */
export function attributeValue(tree: Tree, element: ElementNode, name: string): string | undefined {
	const found = element.attributes.find((attribute) => attribute.name === name);
	return found && decode(tree.text.slice(found.value.from, found.value.to));
}

/** contentOf returns what stands between the tags of an element. */
export function contentOf(tree: Tree, element: ElementNode): string {
	const inner = innerOf(element);
	return inner ? tree.text.slice(inner.from, inner.to) : "";
}

/** labelOf returns the words by which a node is told from others of its kind: of its text, its picture, its condition; "" if it has none. */
export function labelOf(tree: Tree, node: Node): string {
	const code = tree.text.slice(node.from, node.to);
	if (node.kind === "condition") return node.branches[0]?.code ?? "";
	if (node.kind === "element") {
		if (node.content === "html") return wordsOf(contentOf(tree, node));
		for (const name of ["alt", "name", "title"]) {
			const value = attributeValue(tree, node, name);
			if (value) return value;
		}
		return "";
	}
	if (node.what === "slot") return codeOf(code).slice("slot:".length).trim();
	if (node.what === "liquid") return codeOf(code);
	if (node.what === "comment")
		return wordsOf(
			code.replace(/^<!--|-->$/g, "").replace(/^\{%-?\s*comment\s*-?%\}|\{%-?\s*endcomment\s*-?%\}$/g, ""),
		);
	return wordsOf(code);
}
