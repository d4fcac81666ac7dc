import type { CSSProperties, ReactNode } from "react";
import { Module } from "../../base/lazy";
import { useFixed } from "../Locked";
import { type Allowed, richText, toolCount } from "./allowed";
import type { Names } from "./chips";
import type { Palette } from "../Swatches";
import css from "./RichText.module.css";

const editors = new Module(() => import("./Editor"));

export type RichTextProps = {
	/** What the text is, for screen readers. */
	label: string;
	/** HTML with Liquid. What is not edited in it stays as it is. */
	value: string;
	onChange: (value: string) => void;
	/** What the text may have; what a rich text parameter may, if missing. */
	allowed?: Allowed;
	readOnly?: boolean;
	/** Whether it undoes what is done in it; what is around it does, if not. */
	undoes?: boolean;
	/** Called on Escape, and on Control or Command with Enter. */
	onDone?: () => void;
	/** Without a frame, with the tools above, over the place that it edits. */
	inline?: boolean;
	/** The styles of that place. */
	look?: CSSProperties;
	autoFocus?: boolean;
	/** What Liquid prints is called. */
	names?: Names;
	/** Colours to choose from. */
	palettes?: Palette[];
	/** A button that chooses a merge field for a place. */
	mergeMenu?: (place: string, insert: (source: string) => void) => ReactNode;
	/** The id of the field, and the path of its value in the request. */
	id?: string;
	path?: string;
	describedBy?: string;
	invalid?: boolean;
};

/** keeps loads the editor, and tells whether that can edit a text without changing what it says elsewhere. */
export const keeps = async (value: string, allowed: Allowed) => (await editors.load()).keeps(value, allowed);

/** RichText edits text with its formatting, or as its source. The editor is loaded on first use. */
export function RichText(props: RichTextProps) {
	const editor = editors.useLoaded();
	if (editor) return <editor.Editor {...props} />;
	return props.inline ? <div className={css.inline} aria-busy /> : <Waiting {...props} />;
}

/** Waiting takes the room of the editor. */
function Waiting({ allowed = richText, readOnly, undoes = true, mergeMenu }: RichTextProps) {
	const isReadOnly = useFixed() || readOnly;
	return (
		<div className={`${css.editor} ${css.waiting}`} aria-busy>
			{!isReadOnly && (
				<div className={css.toolbar} aria-hidden>
					{allowed.blocks.length > 1 && <span className={css.style} />}
					{Array.from({ length: toolCount(allowed) - (undoes ? 0 : 2) + (mergeMenu ? 1 : 0) }, (_, i) => (
						<span key={i} className={css.tool} />
					))}
					<span className={css.toggle} />
				</div>
			)}
			<div className={css.place}>
				<div className={css.area} />
			</div>
		</div>
	);
}
