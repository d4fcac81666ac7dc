import { catalogue } from "../../base/words/catalogue";
import { labelOf } from "./model/labels";
import type { Branch, Node, Tree } from "./model/tree";

const words = catalogue("design.names", {
	mjml: "Email with its settings",
	"mj-head": "Settings of the email",
	"mj-body": "Email",
	"mj-accordion": "Accordion",
	"mj-accordion-element": "Part of an accordion",
	"mj-accordion-text": "Accordion text",
	"mj-accordion-title": "Accordion title",
	"mj-button": "Button",
	"mj-carousel": "Carousel",
	"mj-carousel-image": "Carousel image",
	"mj-column": "Column",
	"mj-divider": "Divider",
	"mj-group": "Group of columns",
	"mj-hero": "Hero",
	"mj-image": "Image",
	"mj-navbar": "Navigation bar",
	"mj-navbar-link": "Navigation link",
	"mj-section": "Section",
	"mj-social": "Social links",
	"mj-social-element": "Social link",
	"mj-spacer": "Spacer",
	"mj-table": "Table",
	"mj-text": "Text",
	"mj-wrapper": "Group of sections",
	other: "Setting of the email",
	raw: "Code",
	liquid: "Liquid code",
	slot: "Slot for a block",
	comment: "Comment",
	text: "Text that is not shown",
	unknown: "Unknown element",
	group: "Parts tied together by Liquid",
});

const conditions = catalogue("design.names.conditions", {
	if: "Only if {code}",
	elsif: "Else if {code}",
	unless: "Unless {code}",
	case: "Depending on {code}",
	when: "When {code}",
	for: "Repeated for {code}",
	section: "Repeated for each of {code}",
	capture: "Stored under the name {code}",
	else: "Otherwise",
});

/** kindName returns the name of a kind of element. */
export const kindName = (tag: string) => (Object.hasOwn(words, tag) ? words[tag as "mj-text"] : words.other);

/** nameOf returns what a node is. */
export function nameOf(node: Node): string {
	if (node.kind === "element") return kindName(node.tag);
	if (node.kind === "opaque") return words[node.what];
	const [first] = node.branches;
	return first ? branchName(first) : words.liquid;
}

/** branchName returns when a branch of a condition is shown. */
export function branchName(branch: Branch): string {
	const name = branch.name.replace(/^#/, "");
	if (name === "else") return conditions.else;
	return conditions[name as "if"]({ code: branch.code });
}

/** titleOf returns what a node is, and by which words it is told from others. */
export function titleOf(tree: Tree, node: Node): string {
	const label = node.kind === "condition" ? "" : labelOf(tree, node);
	return label ? `${nameOf(node)}: ${label}` : nameOf(node);
}
