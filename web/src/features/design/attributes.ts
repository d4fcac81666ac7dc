import { attributes as known } from "../../ui/editor/mjml";
import { attributeValue } from "./model/labels";
import { bodyOf, type ElementNode, elementAround, type Tree } from "./model/tree";

// What the inspector knows of attributes: of which kind their values are, what holds without one, and what Outlook ignores.

export type Kind = "color" | "length" | "choice" | "address" | "text";

const networks = [
	"facebook",
	"instagram",
	"linkedin",
	"x",
	"youtube",
	"pinterest",
	"snapchat",
	"github",
	"xing",
	"medium",
	"vimeo",
	"tumblr",
	"soundcloud",
	"dribbble",
];

/** The choices of attributes, and of those of one element. */
const choices: { [attribute: string]: string[] } = {
	align: ["left", "center", "right"],
	"mj-text align": ["left", "center", "right", "justify"],
	"background-repeat": ["repeat", "no-repeat"],
	"border-style": ["solid", "dashed", "dotted"],
	direction: ["ltr", "rtl"],
	"fluid-on-mobile": ["true", "false"],
	"font-style": ["normal", "italic"],
	"font-weight": ["normal", "bold"],
	"full-width": ["full-width", "false"],
	hamburger: ["hamburger"],
	"ico-align": ["left", "center", "right"],
	"ico-text-decoration": ["none", "underline", "line-through"],
	"ico-text-transform": ["none", "uppercase", "lowercase", "capitalize"],
	"icon-align": ["top", "middle", "bottom"],
	"icon-position": ["left", "right"],
	"mj-hero mode": ["fluid-height", "fixed-height"],
	"mj-social mode": ["horizontal", "vertical"],
	// Without "-noshare", a link is one that shares its address there.
	"mj-social-element name": [...networks.map((network) => `${network}-noshare`), "web"],
	"mj-table table-layout": ["auto", "fixed", "initial", "inherit"],
	"text-align": ["left", "center", "right"],
	"text-decoration": ["none", "underline", "line-through"],
	"text-transform": ["none", "uppercase", "lowercase", "capitalize"],
	thumbnails: ["visible", "hidden", "supported"],
	"vertical-align": ["top", "middle", "bottom"],
};

/** choicesOf returns the values that an attribute of an element has; none if it may have any. */
export const choicesOf = (tag: string, name: string) => choices[`${tag} ${name}`] ?? choices[name] ?? [];

const lengths = /padding|(?:^|-)(?:width|height|size|gap|radius)$/;
const unitless = /line-height$|^letter-spacing$|^background-size$/;

/** kindOf returns of which kind the values of an attribute are. */
export function kindOf(tag: string, name: string): Kind {
	if (choicesOf(tag, name).length > 0) return "choice";
	if (/color$/.test(name)) return "color";
	if (/^href$|^(?:thumbnails-)?src$|url$|^(?:left|right)-icon$/.test(name)) return "address";
	return lengths.test(name) && !unitless.test(name) && !name.startsWith("cell") ? "length" : "text";
}

/** The attributes that people change most, by elements; all others stand below them. */
const main: { [tag: string]: string[] } = {
	"mj-body": ["background-color", "width"],
	"mj-wrapper": ["background-color", "background-url", "border-radius", "full-width"],
	"mj-section": ["background-color", "background-url", "border-radius", "direction", "full-width"],
	"mj-group": ["background-color", "width", "vertical-align"],
	"mj-column": ["width", "background-color", "vertical-align", "border-radius"],
	"mj-text": ["color", "font-size", "line-height", "font-family", "font-weight", "align"],
	"mj-button": ["href", "background-color", "color", "font-size", "align", "border-radius", "inner-padding", "width"],
	"mj-image": ["src", "alt", "href", "width", "align", "border-radius"],
	"mj-divider": ["border-color", "border-width", "border-style", "width"],
	"mj-spacer": ["height"],
	"mj-social": ["mode", "icon-size", "align", "border-radius"],
	"mj-social-element": ["name", "href", "alt", "src", "background-color", "color"],
	"mj-table": ["color", "font-size", "line-height", "align", "width"],
	"mj-hero": ["background-color", "background-url", "mode", "height", "vertical-align"],
	"mj-navbar": ["align", "base-url"],
	"mj-navbar-link": ["href", "color", "font-size"],
	"mj-accordion": ["border", "font-family"],
	"mj-accordion-title": ["background-color", "color", "font-size"],
	"mj-accordion-text": ["background-color", "color", "font-size"],
	"mj-carousel": ["align", "border-radius", "thumbnails"],
	"mj-carousel-image": ["src", "alt", "href"],
};

