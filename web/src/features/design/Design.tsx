import { Redo2, Undo2 } from "lucide-react";
import {
	type KeyboardEvent,
	type PointerEvent,
	type ReactNode,
	type RefObject,
	type SyntheticEvent,
	useEffect,
	useMemo,
	useRef,
	useState,
} from "react";
import { useParam } from "../../base/params";
import { catalogue } from "../../base/words/catalogue";
import { changesBetween, moved } from "../../ui/editor/changesBetween";
import { Button, IconButton } from "../../ui/Button";
import type { CodeControl } from "../../ui/Code";
import { follow } from "../../ui/drag";
import { asOwn } from "../../sync/pendingSaves";
import { Select } from "../../ui/Field";
import { Callout } from "../../ui/Page";
import { toast } from "../../ui/Toast";
import { keeps } from "../../ui/richtext/RichText";
import { Actions } from "./Actions";
import { Canvas } from "./Canvas";
import css from "./Design.module.css";
import { TextInPlace } from "./ElementText";
import { ownTyping } from "./fields";
import { Inspector } from "./Inspector";
import { insertSnippet } from "./inserting";
import type { Apply } from "./Kept";
import { type Landing, landings, nearest } from "./landing";
import { type Act, applied, duplicate, insert, isFixed, move, remove, step } from "./model/acts";
import { parse } from "./model/parse";
import { contentOf } from "./model/labels";
import { places } from "./model/places";
import { bodyOf, type ElementNode, find, isInBody, type Node, nodeAt, parentOf, pathOf, type Tree } from "./model/tree";
import { nameOf, titleOf } from "./names";
import { Outline } from "./Outline";
import { PaddingHandles } from "./PaddingHandles";
import { acted, follows, newId, type Place } from "./place";
import { Palette } from "./Palette";
import { type Picture, type Rect, View } from "./picture";
import { changed, fixed, noPlace, notMoved, notThere } from "./refusals";
import { Stage } from "./Stage";
import { allowedOf, withText } from "./texts";
import { useImages } from "./useImages";
import type { Addition, Declared } from "./usePaletteParts";

const words = catalogue("design.design", {
	label: "Design",
	broken: "The code has an error in line {line}. The design shows the last version without errors.",
	never: "The code has an error in line {line}. The design appears once it is corrected.",
	code: "Open in code",
	undo: "Undo",
	redo: "Redo",
	path: "Selected",
	width: "Width",
	phone: "Phone",
	desktop: "Desktop",
	added: "Added: {name}",
	moved: "Moved: {name}",
	copied: "Copied: {name}",
	deleted: "Deleted: {name}",
	undone: "Undone.",
	redone: "Done again.",
});

type Props = {
	/** MJML with Liquid: a document, or a fragment. */
	text: string;
	fragment: boolean;
	readOnly: boolean;
	/** The code editor of the text, in whose history changes are made, once it has been loaded. */
	control: RefObject<CodeControl | null>;
	onChange: (text: string) => void;
	/** The last mail that could be made of the text. */
	picture: Picture | null;
	/** Says why the picture is not that of the text; missing while all is well. */
	notice?: ReactNode;
	/** The sections and the slots that it may have. */
	declared?: Declared;
	/** Opens the code at a line. */
	onCode: (line: number) => void;
	/** Where the picture is shown if that is elsewhere: null for nowhere. */
	stage?: HTMLElement | null;
	/** A position whose element to open; a new object opens it again. */
	element?: { at: number } | null;
	tools?: ReactNode;
};

const lineAt = (text: string, position: number) => text.slice(0, position).split("\n").length;

/** Design edits MJML on the picture of the mail and in its outline. All it does are changes of the text, each of which is one step of its history. */
export default function Design(props: Props) {
	const { text, readOnly } = props;
	const parsed = useMemo(() => parse(text, props.fragment), [text, props.fragment]);
	const valid = useRef<Tree | null>(null);
	if (!parsed.broken) valid.current = parsed;
	const tree = valid.current;
	const line = parsed.broken && lineAt(text, parsed.broken.at);
	const toCode = (line: number) => (
		<Button small onClick={() => props.onCode(line)}>
			{words.code}
		</Button>
	);
	return (
		<section aria-label={words.label} className={css.design}>
			{line !== undefined && (
				<Callout tone="danger" title={(tree ? words.broken : words.never)({ line })}>
					{toCode(line)}
				</Callout>
			)}
			{tree && <Editor {...props} tree={tree} readOnly={readOnly || parsed.broken !== undefined} />}
		</section>
	);
}

