import {
	AlignCenter,
	AlignLeft,
	AlignRight,
	Bold,
	Code as CodeIcon,
	Italic,
	List as ListIcon,
	ListOrdered,
	Redo2,
	RemoveFormatting,
	Strikethrough,
	Underline,
	Undo2,
} from "lucide-react";
import { redo, redoDepth, undo, undoDepth } from "prosemirror-history";
import type { Command, EditorState } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useRef } from "react";
import { flushSync } from "react-dom";
import { catalogue } from "../../base/words/catalogue";
import type { Allowed } from "./allowed";
import { clearFormats, hasFormat, insertLiquid, toggleFormat } from "./formats";
import { LinkTool } from "./LinkTool";
import { listName, toggleList } from "./lists";
import { LooksTool } from "./LooksTool";
import { alignment, blockName, setAlignment, setBlock } from "./paragraphs";
import css from "./RichText.module.css";
import type { RichTextProps } from "./RichText";

const words = catalogue("editor.toolbar", {
	tools: "Format {label}",
	bold: "Bold",
	italic: "Italic",
	underline: "Underline",
	strike: "Strike through",
	bullets: "Bulleted list",
	numbers: "Numbered list",
	left: "Align left",
	center: "Center",
	right: "Align right",
	clear: "Remove formatting",
	undo: "Undo",
	redo: "Redo",
	source: "Source",
	block: "Paragraph style",
	blocks: {
		plain: "Plain text",
		p: "Paragraph",
		h1: "Heading 1",
		h2: "Heading 2",
		h3: "Heading 3",
		h4: "Heading 4",
	},
});

type Props = {
	label: string;
	allowed: Allowed;
	/** The editor; null while its source is edited, and until it is there. */
	view: EditorView | null;
	state: EditorState | null;
	undoes: boolean;
	link: RefObject<HTMLButtonElement | null>;
	mergeMenu: RichTextProps["mergeMenu"];
	palettes: RichTextProps["palettes"];
	isSource: boolean;
	/** Shows the source or the text; missing if there is only the source. */
	onSource: ((isSource: boolean) => void) | undefined;
};

/** Tool is what a button does, and whether it is on. */
type Tool = { name: string; icon: ReactNode; command: Command; pressed?: boolean; disabled?: boolean };

/** Toolbar has the tools of a text. One of them is in the order of Tab; arrows lead to the others. */
export function Toolbar({ label, allowed, view, state, undoes, link, mergeMenu, palettes, isSource, onSource }: Props) {
	const bar = useRef<HTMLDivElement>(null);
	useOneTabStop(bar);
	/** Runs a command once what was open before is closed, and goes back to the text. */
	const run = (command: Command, close?: () => void) => {
		if (!view) return;
		if (close) flushSync(close);
		command(view.state, view.dispatch, view);
		view.focus();
	};
	return (
		<div ref={bar} role="toolbar" aria-label={words.tools({ label })} className={css.toolbar} onKeyDown={moveFocus}>
			{view && state && (
				<>
					{allowed.blocks.length > 1 && <BlockTool state={state} allowed={allowed} run={run} />}
					{toolsOf(state, allowed, undoes).map((tool) => (
						<button
							key={tool.name}
							type="button"
							className={css.tool}
							aria-label={tool.name}
							aria-pressed={tool.pressed}
							aria-disabled={tool.disabled || undefined}
							title={tool.name}
							onMouseDown={(event) => event.preventDefault()}
							onClick={() => !tool.disabled && run(tool.command)}
						>
							{tool.icon}
						</button>
					))}
					<LinkTool state={state} run={run} trigger={link} mergeMenu={mergeMenu} />
					{allowed.looks && <LooksTool state={state} run={run} palettes={palettes} />}
					{mergeMenu?.(label, (source) => setTimeout(() => run(insertLiquid(source))))}
				</>
			)}
			{onSource && (
				<button type="button" className={css.toggle} aria-pressed={isSource} onClick={() => onSource(!isSource)}>
					<CodeIcon aria-hidden size={14} /> {words.source}
				</button>
			)}
		</div>
	);
}

const size = 16;