/** What MJML has for elements, or for one element, and the inspector does not offer, by the reason why. */
const leftOut: { [reason: string]: string[] } = {
	"the fields of the padding, and the group of what is different on phones, have it": [
		"padding",
		"padding-top",
		"padding-right",
		"padding-bottom",
		"padding-left",
		"fluid-on-mobile",
		"hamburger",
	],
	"it names rules that are written in the code": ["css-class"],
	"the compiler does nothing with it": [
		"mj-text background-color",
		"mj-text vertical-align",
		"mj-table vertical-align",
		"mj-social vertical-align",
		"mj-social table-layout",
		"mj-section text-padding",
		"mj-wrapper text-padding",
		"mj-spacer border",
		"mj-spacer border-top",
		"mj-spacer border-right",
		"mj-spacer border-bottom",
		"mj-spacer border-left",
	],
	"one setting has all sides, or both directions": [
		"inner-padding-top",
		"inner-padding-right",
		"inner-padding-bottom",
		"inner-padding-left",
		"ico-padding-top",
		"ico-padding-right",
		"ico-padding-bottom",
		"ico-padding-left",
		"background-position-x",
		"background-position-y",
	],
	"mail programs decide it": ["target", "rel"],
	"it is for HTML that is written in the code": [
		"usemap",
		"mj-raw position",
		"ico-open",
		"ico-close",
		"role",
		"mj-button name",
		"mj-image name",
		"mj-navbar-link name",
	],
	"many mail programs do not know it, and it needs several images": ["srcset", "sizes"],
};
const isLeftOut = new Set(Object.values(leftOut).flat());

/** isOffered reports whether the inspector has a field for an attribute of an element. */
export const isOffered = (tag: string, name: string) => !isLeftOut.has(name) && !isLeftOut.has(`${tag} ${name}`);

/** attributesOf returns the attributes of an element that have a field of their own: those that are changed most, and the others. */
export function attributesOf(tree: Tree, element: ElementNode): { first: string[]; rest: string[] } {
	const { tag } = element;
	const first = main[tag] ?? [];
	const hasStyles = stylesIn(tree).length > 0 || attributeValue(tree, element, "mj-class") !== undefined;
	const rest = (known[tag] ?? []).filter(
		(name) => isOffered(tag, name) && !first.includes(name) && (hasStyles || name !== "mj-class"),
	);
	return { first, rest: rest.toSorted() };
}

const fonts = "Ubuntu, Helvetica, Arial, sans-serif";

