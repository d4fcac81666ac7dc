import { Braces } from "lucide-react";
import { type ReactNode, type RefObject, useCallback, useEffect, useId, useRef, useState } from "react";
import { useFields } from "../rules/useFields";
import { described, Frame } from "../../ui/Field";
import field from "../../ui/Field.module.css";
import { Popup } from "../../ui/Popup";
import { catalogue } from "../../base/words/catalogue";
import css from "./Tokens.module.css";

const words = catalogue("binding.tokens", {
	menu: "Insert merge field",
	menuFor: "Insert merge field into {name}",
	search: "Search fields",
	links: "Links",
	unsubscribe: "Unsubscribe link",
	preferences: "Preferences link",
	none: "No field matches.",
	used: "{used} of {most}",
});

/** What merge fields look like in a text. */
const liquid = /(\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\})/;

/** Fields of contacts that mails do not print. */
const unprintableFields = ["list", "tags", "email_domain", "global_status", "deliverability_status", "do_not_contact"];

type MenuProps = { label: string; onInsert: (text: string) => void };

/** MergeMenu is a button that inserts a merge field. */
export function MergeMenu({ label, onInsert }: MenuProps) {
	return (
		<Popup
			label={words.menu}
			buttonLabel={words.menuFor({ name: label })}
			button={<Braces aria-hidden size={14} />}
			className={css.menuButton}
			end
		>
			{(close) => (
				<MergeFields
					onChoose={(text) => {
						onInsert(text);
						close();
					}}
				/>
			)}
		</Popup>
	);
}

type MergeField = { name: string; group: string; text: string };

function useMergeFields(): MergeField[] {
	const fields = useFields();
	return [
		...fields
			.filter((field) => !unprintableFields.includes(field.field))
			.map((field) => ({ name: field.name, group: field.group, text: `{{ contact.${field.field} }}` })),
		{ name: words.unsubscribe, group: words.links, text: "{{ unsubscribe_url }}" },
		{ name: words.preferences, group: words.links, text: "{{ preferences_url }}" },
	];
}

/** useMergeNames returns what merge fields are called, by their paths. */
export function useMergeNames(): (path: string) => string | undefined {
	const fields = useFields();
	return useCallback(
		(path: string) => {
			if (path === "unsubscribe_url") return words.unsubscribe;
			if (path === "preferences_url") return words.preferences;
			const field = path.replace(/^contact\./, "");
			return fields.find((known) => known.field === field)?.name;
		},
		[fields],
	);
}

function MergeFields({ onChoose }: { onChoose: (text: string) => void }) {
	const [search, setSearch] = useState("");
	const first = useRef<HTMLInputElement>(null);
	useEffect(() => first.current?.focus(), []);
	const all = useMergeFields();
	const matches = all.filter((token) =>
		`${token.name} ${token.text}`.toLowerCase().includes(search.trim().toLowerCase()),
	);
	return (
		<div className={css.panel}>
			<input
				ref={first}
				type="search"
				className={field.input}
				aria-label={words.search}
				placeholder={words.search}
				value={search}
				onChange={(e) => setSearch(e.target.value)}
			/>
			<ul className={css.fields}>
				{matches.map((token) => (
					<li key={token.text}>
						<button type="button" onClick={() => onChoose(token.text)}>
							<span>{token.name}</span>
							<code>{token.text}</code>
						</button>
					</li>
				))}
			</ul>
			{matches.length === 0 && <p className={css.none}>{words.none}</p>}
		</div>
	);
}

/** Marked shows a text with its merge fields marked. */
function HighlightedText({ text, contentRef }: { text: string; contentRef: RefObject<HTMLDivElement | null> }) {
	return (
		<div ref={contentRef} className={css.marks} aria-hidden>
			{text.split(liquid).map((part, i) =>
				i % 2 === 1 ? (
					<mark key={i} className={css.mark}>
						{part}
					</mark>
				) : (
					part
				),
			)}
			{"\n"}
		</div>
	);
}

type Props = {
	label: string;
	value: string;
	onChange: (value: string) => void;
	help?: ReactNode;
	error?: string;
	optional?: boolean;
	path?: string;
	placeholder?: string;
	readOnly?: boolean;
	lines?: boolean;
	/** Beyond this many characters the server refuses the text; nothing is cut. */
	maxLength?: number;
	inputMode?: "url" | "email" | "text";
	/** Beside the label. */
	aside?: ReactNode;
};

/** TokenField is a field of text in which merge fields are inserted from a menu and shown as tokens; its value is plain text. */
export function TokenField({
	label,
	value,
	onChange,
	help,
	error,
	optional,
	path,
	placeholder,
	readOnly,
	lines,
	maxLength,
	inputMode,
	aside,
}: Props) {
	const id = useId();
	const selection = useRef({ start: value.length, end: value.length });
	const input = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
	const overlay = useRef<HTMLDivElement>(null);
	const nearLimit = maxLength !== undefined && value.length >= maxLength * 0.9;
	const follow = () => {
		if (!overlay.current || !input.current) return;
		overlay.current.scrollLeft = input.current.scrollLeft;
		overlay.current.scrollTop = input.current.scrollTop;
	};
	const saveSelection = () => {
		const element = input.current;
		if (element)
			selection.current = {
				start: element.selectionStart ?? element.value.length,
				end: element.selectionEnd ?? element.value.length,
			};
	};
	const insert = (text: string) => {
		const { start, end } = selection.current;
		onChange(value.slice(0, start) + text + value.slice(end));
		requestAnimationFrame(() => {
			input.current?.focus();
			input.current?.setSelectionRange(start + text.length, start + text.length);
			saveSelection();
		});
	};
	const common = {
		...described(id, help, error),
		ref: input,
		"data-path": path,
		value,
		placeholder,
		readOnly,
		onScroll: follow,
		onSelect: saveSelection,
		onBlur: saveSelection,
		onChange: (event: { target: { value: string } }) => onChange(event.target.value),
	};
	const tools = (
		<>
			{aside}
			{nearLimit && (
				<span className={css.count} role="status" data-over={value.length > maxLength || undefined}>
					{words.used({ used: value.length, most: maxLength })}
				</span>
			)}
			{!readOnly && <MergeMenu label={label} onInsert={insert} />}
		</>
	);
	return (
		<Frame id={id} label={label} help={help} error={error} optional={optional} tools={tools}>
			<div className={css.box} data-lines={lines || undefined}>
				<HighlightedText text={value} contentRef={overlay} />
				{lines ? (
					<textarea {...common} rows={4} className={`${field.input} ${field.area} ${css.input}`} />
				) : (
					<input {...common} inputMode={inputMode} className={`${field.input} ${css.input}`} />
				)}
			</div>
		</Frame>
	);
}
