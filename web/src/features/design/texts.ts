import { type Allowed, line, mjmlText } from "../../ui/richtext/allowed";
import type { ElementNode, Node } from "./model/tree";

/** What the texts of elements may have; those of others are code. */
const texts: { [tag: string]: Allowed } = {
	"mj-text": mjmlText,
	"mj-accordion-text": mjmlText,
	"mj-button": line,
	"mj-navbar-link": line,
	"mj-accordion-title": line,
	"mj-social-element": line,
};

/** allowedOf returns what the text of an element may have; null if it has none that is edited with its formatting. */
export const allowedOf = (element: ElementNode): Allowed | null => texts[element.tag] ?? null;

/** withText returns a node if it is an element whose text is edited with its formatting. */
export const withText = (node: Node | null): ElementNode | null =>
	node?.kind === "element" && allowedOf(node) ? node : null;