/** What holds in MJML without an attribute. A test compares it with the compiler's. */
const defaults: { [tag: string]: { [name: string]: string } } = {
	"mj-body": {
		width: "600px",
	},
	"mj-section": {
		"background-repeat": "repeat",
		"background-size": "auto",
		"background-position": "top center",
		direction: "ltr",
		padding: "20px 0",
		"text-align": "center",
		"text-padding": "4px 4px 4px 0",
	},
	"mj-wrapper": {
		"background-repeat": "repeat",
		"background-size": "auto",
		"background-position": "top center",
		direction: "ltr",
		padding: "20px 0",
		"text-align": "center",
		"text-padding": "4px 4px 4px 0",
	},
	"mj-group": {
		direction: "ltr",
	},
	"mj-column": {
		direction: "ltr",
		"vertical-align": "top",
	},
	"mj-text": {
		align: "left",
		color: "#000000",
		"font-family": fonts,
		"font-size": "13px",
		"line-height": "1",
		padding: "10px 25px",
	},
	"mj-button": {
		align: "center",
		"background-color": "#414141",
		border: "none",
		"border-radius": "3px",
		color: "#ffffff",
		"font-family": fonts,
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
	"mj-image": {
		align: "center",
		border: "0",
		height: "auto",
		padding: "10px 25px",
		target: "_blank",
		"font-size": "13px",
	},
	"mj-divider": {
		"border-color": "#000000",
		"border-style": "solid",
		"border-width": "4px",
		padding: "10px 25px",
		width: "100%",
		align: "center",
	},
	"mj-spacer": {
		height: "20px",
	},
	"mj-social": {
		align: "center",
		"border-radius": "3px",
		color: "#333333",
		"font-family": fonts,
		"font-size": "13px",
		"icon-size": "20px",
		"line-height": "22px",
		mode: "horizontal",
		padding: "10px 25px",
		"text-decoration": "none",
	},
	"mj-social-element": {
		align: "left",
		"icon-position": "left",
		color: "#000",
		"border-radius": "3px",
		"font-family": fonts,
		"font-size": "13px",
		"line-height": "1",
		padding: "4px",
		"text-padding": "4px 4px 4px 0",
		target: "_blank",
		"text-decoration": "none",
		"vertical-align": "middle",
	},
	"mj-table": {
		align: "left",
		border: "none",
		cellpadding: "0",
		cellspacing: "0",
		color: "#000000",
		"font-family": fonts,
		"font-size": "13px",
		"line-height": "22px",
		padding: "10px 25px",
		"table-layout": "auto",
		width: "100%",
	},
	"mj-hero": {
		mode: "fixed-height",
		height: "0px",
		"background-position": "center center",
		padding: "0px",
		"background-color": "#ffffff",
		"vertical-align": "top",
	},
	"mj-navbar": {
		align: "center",
		"ico-align": "center",
		"ico-open": "&#9776;",
		"ico-close": "&#8855;",
		"ico-color": "#000000",
		"ico-font-size": "30px",
		"ico-font-family": fonts,
		"ico-text-transform": "uppercase",
		"ico-padding": "10px",
		"ico-text-decoration": "none",
		"ico-line-height": "30px",
	},
	"mj-navbar-link": {
		color: "#000000",
		"font-family": fonts,
		"font-size": "13px",
		"font-weight": "normal",
		"line-height": "22px",
		padding: "15px 10px",
		target: "_blank",
		"text-decoration": "none",
		"text-transform": "uppercase",
	},
	"mj-accordion": {
		border: "2px solid black",
		"font-family": fonts,
		"icon-align": "middle",
		"icon-wrapped-url": "https://i.imgur.com/bIXv1bk.png",
		"icon-wrapped-alt": "+",
		"icon-unwrapped-url": "https://i.imgur.com/w4uTygT.png",
		"icon-unwrapped-alt": "-",
		"icon-position": "right",
		"icon-height": "32px",
		"icon-width": "32px",
		padding: "10px 25px",
	},
	"mj-accordion-title": {
		"font-size": "13px",
		padding: "16px",
	},
	"mj-accordion-text": {
		"font-size": "13px",
		"line-height": "1",
		padding: "16px",
	},
	"mj-carousel": {
		align: "center",
		"border-radius": "6px",
		"icon-width": "44px",
		"left-icon": "https://i.imgur.com/xTh3hln.png",
		"right-icon": "https://i.imgur.com/os7o9kz.png",
		thumbnails: "visible",
		"tb-border": "2px solid transparent",
		"tb-border-radius": "6px",
		"tb-hover-border-color": "#fead0d",
		"tb-selected-border-color": "#ccc",
	},
	"mj-carousel-image": {
		target: "_blank",
	},
};

/** What elements hand to those in them, which take it unless they say something else. */
const handed: { [tag: string]: Set<string> } = {
	"mj-social-element": new Set([
		"border-radius",
		"color",
		"font-family",
		"font-size",
		"font-style",
		"font-weight",
		"icon-height",
		"icon-padding",
		"icon-size",
		"line-height",
		"text-decoration",
		"text-padding",
	]),
	"mj-carousel-image": new Set(["border-radius", "tb-border", "tb-border-radius"]),
	"mj-accordion-title": new Set(["border", "font-family"]),
	"mj-accordion-text": new Set(["border", "font-family"]),
	"mj-accordion-element": new Set([
		"border",
		"font-family",
		"icon-align",
		"icon-height",
		"icon-position",
		"icon-unwrapped-alt",
		"icon-unwrapped-url",
		"icon-width",
		"icon-wrapped-alt",
		"icon-wrapped-url",
	]),
};

/** defaultOf returns what holds for an element without an attribute: of its class, of the mail's head, of MJML. */
export function defaultOf(tree: Tree, element: ElementNode, name: string): string {
	const { tag } = element;
	const classes = (attributeValue(tree, element, "mj-class") ?? "").split(/\s+/).filter(Boolean);
	const inHead = headAttributes(tree);
	const of = (wanted: string, named?: string) =>
		inHead
			.filter((other) => other.tag === wanted && (named === undefined || attributeValue(tree, other, "name") === named))
			.map((other) => attributeValue(tree, other, name))
			.findLast((value) => value !== undefined);
	for (const one of classes.reverse()) {
		const value = of("mj-class", one);
		if (value !== undefined) return value;
	}
	const given = of(tag) ?? of("mj-all");
	const around = given === undefined && handed[tag]?.has(name) ? elementAround(element.parent) : null;
	const fromAround = around && (attributeValue(tree, around, name) || defaultOf(tree, around, name));
	return given ?? (fromAround || (defaults[tag]?.[name] ?? ""));
}

/** stylesIn returns the names of the styles that the head of a mail has for elements to choose. */
export const stylesIn = (tree: Tree): string[] => [
	...new Set(
		headAttributes(tree)
			.filter((element) => element.tag === "mj-class")
			.flatMap((element) => attributeValue(tree, element, "name") || []),
	),
];

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

/** What Outlook for Windows, which draws with Word, does with an attribute: nothing, or not all of it. */
const inOutlook: { [how in "ignored" | "differently" | "lowercase"]: RegExp } = {
	ignored:
		/^(?:\S+ (?:inner-|tb-)?border-radius|mj-image max-height|mj-carousel (?:thumbnails|(?:left|right)-icon|icon-width|tb-\S+)|mj-carousel-image (?:thumbnails-src|tb-\S+)|mj-accordion(?:-element)? icon-\S+|mj-navbar ico-\S+)$/,
	differently: /^mj-(?:section|wrapper|hero) background-(?:url|position|size|repeat|width|height)$/,
	lowercase: /^\S+ text-transform$/,
};

/** outlookDoes returns what is different about an attribute of an element in Outlook for Windows; null if nothing is. */
export const outlookDoes = (tag: string, name: string) =>
	(["ignored", "differently", "lowercase"] as const).find((how) => inOutlook[how].test(`${tag} ${name}`)) ?? null;