function Editor({ tree, text, readOnly, control, ...props }: Props & { tree: Tree }) {
	const [place, setPlace] = useState(() => cursorIn(tree, control.current));
	const [said, setSaid] = useState("");
	const [focus, setFocus] = useState(0);
	const [settings, setSettings] = useState(0); // how often they were to take the focus
	const [width, setWidth] = useParam("device", "600");
	const [rects, setRects] = useState<Rect[]>([]);
	const [drag, setDrag] = useState<{ landings: Landing[]; target: Landing | null } | null>(null);
	const typed = useRef(false); // whether the last change was one of typing
	const layer = useRef<HTMLDivElement>(null);
	const search = useRef<HTMLDivElement>(null);
	const inspector = useRef<HTMLDivElement>(null);
	const body = bodyOf(tree);
	if (place && place.text !== tree.text) setPlace(follows(place, tree.text));
	const selected = place && (nodeAt(tree, place.at) ?? find(tree, place.at));
	const edited = readOnly || !place?.edits || selected?.from !== place.at ? null : withText(selected);
	const pictured = props.picture?.text ?? "";
	const view = useMemo(() => new View(tree, pictured, rects), [tree, pictured, rects]);
	const [own] = useState(ownTyping);
	useCursor(control, tree, selected);
	const select = (node: Node, edits = false) =>
		setPlace((before) => {
			const same = before?.text === tree.text && before.at === node.from;
			return { text: tree.text, at: node.from, edits, id: same ? before.id : newId() };
		});
	const stop = () => setPlace((before) => before && { ...before, edits: false });
	/** leave goes from the text of the selected node back to that in the outline. */
	const leave = () => {
		stop();
		setFocus((count) => count + 1);
	};
	const isShown = (node: Node) => node === body || isInBody(node.parent);

	const apply: Apply = (act, typing = false) => {
		if (!act || readOnly) return false;
		const after = applied(text, act.changes);
		if (!control.current) asOwn(() => props.onChange(after));
		else if (!control.current.change(text, act.changes, typing ? (typed.current ? "next" : "first") : "")) {
			toast(changed());
			return false;
		}
		typed.current = typing;
		own.taken();
		setPlace((before) => acted(before, act.changes, after, act.select));
		return true;
	};
	const newest = useRef({ tree, apply });
	newest.current = { tree, apply };
	/** done applies an act of which there is something to say, and shows its node in the outline. If there is none, it says why. */
	const done = (act: Act | null, sentence: string, refusal: string) => {
		if (!act) return toast(refusal);
		if (!apply(act)) return;
		setSaid(sentence);
		setFocus((count) => count + 1);
	};
	const history = (way: "undo" | "redo") => {
		const to = readOnly ? null : (control.current?.travel(way, place?.at ?? 0) ?? null);
		const text = control.current?.read() ?? null;
		if (to === null || text === null) return;
		const after = parse(text, props.fragment);
		const node = after.broken ? null : (nodeAt(after, to) ?? find(after, to));
		setPlace((before) => before && acted(before, changesBetween(before.text, text), text, node?.from ?? to));
		setSaid(way === "undo" ? words.undone : words.redone);
	};
	const run = {
		up: (node: Node) => moveTo(node, -1),
		down: (node: Node) => moveTo(node, 1),
		duplicate: (node: Node) => done(duplicate(tree, node), words.copied({ name: nameOf(node) }), fixed(node)),
		remove: (node: Node) => done(remove(tree, node), words.deleted({ name: nameOf(node) }), fixed(node)),
		parent: (node: Node) => {
			const parent = parentOf(node);
			if (parent) select(parent);
			setFocus((count) => count + 1);
		},
	};
	const moveTo = (node: Node, by: -1 | 1) => {
		const place = isFixed(node) ? null : step(node, by);
		done(place && move(tree, node, place), words.moved({ name: nameOf(node) }), notMoved(node, by));
	};
	const add = (addition: Addition) =>
		done(insertSnippet(tree, selected, addition), words.added({ name: addition.name }), noPlace(addition.name));
	const images = useImages({ tree, selected, readOnly, layer, view: () => view, show: setDrag, done });
	const focusIn = (part: RefObject<HTMLElement | null>) =>
		(
			part.current?.querySelector<HTMLElement>("[data-path]") ??
			part.current?.querySelector<HTMLElement>("input:not([type=color]), textarea, select")
		)?.focus();
	/** open edits the text of a node over the picture; what has no such text, or is not shown there, among its settings. */
	const open = async (node: Node) => {
		select(node);
		const element = readOnly || !layer.current?.checkVisibility() ? null : withText(node);
		const isShown = element && view.boxesOf(element).length > 0;
		if (isShown && (await canEdit(tree, element))) select(node, true);
		else setSettings((count) => count + 1);
	};
	// The settings of what was selected just now are shown by now; the editor of its text may be loaded still.
	// biome-ignore lint/correctness/useExhaustiveDependencies: they get the focus once
	useEffect(() => {
		if (settings === 0) return;
		let frames = withText(selected) && !readOnly ? 120 : 0;
		let frame = 0;
		const look = () => {
			const text = inspector.current?.querySelector<HTMLElement>('[data-path="text"]');
			if (text) text.focus();
			else if (frames-- > 0) frame = requestAnimationFrame(look);
			else focusIn(inspector);
		};
		look();
		return () => cancelAnimationFrame(frame);
	}, [settings]);
	// biome-ignore lint/correctness/useExhaustiveDependencies: it is opened once
	useEffect(() => {
		const node = props.element && (nodeAt(tree, props.element.at) ?? find(tree, props.element.at));
		const element = node && withText(node);
		// Its text has the focus, whose editor may be loaded first.
		if (node) void Promise.resolve(element && canEdit(tree, element)).then(() => open(node));
	}, [props.element]);

	/** dragged follows the pointer over the picture: what is dropped lands where it shows, and a press without a movement is one. */
	const dragged = (
		event: PointerEvent<HTMLElement>,
		what: string | string[] | Node,
		name: string,
		drop: (landing: Landing) => void,
		press: () => void,
	) => {
		if (readOnly) return;
		const [x0, y0] = [event.clientX, event.clientY];
		const all = landings(places(tree, what), view);
		let moved = false;
		let target: Landing | null = null;
		follow(
			event,
			(x, y) => {
				moved ||= Math.hypot(x - x0, y - y0) > 4;
				const box = layer.current?.getBoundingClientRect();
				const over = box && x > box.left - 24 && x < box.right + 24 && y > box.top - 24 && y < box.bottom + 24;
				target = over ? nearest(all, x - box.left, y - box.top) : null;
				if (moved) setDrag((before) => (before?.target === target && before ? before : { landings: all, target }));
			},
			(dropped) => {
				setDrag(null);
				if (!dropped) return;
				if (!moved) press();
				else if (target) drop(target);
				else if (all.length === 0) toast(noPlace(name));
			},
			layer.current ?? undefined,
		);
	};

	/** isHere reports whether something happened in the design or in its picture, and not in a dialog. */
	const isHere = ({ currentTarget, target }: SyntheticEvent) =>
		[currentTarget, props.stage].some((part) => part?.contains(target as Element));
	const keys = (event: KeyboardEvent) => {
		if (!isHere(event)) return;
		const mod = event.ctrlKey || event.metaKey;
		if (mod && (event.target as Element).closest("[data-own-text]")) return; // what is typed there goes first
		if (mod && !event.altKey && event.key.toLowerCase() === "z") {
			if (own.isIn(event.target)) return;
			event.preventDefault();
			history(event.shiftKey ? "redo" : "undo");
		} else if (mod && !event.altKey && event.key.toLowerCase() === "y") {
			if (own.isIn(event.target)) return;
			event.preventDefault();
			history("redo");
		} else if (event.key === "/" && !mod && !event.altKey && !isField(event.target)) {
			event.preventDefault();
			focusIn(search);
		}
	};
	const rowKeys = (event: KeyboardEvent, node: Node) => {
		const mod = event.ctrlKey || event.metaKey;
		const acts: { [key: string]: (() => void) | undefined } = {
			ArrowUp: event.altKey && !mod ? () => run.up(node) : undefined,
			ArrowDown: event.altKey && !mod ? () => run.down(node) : undefined,
			Delete: mod || event.altKey ? undefined : () => run.remove(node),
			Backspace: mod || event.altKey ? undefined : () => run.remove(node),
			Enter: mod || event.altKey ? undefined : () => void open(node),
			d: mod && !event.altKey ? () => run.duplicate(node) : undefined,
		};
		const chosen = acts[event.key];
		if (!chosen) return;
		event.preventDefault();
		select(node);
		chosen();
	};
	const around = selected && parentOf(selected);
	const up = around && isShown(around) ? around : null;
	const actions = selected && <Actions node={selected} parent={up} readOnly={readOnly} run={run} />;
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of what is inside
		<div
			className={css.editor}
			data-apart={props.stage !== undefined || undefined}
			onKeyDown={keys}
			onFocus={own.onFocus}
			onInput={own.onInput}
			onPaste={(event) => isHere(event) && images.onPaste(event)}
		>
			{images.dialog}
			<div className={css.bar}>
				<IconButton label={words.undo} small icon={<Undo2 aria-hidden size={16} />} onClick={() => history("undo")} />
				<IconButton label={words.redo} small icon={<Redo2 aria-hidden size={16} />} onClick={() => history("redo")} />
				<div className={css.view}>
					<div className={css.width}>
						<Select
							label={words.width}
							hideLabel
							value={width === "375" ? "375" : "600"}
							onChange={setWidth}
							choices={[
								{ value: "600", label: words.desktop },
								{ value: "375", label: words.phone },
							]}
						/>
					</div>
					{props.tools}
				</div>
			</div>
			<p className="visually-hidden" role="status">
				{said}
			</p>
			<div className={css.side}>
				<Outline tree={tree} body={body} selected={selected} onSelect={select} onKey={rowKeys} focus={focus} />
				{!readOnly && (
					<Palette
						search={search}
						onInsert={add}
						onEscape={() => setFocus((count) => count + 1)}
						onDrag={(event, addition) =>
							dragged(
								event,
								addition.tag,
								addition.name,
								({ place }) =>
									done(
										insert(tree, place, addition.code),
										words.added({ name: addition.name }),
										notThere(addition.name),
									),
								() => add(addition),
							)
						}
						tree={tree}
						declared={props.declared}
						upload={images.upload}
					/>
				)}
			</div>
			<Stage at={props.stage}>
				<nav aria-label={words.path} className={css.path}>
					{(selected ? pathOf(selected) : []).filter(isShown).map((node) => (
						<button
							key={node.from}
							type="button"
							aria-current={node === selected || undefined}
							title={titleOf(tree, node)}
							onClick={() => select(node)}
						>
							{nameOf(node)}
						</button>
					))}
				</nav>
				{props.notice}
				<Canvas
					view={view}
					picture={props.picture}
					isWaiting={!props.notice}
					width={width === "375" ? "375px" : "100%"}
					selected={selected}
					selection={place?.id}
					layer={layer}
					onRects={setRects}
					onFiles={images.onFiles}
					onPress={(node, double) => {
						if (double || (node === selected && withText(node))) return void open(node);
						select(node);
						setFocus((count) => count + 1);
					}}
					textAt={
						edited &&
						((box, width) => (
							<TextInPlace
								tree={tree}
								node={edited}
								readOnly={readOnly}
								apply={apply}
								onDone={leave}
								box={box}
								width={width}
							/>
						))
					}
					onLeave={stop}
					handles={(box) =>
						!readOnly &&
						selected && <PaddingHandles tree={tree} node={selected} box={box} apply={apply} onPhone={width === "375"} />
					}
					landings={drag?.landings ?? null}
					target={drag?.target ?? null}
					toolbar={
						selected && (
							<Actions
								node={selected}
								parent={up}
								readOnly={readOnly}
								run={run}
								onDrag={(event) =>
									dragged(
										event,
										selected,
										nameOf(selected),
										({ place }) => {
											const name = nameOf(selected);
											done(move(tree, selected, place), words.moved({ name }), notThere(name));
										},
										() => undefined,
									)
								}
							/>
						)
					}
				/>
			</Stage>
			<div ref={inspector} className={css.side}>
				<Inspector
					key={place?.id}
					tree={tree}
					node={selected}
					readOnly={readOnly}
					inPlace={edited !== null}
					apply={apply}
					newest={newest}
					actions={actions}
					onCode={(node) => props.onCode(lineAt(text, node.from))}
				/>
			</div>
		</div>
	);
}

