import { attributes as known } from "../../ui/editor/mjml";
import { attributeValue } from "./model/labels";
import { bodyOf, type ElementNode, type Tree } from "./model/tree";

// What the inspector knows of attributes: of which kind their values are, what holds without one, and what Outlook ignores.

export type Kind = "color" | "length" | "choice" | "address" | "text";

/** The choices of attributes, and of those of one element. */
const choices: { [attribute: string]: string[] } = {
	align: ["left", "center", "right"],
	"mj-text align": ["left", "center", "right", "justify"],
	"background-repeat": ["repeat", "no-repeat"],
	"border-style": ["solid", "dashed", "dotted"],
	dir: ["ltr", "rtl", "auto"],
	direction: ["ltr", "rtl"],
	"fluid-on-mobile": ["true", "false"],
	"font-style": ["normal", "italic"],
	"font-weight": ["normal", "bold"],
	"full-width": ["full-width", "false"],
	hamburger: ["hamburger"],
	"ico-align": ["left", "center", "right"],
	"icon-align": ["top", "middle", "bottom"],
	"icon-position": ["left", "right"],
	"mj-hero mode": ["fluid-height", "fixed-height"],
	"mj-social mode": ["horizontal", "vertical"],
	"table-layout": ["auto", "fixed", "initial", "inherit"],
	target: ["_blank", "_self"],
	"text-align": ["left", "center", "right"],
	"text-decoration": ["none", "underline", "line-through"],
	"text-transform": ["none", "uppercase", "lowercase", "capitalize"],
	thumbnails: ["visible", "hidden"],
	"vertical-align": ["top", "middle", "bottom"],
};

/** choicesOf returns the values that an attribute of an element has; none if it may have any. */
export const choicesOf = (tag: string, name: string) => choices[`${tag} ${name}`] ?? choices[name] ?? [];

const lengths =
	/^(?:inner-)?padding|(?:^|-)(?:width|height|size|spacing|gap)$|^(?:inner-)?border-radius$|^text-padding$|^icon-padding$|^cell(?:padding|spacing)$/;

/** kindOf returns of which kind the values of an attribute are. */
export function kindOf(tag: string, name: string): Kind {
	if (choicesOf(tag, name).length > 0) return "choice";
	if (/color$/.test(name)) return "color";
	if (/^href$|^(?:thumbnails-)?src$|url$|^(?:left|right)-icon$/.test(name)) return "address";
	return lengths.test(name) && name !== "background-size" ? "length" : "text";
}

/** The attributes that people change most, by elements; all others stand below them. */
const main: { [tag: string]: string[] } = {
	"mj-body": ["background-color", "width"],
	"mj-wrapper": ["background-color", "background-url", "padding", "border-radius", "full-width"],
	"mj-section": ["background-color", "background-url", "padding", "border-radius", "direction", "full-width"],
	"mj-group": ["background-color", "width", "vertical-align"],
	"mj-column": ["width", "background-color", "padding", "vertical-align", "border-radius"],
	"mj-text": ["color", "font-size", "line-height", "font-family", "font-weight", "align", "padding"],
	"mj-button": [
		"href",
		"background-color",
		"color",
		"font-size",
		"align",
		"border-radius",
		"inner-padding",
		"padding",
		"width",
	],
	"mj-image": ["src", "alt", "href", "width", "align", "border-radius", "padding"],
	"mj-divider": ["border-color", "border-width", "border-style", "width", "padding"],
	"mj-spacer": ["height"],
	"mj-social": ["mode", "icon-size", "align", "border-radius", "padding"],
	"mj-social-element": ["name", "href", "alt", "src", "background-color", "color"],
	"mj-table": ["color", "font-size", "line-height", "align", "width", "padding"],
	"mj-hero": ["background-color", "background-url", "mode", "height", "padding", "vertical-align"],
	"mj-navbar": ["align", "base-url", "hamburger"],
	"mj-navbar-link": ["href", "color", "font-size", "padding"],
	"mj-accordion": ["border", "font-family", "padding"],
	"mj-accordion-title": ["background-color", "color", "font-size", "padding"],
	"mj-accordion-text": ["background-color", "color", "font-size", "padding"],
	"mj-carousel": ["align", "border-radius", "thumbnails"],
	"mj-carousel-image": ["src", "alt", "href"],
};

/** attributesOf returns the attributes of an element: those that are changed most, and the others, with those that MJML does not have. */
export function attributesOf(element: ElementNode): { first: string[]; rest: string[] } {
	const first = main[element.tag] ?? [];
	const all = [...(known[element.tag] ?? []), ...element.attributes.map((attribute) => attribute.name)];
	return { first, rest: [...new Set(all)].filter((name) => !first.includes(name)).sort() };
}

