import {
	type Completion,
	type CompletionContext,
	type CompletionResult,
	type CompletionSource,
	snippetCompletion,
} from "@codemirror/autocomplete";
import { htmlCompletionSource } from "@codemirror/lang-html";
import type { EditorState, Extension } from "@codemirror/state";
import { activateHover, EditorView, hoverTooltip, keymap } from "@codemirror/view";
import type { Name } from "../Code";
import { attributes, box } from "./mjml";
import { elementHelp, filterHelp, objectHelp, tagHelp, words } from "./words";

// Completion and help of the code editor. Both look at the line up to the cursor alone, so that they are as quick
// in long documents as in short ones.

const option = (label: string, type: string, info: string, detail?: string): Completion => ({
	label,
	type,
	info,
	detail,
});

const filters = () => Object.entries(filterHelp).map(([name, help]) => option(name, "function", help));
const tags = () => Object.entries(tagHelp).map(([name, help]) => option(name, "keyword", help));
const objects = () => Object.entries(objectHelp).map(([name, help]) => option(name, "variable", help));
const elements = () => Object.entries(elementHelp).map(([name, help]) => option(name, "type", help));

/** nameInfo says what a name is. */
const nameInfo = (name: Name) => {
	const kind = {
		parameter: words.parameter,
		section: words.section,
		item: words.item({ section: name.section ?? "" }),
		slot: words.slot,
		field: words.contact,
	}[name.kind];
	return [name.label && name.label !== name.name ? `${kind}: ${name.label}` : kind, name.help]
		.filter(Boolean)
		.join(". ");
};

/** written is how a name is written between braces. */
const written = (name: Name) =>
	({
		parameter: `param:${name.name}`,
		section: `#section ${name.name}`,
		item: `item:${name.name}`,
		slot: `slot:${name.name}`,
		field: `contact.${name.name}`,
	})[name.kind];

/** The element that a place is inside of the tag of, if it is where an attribute may stand. */
function openTag(state: EditorState, position: number): string | undefined {
	const from = Math.max(0, position - 2000);
	const text = state.sliceDoc(from, position);
	const tag = /<(mj[\w-]*)((?:\s+[\w-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s+[\w-]*$/.exec(text);
	return tag?.[1];
}

function sourceOf(names: () => Name[], mjml: boolean): CompletionSource {
	return (context: CompletionContext): CompletionResult | null => {
		const filter = context.matchBefore(/\{[{%][^{}%]*\|\s*\w*$/) ?? context.matchBefore(/\{[{%][^}%]*\|\s*\w*$/);
		if (filter)
			return { from: context.pos - (/\w*$/.exec(filter.text)?.[0].length ?? 0), options: filters(), validFor: /^\w*$/ };
		const tag = context.matchBefore(/\{%-?\s*\w*$/);
		if (tag)
			return { from: context.pos - (/\w*$/.exec(tag.text)?.[0].length ?? 0), options: tags(), validFor: /^\w*$/ };
		const name = context.matchBefore(/\{\{-?\s*[#\w:. ]*$/) ?? context.matchBefore(/\{%-?\s*\w+\s[^%]*?[\w.:]*$/);
		if (name) {
			const part = /#?(?:section )?[\w:.]*$/.exec(name.text)?.[0] ?? "";
			const inTag = name.text.startsWith("{%");
			const options = names()
				.filter((name) => !inTag || name.kind === "field" || name.kind === "parameter")
				.map((name) => {
					const label = inTag && name.kind === "parameter" ? `param.${name.name}` : written(name);
					return name.kind === "section"
						? snippetCompletion(`${label}}}\n\t\${}\n{{/section`, { label, type: "keyword", info: nameInfo(name) })
						: option(label, name.kind === "field" ? "property" : "variable", nameInfo(name));
				});
			return { from: context.pos - part.length, options: [...options, ...objects()], validFor: /^#?[\w:. ]*$/ };
		}
		if (!mjml) return htmlCompletionSource(context);
		const element = context.matchBefore(/<\/?[\w-]*$/);
		if (element)
			return {
				from: context.pos - element.text.replace(/^<\/?/, "").length,
				options: elements(),
				validFor: /^[\w-]*$/,
			};
		const attribute = context.matchBefore(/\s[\w-]*$/);
		const tagName = attribute && openTag(context.state, context.pos);
		if (attribute && tagName) {
			const options = (attributes[tagName] ?? box).map((name) =>
				snippetCompletion(`${name}="\${}"`, { label: name, type: "property", info: `${words.attribute}: ${tagName}` }),
			);
			return { from: attribute.from + 1, options, validFor: /^[\w-]*$/ };
		}
		return htmlCompletionSource(context);
	};
}

type Help = { from: number; to: number; title: string; text: string };

/** helpAt is what there is to say about the name at a place. */
function helpAt(state: EditorState, position: number, names: Name[]): Help | null {
	const line = state.doc.lineAt(position);
	const start = Math.max(0, position - line.from - 300);
	const text = line.text.slice(start, position - line.from + 300);
	const column = position - line.from - start;
	for (const match of text.matchAll(/(?:param|item|slot):[\w.]+|#section\s+\w+|[\w.-]+/g)) {
		if (match.index > column) return null;
		if (match.index + match[0].length < column) continue;
		const before = text.slice(0, match.index);
		const from = line.from + start + match.index;
		const helpOf = (title: string, help: string): Help => ({ from, to: from + match[0].length, title, text: help });
		const token = match[0].replace(/\s+/, " ");
		const own = <T extends object>(record: T, key: string): key is Extract<keyof T, string> =>
			Object.hasOwn(record, key);
		if (/<\/?$/.test(before)) return own(elementHelp, token) ? helpOf(token, elementHelp[token]) : null;
		if (/\{[{%][^{}]*\|\s*$/.test(before)) return own(filterHelp, token) ? helpOf(token, filterHelp[token]) : null;
		if (/\{%-?\s*$/.test(before)) return own(tagHelp, token) ? helpOf(token, tagHelp[token]) : null;
		if (!/\{[{%][^}]*$/.test(before)) return null;
		const known = names.find(
			(name) =>
				token === written(name) ||
				(name.kind === "field" && token === name.name) ||
				(name.kind === "parameter" && (token === name.name || token === `param.${name.name}`)),
		);
		if (known) return helpOf(token, nameInfo(known));
		return own(objectHelp, token) ? helpOf(token, objectHelp[token]) : null;
	}
	return null;
}

/** The names in the code are explained below the pointer, and at the cursor with F1. */
export function hints(names: () => Name[], mjml: boolean): { source: CompletionSource; help: Extension } {
	const hover = hoverTooltip((view, position) => {
		const help = helpAt(view.state, position, names());
		if (!help) return null;
		return {
			pos: help.from,
			end: help.to,
			create: () => {
				const dom = document.createElement("div");
				dom.className = "cm-help";
				const title = dom.appendChild(document.createElement("code"));
				title.textContent = help.title;
				dom.append(" ", help.text);
				return { dom };
			},
		};
	});
	const explain = (view: EditorView) => {
		const position = view.state.selection.main.head;
		const help = helpAt(view.state, position, names());
		view.dispatch({ effects: EditorView.announce.of(help ? `${help.title}: ${help.text}` : words.nothing) });
		if (help)
			activateHover(view, position, -1, { tooltip: hover, until: (tr) => tr.docChanged || tr.selection !== undefined });
		return true;
	};
	return { source: sourceOf(names, mjml), help: [hover, keymap.of([{ key: "F1", run: explain }])] };
}
