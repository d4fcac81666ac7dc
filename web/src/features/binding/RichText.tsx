import {
	Bold,
	Code as CodeIcon,
	Italic,
	Link as LinkIcon,
	List as ListIcon,
	ListOrdered,
	RemoveFormatting,
	Strikethrough,
	Underline,
} from "lucide-react";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Button } from "../../ui/Button";
import { Code } from "../../ui/Code";
import { Frame, TextField } from "../../ui/Field";
import { Popup } from "../../ui/Popup";
import { catalogue } from "../../base/words/catalogue";
import css from "./RichText.module.css";
import { fromEditor, isSupported, toEditor } from "./markup";
import { MergeMenu } from "./Tokens";

const words = catalogue("binding.richText", {
	tools: "Format {label}",
	bold: "Bold",
	italic: "Italic",
	underline: "Underline",
	strike: "Strike through",
	bullets: "Bulleted list",
	numbers: "Numbered list",
	clear: "Remove formatting",
	block: "Paragraph style",
	p: "Paragraph",
	h1: "Heading 1",
	h2: "Heading 2",
	h3: "Heading 3",
	h4: "Heading 4",
	blockquote: "Quote",
	link: "Link",
	address: "Address",
	setLink: "Set link",
	removeLink: "Remove link",
	source: "Source",
	visual: "Formatted",
	loses: "This text contains code that formatted editing would change. Edit its source.",
	used: "{used} of {most}",
});

type Props = {
	label: string;
	value: string;
	onChange: (value: string) => void;
	help?: ReactNode;
	error?: string;
	optional?: boolean;
	path: string;
	readOnly?: boolean;
	maxLength?: number;
};

const blocks = ["p", "h1", "h2", "h3", "h4", "blockquote"] as const;

/** RichText edits text with the elements that the server keeps, formatted or as its source. Nothing is changed until somebody types. */
export function RichText({ label, value, onChange, help, error, optional, path, readOnly, maxLength }: Props) {
	const id = useId();
	const area = useRef<HTMLDivElement>(null);
	const shown = useRef<string | null>(null);
	const range = useRef<Range | null>(null);
	const [source, setSource] = useState(() => !isSupported(value));
	const [address, setAddress] = useState("");
	useEffect(() => {
		const el = area.current;
		if (source || !el || shown.current === value) return;
		shown.current = value;
		el.replaceChildren(toEditor(value));
	}, [value, source]);
	const changed = () => {
		const el = area.current;
		if (!el) return;
		const text = fromEditor(el);
		shown.current = text;
		onChange(text);
	};
	const saveSelection = () => {
		const selection = getSelection();
		if (selection && selection.rangeCount > 0 && area.current?.contains(selection.anchorNode))
			range.current = selection.getRangeAt(0).cloneRange();
	};
	const restore = () => {
		area.current?.focus();
		const selection = getSelection();
		if (range.current && selection) {
			selection.removeAllRanges();
			selection.addRange(range.current);
		}
	};
	const run = (command: string, argument?: string) => {
		restore();
		document.execCommand("styleWithCSS", false, "false");
		document.execCommand(command, false, argument);
		saveSelection();
		changed();
	};
	const tool = (name: string, icon: ReactNode, command: string) => (
		<button
			type="button"
			className={css.tool}
			aria-label={name}
			title={name}
			onMouseDown={(e) => e.preventDefault()}
			onClick={() => run(command)}
		>
			{icon}
		</button>
	);
	const size = 16;
	const nearLimit = maxLength !== undefined && value.length >= maxLength * 0.9;
	const toggle = !readOnly && (
		<button
			type="button"
			className={css.toggle}
			aria-pressed={source}
			onClick={() => {
				shown.current = null;
				setSource(!source);
			}}
		>
			<CodeIcon aria-hidden size={14} /> {words.source}
		</button>
	);
	const tools = (
		<>
			{nearLimit && (
				<span className={css.count} role="status">
					{words.used({ used: value.length, most: maxLength })}
				</span>
			)}
			{toggle}
			{!readOnly && !source && (
				<MergeMenu
					label={label}
					onInsert={(text) => {
						restore();
						run("insertText", text);
					}}
				/>
			)}
		</>
	);
	return (
		<Frame id={id} label={label} help={help} error={error} optional={optional} tools={tools}>
			{source ? (
				<div id={id} tabIndex={-1} data-path={path} className={css.source} data-bad={error ? true : undefined}>
					{!isSupported(value) && <p className={css.note}>{words.loses}</p>}
					<Code label={label} value={value} onChange={onChange} readOnly={readOnly} />
				</div>
			) : (
				<div className={css.editor} data-bad={error ? true : undefined}>
					{!readOnly && (
						<div role="toolbar" aria-label={words.tools({ label })} className={css.toolbar}>
							<select
								aria-label={words.block}
								className={css.style}
								value=""
								onChange={(e) => run("formatBlock", e.target.value)}
							>
								<option value="" disabled>
									{words.block}
								</option>
								{blocks.map((block) => (
									<option key={block} value={block}>
										{words[block]}
									</option>
								))}
							</select>
							{tool(words.bold, <Bold aria-hidden size={size} />, "bold")}
							{tool(words.italic, <Italic aria-hidden size={size} />, "italic")}
							{tool(words.underline, <Underline aria-hidden size={size} />, "underline")}
							{tool(words.strike, <Strikethrough aria-hidden size={size} />, "strikeThrough")}
							{tool(words.bullets, <ListIcon aria-hidden size={size} />, "insertUnorderedList")}
							{tool(words.numbers, <ListOrdered aria-hidden size={size} />, "insertOrderedList")}
							<Popup
								label={words.link}
								buttonLabel={words.link}
								button={<LinkIcon aria-hidden size={size} />}
								className={css.tool}
							>
								{(close) => (
									<form
										className={css.link}
										onSubmit={(event) => {
											event.preventDefault();
											close();
											if (address.trim()) run("createLink", address.trim());
										}}
									>
										<TextField
											label={words.address}
											value={address}
											onChange={setAddress}
											autoFocus
											inputMode="url"
											placeholder="https://"
										/>
										<div className={css.actions}>
											<Button
												small
												onClick={() => {
													close();
													run("unlink");
												}}
											>
												{words.removeLink}
											</Button>
											<Button small variant="primary" type="submit">
												{words.setLink}
											</Button>
										</div>
									</form>
								)}
							</Popup>
							{tool(words.clear, <RemoveFormatting aria-hidden size={size} />, "removeFormat")}
						</div>
					)}
					{/* biome-ignore lint/a11y/useSemanticElements: a textarea holds no formatted text */}
					<div
						ref={area}
						id={id}
						role="textbox"
						tabIndex={0}
						aria-multiline
						aria-labelledby={`${id}-label`}
						aria-readonly={readOnly || undefined}
						aria-invalid={error ? true : undefined}
						aria-describedby={error ? `${id}-error` : help ? `${id}-help` : undefined}
						data-path={path}
						className={css.area}
						contentEditable={!readOnly}
						suppressContentEditableWarning
						onInput={changed}
						onKeyUp={saveSelection}
						onMouseUp={saveSelection}
						onBlur={saveSelection}
						onPaste={(event) => {
							event.preventDefault();
							const html = event.clipboardData.getData("text/html");
							if (!html) document.execCommand("insertText", false, event.clipboardData.getData("text/plain"));
							else document.execCommand("insertHTML", false, fromEditor(toEditor(html, true)));
						}}
					/>
				</div>
			)}
		</Frame>
	);
}
