import type { CSSProperties } from "react";
import { defaultOf } from "./attributes";
import { attributeValue } from "./model/labels";
import { type ElementNode, parentOf, type Tree } from "./model/tree";

// How a text looks while it is edited over the picture, as far as attributes tell: nobody can look into the frame.

const settingOf = (tree: Tree, element: ElementNode, name: string) =>
	attributeValue(tree, element, name) || defaultOf(tree, element, name);

const isKnown = (value: string) => !/\{[{%]/.test(value);

/** paddingOf returns the space in an element, as CSS has it. */
function paddingOf(tree: Tree, element: ElementNode): string {
	const all = settingOf(tree, element, "padding").split(/\s+/);
	const [top = "0", right = top, bottom = top, left = right] = all;
	const sides = { top, right, bottom, left };
	return Object.entries(sides)
		.map(([side, value]) => settingOf(tree, element, `padding-${side}`) || value)
		.join(" ");
}

/** backgroundOf returns the colour behind a text; white if that is not known. */
export function backgroundOf(tree: Tree, element: ElementNode): string {
	return colorBehind(tree, element) ?? "#ffffff";
}

/** colorBehind returns the colour behind an element; null if it is printed by Liquid, or there is an image. */
function colorBehind(tree: Tree, element: ElementNode): string | null {
	const own = settingOf(tree, element, "container-background-color");
	if (own) return isKnown(own) ? own : null;
	for (let node = parentOf(element); node; node = parentOf(node)) {
		if (node.kind !== "element") continue;
		if (settingOf(tree, node, "background-url")) return null;
		const color = settingOf(tree, node, "inner-background-color") || settingOf(tree, node, "background-color");
		if (color) return isKnown(color) ? color : null;
	}
	return "#ffffff";
}

/** placeOf returns how the text of an element stands in the room of that. */
export function placeOf(tree: Tree, element: ElementNode): CSSProperties {
	const align = settingOf(tree, element, "align");
	const isButton = element.tag === "mj-button";
	return { padding: paddingOf(tree, element), justifyItems: isButton ? align || "center" : undefined };
}

/** lookOf returns how the text of an element looks. */
export function lookOf(tree: Tree, element: ElementNode): CSSProperties {
	const of = (name: string) => settingOf(tree, element, name) || undefined;
	const isButton = element.tag === "mj-button";
	const filled = isButton ? of("background-color") : undefined;
	const behind = filled ?? colorBehind(tree, element);
	return {
		// A colour is only shown on the one that it is meant for.
		color: behind !== null && isKnown(behind) ? of("color") : undefined,
		background: filled,
		fontFamily: of("font-family"),
		fontSize: of("font-size"),
		fontStyle: of("font-style"),
		fontWeight: of("font-weight"),
		letterSpacing: of("letter-spacing"),
		lineHeight: of("line-height"),
		textTransform: of("text-transform") as CSSProperties["textTransform"],
		textAlign: (isButton ? "center" : of("align")) as CSSProperties["textAlign"],
		padding: isButton ? of("inner-padding") : undefined,
		borderRadius: isButton ? of("border-radius") : undefined,
	};
}
