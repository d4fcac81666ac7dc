import { type CSSProperties, type KeyboardEvent, type RefObject, useEffect, useRef, useState } from "react";
import { catalogue } from "../../../base/words/catalogue";
import { Button } from "../../../ui/Button";
import type { CodeControl } from "../../../ui/Code";
import type { Look, MarkRect } from "../../../ui/frame/reports";
import { keeps } from "../../../ui/richtext/RichText";
import { toast } from "../../../ui/Toast";
import { useNarrow } from "../../../ui/useNarrow";
import { asOwn } from "../../../sync/pendingSaves";
import type { Change } from "../../../ui/editor/changeBetween";
import { applied } from "../model/acts";
import { mapped } from "../picture";
import { changed } from "../refusals";
import css from "./HtmlPicture.module.css";
import { HtmlText } from "./HtmlText";
import { allowedOf, hasWords, isSafe, type Piece, setText } from "./pieces";
import { PieceDialog, TextDialog } from "./PieceDialog";

export { mapped } from "../picture";
export { canOpen, listed, piecesOf } from "./pieces";

const words = catalogue("design.html.picture", {
	text: "Edit text",
	link: "Edit link",
	image: "Edit image",
	code: "Open in code",
	undone: "Undone.",
	redone: "Done again.",
});

/**
 * Opened is what was pressed in a picture, or chosen: the piece that began at a position of a text, and which of those that
 * it is repeated in. Of a link, the address is edited, or the text.
 */
export type Opened = { at: number; row: number; text: string; mode: "selected" | "edited" | "text" };

type Props = {
	code: { text: string; control: RefObject<CodeControl | null>; onChange: (text: string) => void };
	pieces: Map<number, Piece>;
	/** The text that the picture was made of. */
	made: string | null;
	rects: MarkRect[];
	look: Look | null;
	/** Asks for the look of the element with a mark. */
	onLook: (mark: number) => void;
	opened: Opened;
	onOpen: (opened: Opened | null) => void;
	/** Opens the code at a position. */
	onCode: (position: number) => void;
};

