import { attributes as known } from "../../ui/editor/mjml";
import { defaultOf } from "./attributes";
import { type Act, setAttribute } from "./model/acts";
import { attributeValue, contentOf } from "./model/labels";
import { bodyOf, type ElementNode, type Tree } from "./model/tree";
import type { Box } from "./picture";

// The space between the edges of an element and what is in it: as MJML understands "padding" and "padding-top", and as
// the picture shows it.

export const sides = ["top", "right", "bottom", "left"] as const;
export type Side = (typeof sides)[number];
type Four = { [side in Side]: string };

/** hasPadding reports whether an element has a padding. */
export const hasPadding = (element: ElementNode) => known[element.tag]?.includes("padding") === true;

/** fourOf returns the values of the sides that the shorthand means; null if it has none, or Liquid prints it. */
function fourOf(shorthand: string): Four | null {
	if (/[{}]/.test(shorthand) || shorthand.trim() === "") return null;
	const all = shorthand.trim().split(/\s+/);
	const [top = "", right = top, bottom = top, left = right] = all;
	return all.length > 4 ? null : { top, right, bottom, left };
}

/** shortest writes four values as one text. */
function shortest({ top, right, bottom, left }: Four): string {
	if (left !== right) return `${top} ${right} ${bottom} ${left}`;
	if (top !== bottom) return `${top} ${right} ${bottom}`;
	return top === right ? top : `${top} ${right}`;
}

const long = (side: Side) => `padding-${side}`;

/** inherited returns the padding of a side that holds if the element says nothing. */
const inherited = (tree: Tree, element: ElementNode, side: Side) =>
	defaultOf(tree, element, long(side)) || fourOf(defaultOf(tree, element, "padding"))?.[side] || "0px";

/** paddingOf returns the padding of a side as it is written; "" if Liquid prints it together with others. The long form goes before the short one. */
export function paddingOf(tree: Tree, element: ElementNode, side: Side): string {
	const own = attributeValue(tree, element, long(side)) || defaultOf(tree, element, long(side));
	if (own) return own;
	const short = attributeValue(tree, element, "padding");
	return short ? (fourOf(short)?.[side] ?? "") : inherited(tree, element, side);
}

const same = (a: string | undefined, b: string) =>
	a === b || (a !== undefined && /^0(px)?$/.test(a) && /^0(px)?$/.test(b));

/**
 * setPadding writes the padding of a side as its author would: in the long form if that is there, in the shortest short
 * one if all four sides are there, or else for this side alone. Null goes back to what holds without it.
 */
export function setPadding(tree: Tree, element: ElementNode, side: Side, value: string | null): Act | null {
	const short = attributeValue(tree, element, "padding") || undefined;
	const four = short === undefined ? null : fourOf(short);
	const fromHead = defaultOf(tree, element, long(side));
	const without = fromHead || (short === undefined ? inherited(tree, element, side) : four?.[side]);
	const isSame = value === null || same(without, value);
	if (attributeValue(tree, element, long(side)) !== undefined)
		return setAttribute(tree, element, long(side), isSame ? null : value);
	// A long form that the head gives to all elements like this one goes before the short form of this one, and Liquid cannot be told apart in it.
	if (!four || fromHead || /[{}]/.test(value ?? ""))
		return isSame ? null : setAttribute(tree, element, long(side), value);
	const next = value ?? inherited(tree, element, side);
	return same(without, next) ? null : setAttribute(tree, element, "padding", shortest({ ...four, [side]: next }));
}

/** pixelsOf returns how many pixels a length is, in something of a width; null if that is not known. */
export function pixelsOf(length: string, width: number): number | null {
	const [, number, unit] = /^([\d.]+)(px|%|)$/.exec(length.trim()) ?? [];
	if (number === undefined || !Number.isFinite(Number(number)) || (unit === "" && Number(number) !== 0)) return null;
	return unit === "%" ? (Number(number) * width) / 100 : Number(number);
}

/** borderOf returns how many pixels the border at a side has, which is around the padding. */
function borderOf(tree: Tree, element: ElementNode, side: Side): number {
	// Those of other elements are drawn inside.
	if (!["mj-section", "mj-wrapper", "mj-column"].includes(element.tag)) return 0;
	const of = (name: string) => attributeValue(tree, element, name) || defaultOf(tree, element, name);
	return Number(/([\d.]+)px/.exec(of(`border-${side}`) || of("border"))?.[1] ?? 0);
}

/** widthOf returns how wide a mail is, in pixels. */
function widthOf(tree: Tree): number {
	const body = bodyOf(tree);
	const width = body.kind === "element" ? attributeValue(tree, body, "width") : undefined;
	return pixelsOf(width ?? "600px", 0) ?? 600;
}

/** Edge is the padding of a side in the picture: in which box it is, how many pixels it has, and how many it may have. */
export type Edge = { side: Side; box: Box; pixels: number; most: number };

/** How wide what is too small for handles is, the room for what is between two paddings, and the highest padding, in pixels. */
const tiny = 60;
const least = 24;
const highest = 400;

/** edgesOf returns the paddings of an element that the picture shows in a box; none of a side whose padding is not known. */
export function edgesOf(tree: Tree, element: ElementNode, whole: Box): Edge[] {
	if (!hasPadding(element) || whole.width < tiny) return [];
	// The symbol of a social link has a padding, and its text has one of its own.
	if (element.tag === "mj-social-element" && contentOf(tree, element).trim() !== "") return [];
	const box = { ...whole };
	const bodyWidth = widthOf(tree);
	const isWide =
		(attributeValue(tree, element, "full-width") || defaultOf(tree, element, "full-width")) === "full-width";
	if (isWide && box.width > bodyWidth) {
		box.x += (box.width - bodyWidth) / 2;
		box.width = bodyWidth;
	}
	const [top = 0, right = 0, bottom = 0, left = 0] = sides.map((side) => borderOf(tree, element, side));
	box.x += left;
	box.y += top;
	box.width -= left + right;
	box.height -= top + bottom;
	const pixels = (side: Side) => pixelsOf(paddingOf(tree, element, side), box.width);
	return sides.flatMap((side) => {
		const own = pixels(side);
		if (own === null) return [];
		const isBeside = side === "left" || side === "right";
		const other = isBeside ? (pixels(side === "left" ? "right" : "left") ?? 0) : 0;
		const most = isBeside ? Math.max(own, Math.floor(box.width - other - least)) : highest;
		return [{ side, pixels: own, most, box }];
	});
}

/** areaOf returns the area of a padding that has so many pixels. */
export function areaOf({ box, side }: Edge, pixels: number): Box {
	const width = Math.min(pixels, box.width);
	const height = Math.min(pixels, box.height);
	if (side === "top") return { ...box, height };
	if (side === "bottom") return { ...box, y: box.y + box.height - height, height };
	return side === "left" ? { ...box, width } : { ...box, x: box.x + box.width - width, width };
}

/** dragged returns how many pixels a padding has after its handle was dragged. */
export function dragged({ side, pixels, most }: Edge, dx: number, dy: number): number {
	const by = { top: dy, right: -dx, bottom: -dy, left: dx }[side];
	return Math.round(Math.min(most, Math.max(0, pixels + by)));
}
