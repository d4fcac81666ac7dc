import {
	Code,
	Columns2,
	Columns3,
	Columns4,
	Heading,
	Image,
	type LucideIcon,
	Minus,
	MousePointerClick,
	PanelBottom,
	PanelLeft,
	RectangleHorizontal,
	Share2,
	Space,
	Square,
	Table,
	Type,
} from "lucide-react";
import { type PointerEvent, type Ref, useRef, useState } from "react";
import { TextField } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import css from "./Design.module.css";
import { type Snippet, type SnippetId, snippets } from "./snippets";

const words = catalogue("design.palette", {
	title: "Add",
	search: "Find what to add",
	nothing: "Nothing has this name.",
});

const names = catalogue("design.palette.names", {
	columns1: "1 column",
	columns2: "2 columns",
	columns3: "3 columns",
	columns4: "4 columns",
	sidebar: "Sidebar",
	text: "Text",
	heading: "Heading",
	button: "Button",
	image: "Image",
	divider: "Divider",
	spacer: "Spacer",
	social: "Social links",
	table: "Table",
	hero: "Hero",
	footer: "Footer",
	code: "Code",
});

const icons: { [id in SnippetId]: LucideIcon } = {
	columns1: Square,
	columns2: Columns2,
	columns3: Columns3,
	columns4: Columns4,
	sidebar: PanelLeft,
	text: Type,
	heading: Heading,
	button: MousePointerClick,
	image: Image,
	divider: Minus,
	spacer: Space,
	social: Share2,
	table: Table,
	hero: RectangleHorizontal,
	footer: PanelBottom,
	code: Code,
};

/** snippetName returns what the palette calls a snippet. */
export const snippetName = (id: SnippetId) => names[id];

type Props = {
	search: Ref<HTMLDivElement>;
	onInsert: (snippet: Snippet) => void;
	/** A press of the pointer, with which dragging begins. */
	onDrag: (event: PointerEvent<HTMLElement>, snippet: Snippet) => void;
	onEscape: () => void;
};

/** Palette is what can be added: pressed it goes to the selection, dragged to where it is let go. Enter in its search adds the first one. */
export function Palette({ search, onInsert, onDrag, onEscape }: Props) {
	const [text, setText] = useState("");
	const pressed = useRef(false);
	const found = snippets.filter(({ id }) => names[id].toLowerCase().includes(text.trim().toLowerCase()));
	const add = (snippet: Snippet) => {
		setText("");
		onInsert(snippet);
	};
	return (
		<section aria-label={words.title} className={css.palette}>
			<div ref={search}>
				<TextField
					label={words.search}
					hideLabel
					placeholder={words.search}
					value={text}
					onChange={setText}
					data-own-text={text !== "" || undefined}
					autoComplete="off"
					onKeyDown={(event) => {
						const [first] = found;
						if (event.key === "Enter" && first) {
							event.preventDefault();
							add(first);
						} else if (event.key === "Escape") {
							event.stopPropagation();
							setText("");
							onEscape();
						}
					}}
				/>
			</div>
			{found.length === 0 && <p className={css.hint}>{words.nothing}</p>}
			<ul className={css.snippets}>
				{found.map((snippet) => {
					const Icon = icons[snippet.id];
					return (
						<li key={snippet.id}>
							<button
								type="button"
								onPointerDown={(event) => {
									pressed.current = event.button === 0;
									onDrag(event, snippet);
								}}
								onClick={() => {
									if (!pressed.current) add(snippet); // by key, or by what reads the page aloud
									pressed.current = false;
								}}
							>
								<Icon aria-hidden size={16} />
								{names[snippet.id]}
							</button>
						</li>
					);
				})}
			</ul>
		</section>
	);
}