/** What holds in MJML without an attribute. */
const defaults: { [tag: string]: { [name: string]: string } } = {
	"mj-body": { width: "600px" },
	"mj-wrapper": { padding: "20px 0", "text-align": "center", direction: "ltr" },
	"mj-section": {
		padding: "20px 0",
		"text-align": "center",
		direction: "ltr",
		"background-repeat": "repeat",
		"background-size": "auto",
		"background-position": "top center",
	},
	"mj-group": { direction: "ltr" },
	"mj-column": { "vertical-align": "top" },
	"mj-text": {
		align: "left",
		color: "#000000",
		"font-family": "Ubuntu, Helvetica, Arial, sans-serif",
		"font-size": "13px",
		"line-height": "1",
		padding: "10px 25px",
	},
	"mj-button": {
		align: "center",
		"background-color": "#414141",
		"border-radius": "3px",
		color: "#ffffff",
		"font-family": "Ubuntu, Helvetica, Arial, sans-serif",
		"font-size": "13px",
		"font-weight": "normal",
		"inner-padding": "10px 25px",
		"line-height": "120%",
		padding: "10px 25px",
		target: "_blank",
		"text-decoration": "none",
		"text-transform": "none",
		"vertical-align": "middle",
	},
	"mj-image": { align: "center", height: "auto", padding: "10px 25px", target: "_blank", "font-size": "13px" },
	"mj-divider": {
		"border-color": "#000000",
		"border-style": "solid",
		"border-width": "4px",
		padding: "10px 25px",
		width: "100%",
		align: "center",
	},
	"mj-spacer": { height: "20px" },
	"mj-social": {
		align: "center",
		"border-radius": "3px",
		color: "#333333",
		"font-size": "13px",
		"icon-size": "20px",
		"line-height": "22px",
		mode: "horizontal",
		padding: "10px 25px",
		"text-decoration": "none",
	},
	"mj-social-element": {
		align: "left",
		"border-radius": "3px",
		color: "#000000",
		"font-size": "13px",
		"line-height": "1",
		padding: "4px",
		target: "_blank",
	},
	"mj-table": {
		align: "left",
		border: "none",
		cellpadding: "0",
		cellspacing: "0",
		color: "#000000",
		"font-size": "13px",
		"line-height": "22px",
		padding: "10px 25px",
		"table-layout": "auto",
		width: "100%",
	},
	"mj-hero": {
		mode: "fixed-height",
		height: "0px",
		"background-color": "#ffffff",
		"background-position": "center center",
		padding: "0px",
		"vertical-align": "top",
	},
	"mj-navbar": { align: "center", "ico-align": "center", "ico-color": "#000000", "ico-font-size": "30px" },
	"mj-navbar-link": {
		color: "#000000",
		"font-size": "13px",
		"line-height": "22px",
		padding: "15px 10px",
		target: "_blank",
		"text-decoration": "none",
		"text-transform": "uppercase",
	},
	"mj-accordion": {
		border: "2px solid black",
		"font-family": "Ubuntu, Helvetica, Arial, sans-serif",
		padding: "10px 25px",
	},
	"mj-accordion-title": { "font-size": "13px", padding: "16px" },
	"mj-accordion-text": { "font-size": "13px", "line-height": "1", padding: "16px" },
	"mj-carousel": { align: "center", "border-radius": "6px", "icon-width": "44px", thumbnails: "visible" },
	"mj-carousel-image": { target: "_blank" },
};

/** defaultOf returns what holds for an element without an attribute: of its class, of the mail's head, of MJML. */
export function defaultOf(tree: Tree, element: ElementNode, name: string): string {
	const { tag } = element;
	const classes = (attributeValue(tree, element, "mj-class") ?? "").split(/\s+/).filter(Boolean);
	const given = headAttributes(tree);
	const of = (wanted: string, named?: string) =>
		given
			.filter((other) => other.tag === wanted && (named === undefined || attributeValue(tree, other, "name") === named))
			.map((other) => attributeValue(tree, other, name))
			.findLast((value) => value !== undefined);
	for (const one of classes.reverse()) {
		const value = of("mj-class", one);
		if (value !== undefined) return value;
	}
	return of(tag) ?? of("mj-all") ?? defaults[tag]?.[name] ?? "";
}

/** headAttributes returns the elements that give attributes to others. */
function headAttributes(tree: Tree): ElementNode[] {
	const body = bodyOf(tree);
	if (body.kind === "root") return [];
	const elements = (parent: ElementNode | null, tag?: string) =>
		(parent?.children ?? []).filter(
			(node): node is ElementNode => node.kind === "element" && (tag === undefined || node.tag === tag),
		);
	const top = body.parent.kind === "element" ? body.parent : null;
	return elements(top, "mj-head")
		.flatMap((head) => elements(head, "mj-attributes"))
		.flatMap((list) => elements(list));
}

/** What Outlook for Windows, which draws with Word, does not do. */
const notInOutlook = new Set([
	"border-radius",
	"inner-border-radius",
	"background-size",
	"letter-spacing",
	"max-height",
	"text-transform",
	"fluid-on-mobile",
]);

/** outlookIgnores reports whether Outlook for Windows passes over an attribute. */
export const outlookIgnores = (name: string) => notInOutlook.has(name);
