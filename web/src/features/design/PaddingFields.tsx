import { catalogue } from "../../base/words/catalogue";
import { TextField } from "../../ui/Field";
import { type Apply, Kept } from "./Kept";
import type { ElementNode, Tree } from "./model/tree";
import css from "./Padding.module.css";
import { paddingOf, setPadding, sides } from "./padding";

const words = catalogue("design.padding", {
	title: "Padding",
	top: "Top",
	right: "Right",
	bottom: "Bottom",
	left: "Left",
	wrong: "Enter pixels, such as 16, or a percentage, such as 5%.",
});

const shownOf = (length: string) => length.replace(/^([\d.]+)px$/, "$1");

/** writtenOf returns a length as it is written; null if it is none. Liquid may print it. */
function writtenOf(typed: string): string | null {
	const text = typed.trim();
	if (/^\d+(\.\d+)?$/.test(text)) return `${text}px`;
	return /^\d+(\.\d+)?(px|%)$/.test(text) || /^(\{\{[^{}]*\}\}(px|%)?)$/.test(text) ? text : null;
}

/** PaddingFields are the padding of an element, side by side. */
export function PaddingFields({ tree, node, apply }: { tree: Tree; node: ElementNode; apply: Apply }) {
	return (
		<fieldset className={css.fields}>
			<legend>{words.title}</legend>
			{sides.map((side) => {
				const set = (value: string | null) => apply(setPadding(tree, node, side, value), true);
				return (
					<Kept
						key={side}
						value={shownOf(paddingOf(tree, node, side))}
						write={(text) => {
							const written = writtenOf(text);
							return written !== null && set(written);
						}}
						errorOf={(text) => (text === "" ? undefined : words.wrong)}
						finish={(text) => text === "" && (set(null) || true)}
					>
						{(field) => (
							<TextField
								{...field}
								label={words[side]}
								path={`padding-${side}`}
								autoComplete="off"
								spellCheck={false}
							/>
						)}
					</Kept>
				);
			})}
		</fieldset>
	);
}
