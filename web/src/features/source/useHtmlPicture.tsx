import { type ReactNode, type RefObject, useEffect, useMemo, useState } from "react";
import { retryImport } from "../../base/lazy";
import { useParam } from "../../base/params";
import type { CodeControl } from "../../ui/Code";
import type { Look, MarkRect, Reports } from "../../ui/frame/reports";
import type { Action } from "../../ui/Menu";
import type { Opened } from "../design/html/HtmlPicture";
import { rowAt } from "./mailParts";
import css from "./MailPane.module.css";
import { partLabel } from "./partLabels";

type HtmlPicture = typeof import("../design/html/HtmlPicture");

/** HtmlCode is HTML that somebody writes, whose texts, links and images are also edited in the picture of the mail. */
export type HtmlCode = {
	text: string;
	/** Its code editor, in whose history changes are made. */
	control: RefObject<CodeControl | null>;
	/** Changes it where no editor of it is shown. */
	onChange: (text: string) => void;
};

type Options = {
	/** Null if there is none, or it cannot be changed. */
	code: HtmlCode | null;
	/** The text of it that the picture was made of; null if that is not known. */
	made: string | null;
	/** Called with the mark of what was pressed and is not edited in the picture, and which of those with this mark it is. */
	onMark?: (mark: number, row: number) => void;
};

type Shown = {
	reports: Reports | undefined;
	/** What is drawn over the picture. */
	overlay: ReactNode;
	/** What can be edited in it, if that is HTML. */
	parts: Action[] | null;
};

const maxParts = 200;

/** useHtmlPicture is what the frame of a mail tells, and what is shown over it: what is under the pointer, and what of HTML is edited at its place. */
export function useHtmlPicture({ code, made, onMark }: Options): Shown {
	const [rects, setRects] = useState<MarkRect[]>([]);
	const [pointed, setPointed] = useState(-1);
	const [picture, setPicture] = useState<HtmlPicture | null>(null);
	const [opened, setOpened] = useState<Opened | null>(null);
	const [lookAt, setLookAt] = useState(-1);
	const [look, setLook] = useState<Look | null>(null);
	const [part] = useParam("part", "html");
	const isEdited = code !== null && onMark !== undefined;
	const text = code?.text ?? "";
	useEffect(() => {
		if (!isEdited) return setOpened(null);
		retryImport(() => import("../design/html/HtmlPicture")).then(setPicture, () => undefined); // presses lead to the code
	}, [isEdited]);
	const pieces = useMemo(() => (isEdited && picture ? picture.piecesOf(text) : null), [isEdited, picture, text]);
	const open = (at: number, row: number) => setOpened({ at, row, text, mode: "edited" });
	const press = (mark: number, row: number) => {
		const at = picture && pieces && made !== null ? picture.mapped(made, text)(mark) : null;
		const piece = at === null ? null : pieces?.get(at);
		setOpened(null);
		if (piece && picture?.canOpen(piece)) open(piece.from, row);
		else onMark?.(at ?? mark, row);
	};
	const parts = useMemo(
		() => (pieces && picture && part === "html" ? picture.listed(pieces).slice(0, maxParts) : null),
		[pieces, picture, part],
	);
	return {
		reports: onMark && {
			lookAt,
			onLook: setLook,
			onMarks: setRects,
			onPoint: setPointed,
			onPress: ({ mark, x, y, double }) => {
				if (mark < 0) setOpened(null);
				else if (!double) press(mark, rowAt(rects, mark, x, y));
			},
		},
		overlay: (
			<>
				{rects
					.filter(({ mark }) => mark === pointed)
					.map((rect) => (
						<span
							key={`${rect.x} ${rect.y}`}
							className={css.pointed}
							style={{
								insetInlineStart: rect.x,
								insetBlockStart: rect.y,
								inlineSize: rect.width,
								blockSize: rect.height,
							}}
						/>
					))}
				{picture && pieces && code && opened && onMark && (
					<picture.HtmlPicture
						code={code}
						pieces={pieces}
						made={made}
						rects={rects}
						look={look}
						onLook={setLookAt}
						opened={opened}
						onOpen={setOpened}
						onCode={(position) => {
							setOpened(null);
							onMark(position, 0);
						}}
					/>
				)}
			</>
		),
		parts:
			parts?.map((piece) => ({
				id: String(piece.from),
				label: partLabel({ at: piece.from, tag: piece.tag, text: piece.words }),
				run: () => open(piece.from, 0),
			})) ?? null,
	};
}