/** HtmlPicture edits a piece of HTML over the picture of its mail. Its changes are steps of the history of the code. */
export function HtmlPicture({ code, pieces, made, rects, look, onLook, opened, onOpen, onCode }: Props) {
	const { text, control } = code;
	const at = useTracked(opened, text);
	const piece = at === null ? undefined : pieces.get(at);
	const anchor = useRef<HTMLButtonElement>(null);
	const typed = useRef(false); // whether the last change was one of typing
	const isNarrow = useNarrow();
	const [said, setSaid] = useState("");
	const [kept, setKept] = useState<boolean | null>(null); // whether its text is edited with its formatting
	const allowed = piece ? allowedOf(piece) : null;
	const inner = piece?.inner ? text.slice(piece.inner.from, piece.inner.to) : null;
	// biome-ignore lint/correctness/useExhaustiveDependencies: it is decided when a piece is opened
	useEffect(() => {
		setKept(null);
		if (inner === null || !allowed) return;
		let isCurrent = true;
		const decide = (kept: boolean) => isCurrent && setKept(kept);
		keeps(inner, allowed).then(decide, () => decide(false));
		return () => {
			isCurrent = false;
		};
	}, [opened, piece === undefined]);
	useEffect(() => {
		if (!piece) onOpen(null); // somebody else has changed it
	}, [piece, onOpen]);

	const toText = mapped(made ?? text, text);
	const mine = piece && made !== null ? rects.filter(({ mark }) => toText(mark) === piece.from) : [];
	const rect = mine[opened.row] ?? mine[0];
	// While the picture is replaced, what is edited stays where it was.
	const place = useRef<{ opened: Opened; rect: MarkRect } | null>(null);
	if (rect) place.current = { opened, rect };
	else if (place.current?.opened !== opened) place.current = null;
	const box = place.current?.rect;
	const mark = rect?.mark ?? -1;
	useEffect(() => {
		if (mark >= 0) onLook(mark);
		return () => onLook(-1);
	}, [mark, onLook]);
	if (!piece) return null;

	const apply = (changes: Change[], typing = false): boolean => {
		if (changes.length === 0) return true;
		const next = applied(text, changes);
		if (!isSafe(text, piece, next)) return false;
		const editor = control.current?.read() == null ? null : control.current;
		if (!editor) asOwn(() => code.onChange(next));
		else if (!editor.change(text, changes, typing ? (typed.current ? "next" : "first") : "")) {
			toast(changed());
			return false;
		}
		typed.current = typing;
		return true;
	};
	const style = look?.mark === mark ? look.look : {};
	// A colour is only shown on the one that it is meant for.
	const color = style.backgroundColor ? style.color : "#000";
	const keys = (event: KeyboardEvent) => {
		const mod = (event.ctrlKey || event.metaKey) && !event.altKey;
		const key = event.key.toLowerCase();
		const way = mod && key === "z" ? (event.shiftKey ? "redo" : "undo") : mod && key === "y" ? "redo" : null;
		if (!way || undoes(event.target)) return;
		event.preventDefault();
		typed.current = false;
		const moved = control.current?.travel(way, piece.from) ?? null;
		if (moved !== null) setSaid(way === "undo" ? words.undone : words.redone);
	};
	/** done ends the editing, and leaves the piece selected. */
	const done = () => {
		onOpen({ ...opened, at: piece.from, text, mode: "selected" });
		requestAnimationFrame(() => anchor.current?.focus({ preventScroll: true }));
	};
	const writes = opened.mode === "text" || (opened.mode === "edited" && piece.kind === "text");
	const isInPlace = writes && kept === true && box !== undefined && !isNarrow;
	const isInDialog = writes ? kept !== null && !isInPlace : opened.mode === "edited";
	const edit = (other: Piece, mode: Opened["mode"] = "edited") =>
		onOpen({ at: other.from, row: opened.row, text, mode });
	const writing = {
		value: inner ?? "",
		write: (html: string) => apply(setText(piece, html), true),
		allowed,
	};
	const around = piece.around?.kind === "text" && piece.around.isPlain ? piece.around : null;
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of what is inside
		<div className={css.layer} dir="ltr" onKeyDown={keys}>
			<p className="visually-hidden" role="status">
				{said}
			</p>
			<button
				ref={anchor}
				type="button"
				className={css.selection}
				style={placeOf(box)}
				data-selection
				aria-label={piece.words ? `${words[piece.kind]}: ${piece.words}` : words[piece.kind]}
				onClick={() => edit(piece)}
				onKeyDown={(event) => {
					if (event.key !== "Escape") return;
					event.preventDefault(); // it is of this part of the page alone
					onOpen(null);
				}}
			/>
			{isInPlace && box && (
				<div
					data-in-place
					data-below={box.y < toolsHeight || undefined}
					className={css.inPlace}
					style={
						{ ...placeOf(box), blockSize: undefined, minBlockSize: box.height, "--x": `${box.x}px` } as CSSProperties
					}
				>
					<HtmlText
						{...writing}
						inline
						look={{ backgroundColor: "#fff", ...style, color } as CSSProperties}
						onDone={done}
					/>
				</div>
			)}
			{isInDialog && writes && <TextDialog writing={writing} onClose={done} onCode={() => onCode(piece.from)} />}
			{isInDialog && !writes && (
				<PieceDialog
					key={`${piece.kind} ${opened.at}`}
					html={text}
					piece={piece}
					text={around ?? (hasWords(piece) ? piece : null)}
					apply={apply}
					onClose={done}
					onText={(piece) => edit(piece, "text")}
					onLink={edit}
					onCode={() => onCode(piece.from)}
				/>
			)}
			{opened.mode === "selected" && box && (
				<div className={css.floating} style={{ insetInlineStart: box.x, insetBlockStart: Math.max(0, box.y - 36) }}>
					<Button small onClick={() => edit(piece)}>
						{words[piece.kind]}
					</Button>
					<Button small onClick={() => onCode(piece.from)}>
						{words.code}
					</Button>
				</div>
			)}
		</div>
	);
}

/** How far below the top, in pixels, the tools have room above a text. */
const toolsHeight = 60;

const placeOf = (box: MarkRect | undefined): CSSProperties =>
	box
		? { insetInlineStart: box.x, insetBlockStart: box.y, inlineSize: box.width, blockSize: box.height }
		: { insetInlineStart: 0, insetBlockStart: 0, inlineSize: "100%", blockSize: 0 };

/** undoes reports whether a field has a history of its own, as code editors have. */
const undoes = (target: EventTarget) =>
	target instanceof HTMLElement && (target.shadowRoot !== null || target.closest("input, textarea") !== null);

/** useTracked returns where what is opened begins while the text changes; null once that cannot be told. */
function useTracked(opened: Opened, text: string): number | null {
	const last = useRef<{ opened: Opened; text: string; at: number | null } | null>(null);
	if (last.current?.opened !== opened) last.current = { opened, text: opened.text, at: opened.at };
	const now = last.current;
	if (now.text !== text) {
		const at = now.at === null ? null : mapped(now.text, text)(now.at);
		last.current = { opened, text, at };
	}
	return last.current.at;
}
