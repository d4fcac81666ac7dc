import { useRef } from "react";
import { catalogue } from "../../base/words/catalogue";
import css from "../Table.module.css";

const words = catalogue("shell.resizeHandle", { resize: "Width of {name}" });

const narrowest = 64;
const widest = 800;

/** ResizeHandle changes the width of a column: by dragging, or by the arrow keys. */
export function ResizeHandle({
	name,
	width,
	onResize,
}: {
	name: string;
	width: number;
	onResize: (width: number) => void;
}) {
	const from = useRef<{ x: number; width: number } | null>(null);
	const set = (to: number) => onResize(Math.max(narrowest, Math.min(widest, Math.round(to))));
	return (
		<div
			role="separator"
			tabIndex={0}
			aria-orientation="vertical"
			aria-label={words.resize({ name })}
			aria-valuenow={width}
			aria-valuemin={narrowest}
			aria-valuemax={widest}
			className={css.handle}
			onKeyDown={(event) => {
				if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
				event.preventDefault();
				event.stopPropagation();
				set(width + (event.key === "ArrowRight" ? 16 : -16));
			}}
			onPointerDown={(event) => {
				event.preventDefault();
				from.current = { x: event.clientX, width };
				event.currentTarget.setPointerCapture(event.pointerId);
			}}
			onPointerMove={(e) => from.current && set(from.current.width + e.clientX - from.current.x)}
			onPointerUp={() => {
				from.current = null;
			}}
			onPointerCancel={() => {
				from.current = null;
			}}
		/>
	);
}