/** canEdit tells whether the text of an element is edited with its formatting. Its source needs more room than the picture has. */
const canEdit = async (tree: Tree, element: ElementNode) => {
	const allowed = allowedOf(element);
	return allowed !== null && keeps(contentOf(tree, element), allowed).catch(() => false);
};

/** cursorIn returns the place of what the cursor of the code is in, if that is shown. */
function cursorIn(tree: Tree, control: CodeControl | null): Place | null {
	const at = control?.read() === tree.text ? control.cursor() : null;
	const node = at === null ? null : find(tree, at);
	if (!node || !(node === bodyOf(tree) || isInBody(node.parent))) return null;
	return { text: tree.text, at: node.from, edits: false, id: newId() };
}

/** useCursor puts the cursor of the code to what was selected when the design is left. */
function useCursor(control: RefObject<CodeControl | null>, tree: Tree, selected: Node | null) {
	const latest = useRef({ tree, selected });
	latest.current = { tree, selected };
	useEffect(
		() => () => {
			const { tree, selected } = latest.current;
			const text = control.current?.read() ?? null;
			if (!control.current || !selected || text === null) return;
			const at = text === tree.text ? control.current.cursor() : null;
			if (at !== null && find(tree, at) === selected) return; // it is in it already
			control.current.select(moved(selected.from, changesBetween(tree.text, text)));
		},
		[control],
	);
}

const isField = (target: EventTarget) =>
	target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