function toolsOf(state: EditorState, allowed: Allowed, undoes: boolean): Tool[] {
	const format = (name: string, mark: string, icon: ReactNode): Tool => ({
		name,
		icon,
		command: toggleFormat(mark),
		pressed: hasFormat(state, mark),
	});
	const list = (name: string, element: "ul" | "ol", icon: ReactNode): Tool => ({
		name,
		icon,
		command: toggleList(element),
		pressed: listName(state) === element,
	});
	const align = (name: string, value: string, icon: ReactNode): Tool => {
		const pressed = alignment(state) === value;
		return { name, icon, command: setAlignment(pressed ? null : value), pressed };
	};
	const all: (Tool | false)[] = [
		format(words.bold, "strong", <Bold aria-hidden size={size} />),
		format(words.italic, "em", <Italic aria-hidden size={size} />),
		allowed.underline && format(words.underline, "underline", <Underline aria-hidden size={size} />),
		allowed.strike && format(words.strike, "strike", <Strikethrough aria-hidden size={size} />),
		allowed.lists && list(words.bullets, "ul", <ListIcon aria-hidden size={size} />),
		allowed.lists && list(words.numbers, "ol", <ListOrdered aria-hidden size={size} />),
		allowed.align && align(words.left, "left", <AlignLeft aria-hidden size={size} />),
		allowed.align && align(words.center, "center", <AlignCenter aria-hidden size={size} />),
		allowed.align && align(words.right, "right", <AlignRight aria-hidden size={size} />),
		{ name: words.clear, icon: <RemoveFormatting aria-hidden size={size} />, command: clearFormats },
		...(undoes ? historyTools(state) : []),
	];
	return all.filter((tool) => tool !== false);
}

const historyTools = (state: EditorState): Tool[] => [
	{ name: words.undo, icon: <Undo2 aria-hidden size={size} />, command: undo, disabled: undoDepth(state) === 0 },
	{ name: words.redo, icon: <Redo2 aria-hidden size={size} />, command: redo, disabled: redoDepth(state) === 0 },
];

type BlockProps = { state: EditorState; allowed: Allowed; run: (command: Command) => void };

function BlockTool({ state, allowed, run }: BlockProps) {
	const block = blockName(state);
	const nameOf = (name: string) => words.blocks[(name || "plain") as keyof typeof words.blocks] ?? name;
	// Text without an element is one of the choices only where it is there, or usual.
	const names = [...new Set([...allowed.blocks, ...(block === null ? [] : [block])])];
	return (
		<select
			aria-label={words.block}
			className={css.style}
			value={block ?? "several"}
			onChange={(event) => run(setBlock(event.target.value))}
			onKeyDown={openByKeys}
		>
			{block === null && (
				<option value="several" disabled>
					{words.block}
				</option>
			)}
			{names.map((name) => (
				<option key={name} value={name}>
					{nameOf(name)}
				</option>
			))}
		</select>
	);
}

/** Opens a list where keys would choose from it while it is closed: what is chosen is applied at once. */
function openByKeys(event: KeyboardEvent<HTMLSelectElement>) {
	if (event.ctrlKey || event.metaKey || event.altKey) return;
	if (!/^(?:Arrow(?:Up|Down)|Page(?:Up|Down)|.)$/u.test(event.key) || !("showPicker" in event.currentTarget)) return;
	event.preventDefault();
	event.currentTarget.showPicker();
}

const toolsIn = (bar: HTMLElement) => [...bar.querySelectorAll<HTMLElement>("button, select")];

/** Leaves one tool in the order of Tab: the one that had the focus last. */
function useOneTabStop(bar: RefObject<HTMLDivElement | null>) {
	useEffect(() => {
		const element = bar.current;
		if (!element) return;
		const update = (event?: Event) => {
			const tools = toolsIn(element);
			const focused = tools.find((tool) => tool === event?.target);
			const stop = focused ?? tools.find((tool) => tool.tabIndex === 0 && tool.dataset.stop) ?? tools[0];
			for (const tool of tools) {
				tool.tabIndex = tool === stop ? 0 : -1;
				if (tool === stop) tool.dataset.stop = "true";
				else delete tool.dataset.stop;
			}
		};
		update();
		const observer = new MutationObserver(() => update());
		observer.observe(element, { childList: true, subtree: true });
		element.addEventListener("focusin", update);
		return () => {
			observer.disconnect();
			element.removeEventListener("focusin", update);
		};
	}, [bar]);
}

/** Moves the focus among the tools. */
function moveFocus(event: KeyboardEvent<HTMLDivElement>) {
	if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof HTMLElement)) return;
	const tools = toolsIn(event.currentTarget);
	const at = tools.indexOf(event.target);
	const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
	if (at < 0 || to === undefined) return;
	event.preventDefault();
	tools.at(to % tools.length)?.focus();
}
