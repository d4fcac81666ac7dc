import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from "react";
import { SandboxedFrame } from "../../ui/SandboxedFrame";
import { catalogue } from "../../base/words/catalogue";
import css from "./Design.module.css";
import type { Landing } from "./landing";
import type { Node } from "./model/tree";
import { nameOf } from "./names";
import type { Box, Picture, Rect, View } from "./picture";

const words = catalogue("design.canvas", { mail: "Email", waiting: "The email is being prepared." });

/** How near an edge, in pixels, a line is that marks a landing place. */
const thickness = 4;

/** How much of a selection, in pixels, is in view, with the room above that its tools need. */
const margin = 100;

type Props = {
	/** What the picture shows of the tree. */
	view: View;
	picture: Picture | null;
	/** Whether a picture is on its way. */
	isWaiting: boolean;
	width: string;
	selected: Node | null;
	/** Stays while the same node is selected. */
	selection: number | undefined;
	/** The layer over the picture; its corner is that of the frame. */
	layer: RefObject<HTMLDivElement | null>;
	onRects: (rects: Rect[]) => void;
	/** Files are dragged over the mail. */
	onFiles: () => void;
	onPress: (node: Node, double: boolean) => void;
	/** Edits the text of the selected node at its place; null if it is not edited there. */
	textAt: ((box: Box, width: number) => ReactNode) | null;
	/** A press outside of that text. */
	onLeave: () => void;
	/** Where what is dragged may land, and where it would. */
	landings: Landing[] | null;
	target: Landing | null;
	/** What stands on the edges of the selected node. */
	handles: (box: Box) => ReactNode;
	/** What stands at the selected node. */
	toolbar: ReactNode;
};

const at = (box: Box) => ({
	insetInlineStart: box.x,
	insetBlockStart: box.y,
	inlineSize: box.width,
	blockSize: box.height,
});

/** lineOf is a landing as it is shown: a line, or the area of what is empty. */
const lineOf = ({ box }: Landing): Box => {
	if (box.width > 0 && box.height > 0) return box;
	if (box.width === 0) return { ...box, x: box.x - thickness / 2, width: thickness };
	return { ...box, y: box.y - thickness / 2, height: thickness };
};

/** Canvas is the picture of a mail, with outlines of what is under the pointer and of what is selected. */
export function Canvas({ view, picture, ...props }: Props) {
	const [pointed, setPointed] = useState(-1);
	const hovered = view.nodeOf(pointed);
	const boxes = props.selected ? view.boxesOf(props.selected) : [];
	const [first] = boxes;
	const stage = useRef<HTMLDivElement>(null);
	const shown = useRef(props.selection);
	// What is selected elsewhere comes into view once it is in the picture.
	useLayoutEffect(() => {
		if (!first || !stage.current || !props.layer.current || shown.current === props.selection) return;
		shown.current = props.selection;
		const room = stage.current.clientHeight;
		const top = props.layer.current.getBoundingClientRect().top - stage.current.getBoundingClientRect().top + first.y;
		if (top + first.height < margin || top > room - margin) stage.current.scrollBy(0, top - margin);
	});
	// While a picture is replaced, the text that is edited stays where it was.
	const place = useRef<Box | null>(null);
	place.current = props.textAt ? (first ?? place.current) : null;
	return (
		<div
			ref={stage}
			className={css.stage}
			tabIndex={picture ? 0 : undefined}
			data-dragging={props.landings !== null || undefined}
			onPointerDown={({ target, currentTarget }) => {
				// What the text opens elsewhere in the page is a part of it.
				const element = target as Element;
				if (props.textAt && currentTarget.contains(element) && !element.closest("[data-in-place]")) props.onLeave();
			}}
		>
			{!picture && props.isWaiting && <p className={css.hint}>{words.waiting}</p>}
			{picture && (
				<div className={css.sheet} style={{ inlineSize: props.width }}>
					<SandboxedFrame
						title={words.mail}
						html={picture.html}
						dark={false}
						className={css.frame}
						onMarks={props.onRects}
						onFiles={props.onFiles}
						onPoint={setPointed}
						onPress={({ mark, double }) => {
							const node = view.nodeOf(mark);
							if (node) props.onPress(node, double);
							else props.onLeave();
						}}
					/>
					<div ref={props.layer} className={css.layer} dir="ltr">
						{hovered &&
							hovered !== props.selected &&
							view.boxesOf(hovered).map((box, i) => (
								<div key={i} className={css.hover} style={at(box)}>
									<span>{nameOf(hovered)}</span>
								</div>
							))}
						{boxes.map((box, i) => (
							<div key={i} className={css.selection} style={at(box)} data-selection />
						))}
						{first && !props.textAt && !props.landings && props.handles(first)}
						{place.current && props.textAt?.(place.current, props.layer.current?.clientWidth ?? 0)}
						{first && !props.textAt && (
							<div
								className={css.floating}
								style={{ inlineSize: first.x + first.width, insetBlockStart: first.y - 36 }}
							>
								{props.toolbar}
							</div>
						)}
						{props.landings?.map((landing) => {
							const line = lineOf(landing);
							const chosen = landing === props.target || undefined;
							return (
								<div
									key={`${landing.place.parent.from} ${landing.place.index}`}
									className={css.landing}
									style={at(line)}
									data-chosen={chosen}
								/>
							);
						})}
					</div>
				</div>
			)}
		</div>
	);
}
