import type { Node } from "prosemirror-model";
import type { NodeView } from "prosemirror-view";
import { decode } from "./entities";
import { attribute, nameOf } from "./tags";

// How Liquid and other code is shown in a text.

/** A name for what Liquid prints, by its path, such as contact.first_name. */
export type Names = (path: string) => string | undefined;

const output = /^\{\{-?\s*([\w.[\]"'-]+)\s*(?:\|\s*default:\s*(?:"([^"]*)"|'([^']*)')\s*)?-?\}\}$/;

/** outputOf returns what an output prints and what stands for it where there is nothing, if it does only that. */
export function outputOf(source: string): { path: string; fallback?: string } | null {
	const match = output.exec(source.trim());
	if (!match?.[1]) return null;
	const fallback = match[2] ?? match[3];
	return fallback === undefined ? { path: match[1] } : { path: match[1], fallback };
}

const shortened = (text: string, most = 40) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** chipText returns what a piece of code is called, and its fallback. */
export function chipText(source: string, names: Names): { name: string; fallback?: string } {
	const text = source.trim();
	const shows = outputOf(text);
	if (shows) return { name: names(shows.path) ?? shows.path, fallback: shows.fallback };
	if (nameOf(text) === "img") {
		const picture = attribute(text, "alt") || attribute(text, "src") || "img";
		return { name: `🖼 ${shortened(picture)}` };
	}
	const inside = /^\{[{%]-?\s*([\s\S]*?)\s*-?[%}]\}$/.exec(text)?.[1];
	return { name: shortened(decode((inside ?? text).replace(/\s+/g, " "))) };
}

/** chip shows a node of code. */
export function chip(node: Node, names: Names): NodeView {
	const source = String(node.attrs.src);
	const dom = document.createElement(node.isInline ? "span" : "div");
	dom.dataset.chip = node.type.name;
	dom.title = source.trim().slice(0, 1000);
	dom.contentEditable = "false";
	const { name, fallback } = chipText(source, names);
	dom.append(name);
	if (fallback !== undefined && fallback !== "") {
		const small = document.createElement("small");
		small.textContent = ` ${fallback}`;
		dom.append(small);
	}
	return { dom };
}
