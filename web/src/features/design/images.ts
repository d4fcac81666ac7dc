import type { AssetRow } from "../../api/schema";
import { altOf } from "../assets/assets";
import { defaultOf } from "./attributes";
import { insertSnippet } from "./inserting";
import { type Act, applied, insert, setAttribute } from "./model/acts";
import { attributeValue } from "./model/labels";
import { parse } from "./model/parse";
import type { Place } from "./model/places";
import { attributeOf } from "./model/text";
import {
	bodyOf,
	type Container,
	type ElementNode,
	elementAround,
	type Node,
	nodeAt,
	type Tree,
	walk,
} from "./model/tree";

// What is written into MJML for an image: its address, its alternative text, and its width where it would be blown up.

/** Stored is what of an image of the account its code depends on. */
export type Stored = Pick<AssetRow, "url" | "name" | "width" | "height">;

/** holdsImage reports whether an attribute is the address of an image. */
export const holdsImage = (name: string) => /^(?:thumbnails-)?src$|^background-url$|^(?:left|right)-icon$/.test(name);

/** isImage reports whether an element shows one image, which another one can replace. */
export const isImage = (node: Node | null): node is ElementNode =>
	node?.kind === "element" && (node.tag === "mj-image" || node.tag === "mj-carousel-image");

const settingOf = (tree: Tree, element: ElementNode, name: string) =>
	attributeValue(tree, element, name) || defaultOf(tree, element, name);

/** pixels reads a length; a share is one of a width. It is 0 if it is not known. */
function pixels(length: string, of: number): number {
	const [, number, unit] = /^([\d.]+)(px|%)?$/.exec(length.trim()) ?? [];
	return unit === "%" ? (Number(number) * of) / 100 : Number(number ?? 0);
}

/** sides returns how much of a width the padding of an element has. */
function sides(tree: Tree, element: ElementNode, of: number): number {
	const all = settingOf(tree, element, "padding").split(/\s+/);
	const [top = "0", right = top, , left = right] = all;
	const side = (name: string, value: string) => pixels(settingOf(tree, element, name) || value, of);
	return side("padding-left", left) + side("padding-right", right);
}

/** mailWidth returns how wide a mail is, in pixels. */
export function mailWidth(tree: Tree): number {
	const body = bodyOf(tree);
	return (body.kind === "element" && pixels(settingOf(tree, body, "width"), 0)) || 600;
}

/** roomIn returns how wide the content of a container is, in pixels. */
function roomIn(tree: Tree, container: Container): number {
	const element = elementAround(container);
	if (!element || element.tag === "mj-body") return mailWidth(tree);
	const around = roomIn(tree, element.parent);
	const shares = element.tag === "mj-column" || element.tag === "mj-group";
	const width = shares ? shareOf(tree, element, around) : around;
	return width - sides(tree, element, width);
}

/** shareOf returns how wide a column is. */
function shareOf(tree: Tree, column: ElementNode, around: number): number {
	const own = attributeValue(tree, column, "width");
	if (own) return pixels(own, around) || around;
	const row = elementAround(column.parent);
	const beside = row
		? [...walk(row)].filter((node) => node.kind === "element" && elementAround(node.parent) === row)
		: [];
	return around / Math.max(1, beside.length);
}

/** roomOf returns how wide the content of an element can be, in pixels. */
export function roomOf(tree: Tree, element: ElementNode): number {
	const around = roomIn(tree, element.parent);
	return around - sides(tree, element, around);
}

/** setAttributes writes several attributes of an element as one act; null takes one away. */
function setAttributes(tree: Tree, element: ElementNode, values: { [name: string]: string | null }): Act | null {
	let now = tree;
	for (const [name, value] of Object.entries(values)) {
		const node = nodeAt(now, element.from);
		if (node?.kind !== "element") return null;
		if ((attributeValue(now, node, name) ?? null) === value) continue;
		const act = setAttribute(now, node, name, value);
		const after = act && parse(applied(now.text, act.changes), tree.root.fragment);
		if (!after || after.broken) return null;
		now = after;
	}
	const [from, before] = [element.open.from, tree.text.slice(element.open.from, element.open.to)];
	const to = element.open.to + now.text.length - tree.text.length;
	return now === tree
		? null
		: { changes: [{ from, to: from + before.length, insert: now.text.slice(from, to) }], select: element.from };
}

/**
 * setImage puts an image of the account into an attribute, as one act. What an element shows gets no more width than
 * the image has, and, if it has none, an alternative text: alt, or that of its name.
 */
export function setImage(tree: Tree, element: ElementNode, name: string, image: Stored, alt?: string): Act | null {
	const has = (attribute: string) => attributeValue(tree, element, attribute);
	const values: { [name: string]: string | null } = { [name]: image.url };
	if (name === "src") {
		if (alt !== undefined) values.alt = alt;
		else if (has("alt") === undefined) values.alt = altOf(image);
	}
	if (name === "src" && element.tag === "mj-image") {
		const room = roomOf(tree, element);
		const width = has("width");
		if (image.width < (width ? pixels(width, room) : room)) values.width = `${image.width}px`;
		if (has("height")) values.height = null; // it was that of another image
	}
	if (name === "background-url" && element.tag === "mj-hero") {
		values["background-width"] = `${image.width}px`;
		values["background-height"] = `${image.height}px`;
	}
	return setAttributes(tree, element, values);
}

/** insertImages inserts images of the account at a place, or where they go for somebody who has selected a node, as one act. */
export function insertImages(
	tree: Tree,
	where: { place: Place } | { selected: Node | null },
	images: (Stored & { alt: string })[],
): Act | null {
	const write = (room: number) => {
		const codes = images.map(({ url, alt, width }) => {
			const small = width < room ? ` width="${width}px"` : "";
			return `<mj-image src="${attributeOf(url, '"')}" alt="${attributeOf(alt, '"')}"${small} />`;
		});
		const code = codes.join("\n");
		return "place" in where
			? insert(tree, where.place, code)
			: insertSnippet(tree, where.selected, { tag: "mj-image", code });
	};
	const act = write(0);
	const after = act && parse(applied(tree.text, act.changes), tree.root.fragment);
	if (!after || after.broken) return null;
	const first = [...walk(after.root)].find(
		(node): node is ElementNode => node.kind === "element" && node.tag === "mj-image" && node.from >= act.select,
	);
	return first ? write(roomOf(after, first)) : act;
}
