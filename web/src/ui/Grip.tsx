import { GripVertical } from "lucide-react";
import type { PointerEvent } from "react";
import { catalogue } from "../base/words/catalogue";
import css from "./Grip.module.css";

const words = catalogue("shell.grip", { drag: "Drag to move" });

/** Grip is what an item of a list is dragged by. It is for pointers alone: buttons and keys move the item, too. */
export function Grip(props: { onPointerDown: (event: PointerEvent<HTMLElement>) => void }) {
	return (
		<span className={css.grip} title={words.drag} aria-hidden {...props}>
			<GripVertical size={16} />
		</span>
	);
}
