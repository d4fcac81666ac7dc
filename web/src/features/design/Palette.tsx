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
import { Fragment, type PointerEvent, type ReactNode, type Ref, useRef, useState } from "react";
import { TextField } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import css from "./Design.module.css";
import { type Addition, type Declared, usePaletteParts } from "./usePaletteParts";
import type { Tree } from "./model/tree";
import { type SnippetId, snippets } from "./snippets";

const words = catalogue("design.palette", {
	title: "Add",
	search: "Find what to add",
	nothing: "Nothing has this name.",
	more: "{count, plural, one {Search to find # more.} other {Search to find # more.}}",
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

/** So many of a kind are shown; an account can have a thousand blocks. */
const most = 40;

type Props = {
	search: Ref<HTMLDivElement>;
	onInsert: (addition: Addition) => void;
	/** A press of the pointer, with which dragging begins. */
	onDrag: (event: PointerEvent<HTMLElement>, addition: Addition) => void;
	onEscape: () => void;
	tree: Tree;
	declared?: Declared;
	/** Uploads images. */
	upload: ReactNode;
};

/** Palette is what can be added: pressed it goes to the selection, dragged to where it is let go. Enter in its search adds the first one. */
export function Palette({ search, onInsert, onDrag, onEscape, tree, declared, upload }: Props) {
	const [text, setText] = useState("");
	const pressed = useRef(false);
	const parts = usePaletteParts(tree, declared);
	const own = snippets().map((snippet) => ({ ...snippet, name: names[snippet.id], icon: icons[snippet.id] }));
	const groups = [{ title: "", help: "", additions: own as Addition[] }, ...parts]
		.map((group) => ({
			...group,
			additions: group.additions.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase())),
		}))
		.filter((group) => group.additions.length > 0);
	const add = (addition: Addition) => {
		setText("");
		onInsert(addition);
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
						const [first] = groups[0]?.additions ?? [];
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
			{groups.length === 0 && <p className={css.hint}>{words.nothing}</p>}
			{groups.map(({ title, help, additions }) => (
				<Fragment key={title}>
					{title && <h2 className={css.group}>{title}</h2>}
					{help && <p className={css.hint}>{help}</p>}
					<ul className={css.snippets} aria-label={title || undefined}>
						{additions.slice(0, most).map((addition) => {
							const Icon = addition.icon;
							return (
								<li key={addition.id}>
									<button
										type="button"
										onPointerDown={(event) => {
											pressed.current = event.button === 0;
											onDrag(event, addition);
										}}
										onClick={() => {
											if (!pressed.current) add(addition); // by key, or by what reads the page aloud
											pressed.current = false;
										}}
									>
										<Icon aria-hidden size={16} />
										{addition.name}
									</button>
								</li>
							);
						})}
					</ul>
					{additions.length > most && <p className={css.hint}>{words.more({ count: additions.length - most })}</p>}
					{!title && upload}
				</Fragment>
			))}
		</section>
	);
}
