import { type CSSProperties, useId } from "react";
import { flushSync } from "react-dom";
import { Frame } from "../../ui/Field";
import { RichText } from "../../ui/richtext/RichText";
import { catalogue } from "../../base/words/catalogue";
import { MergeMenu, useMergeNames } from "../binding/Tokens";
import { usePalettes } from "./ColorTool";
import css from "./Design.module.css";
import { type Apply, Kept } from "./Kept";
import { backgroundOf, lookOf, placeOf } from "./look";
import { setText } from "./model/acts";
import { contentOf } from "./model/labels";
import type { ElementNode, Tree } from "./model/tree";
import type { Box } from "./picture";
import { allowedOf } from "./texts";

const words = catalogue("design.text", { text: "Text" });

type Props = {
	tree: Tree;
	node: ElementNode;
	readOnly: boolean;
	apply: Apply;
	inline?: boolean;
	look?: CSSProperties;
	onDone?: () => void;
};

/** ElementText edits the text of an element. Its changes are steps of the history of the code, as all others. */
export function ElementText({ tree, node, readOnly, apply, ...props }: Props) {
	const id = useId();
	const names = useMergeNames();
	const palettes = usePalettes(tree);
	return (
		<Kept value={contentOf(tree, node)} write={(html) => apply(setText(tree, node, html), true)}>
			{({ value, onChange, error }) => (
				<Frame id={id} label={words.text} hideLabel={props.inline} error={error}>
					<RichText
						{...props}
						id={id}
						path="text"
						label={words.text}
						value={value}
						// The next change is one of the tree that this one makes.
						onChange={(html) => flushSync(() => onChange(html))}
						allowed={allowedOf(node) ?? undefined}
						readOnly={readOnly}
						undoes={false}
						autoFocus={props.inline}
						names={names}
						palettes={palettes}
						mergeMenu={(place, insert) => <MergeMenu label={place} onInsert={insert} />}
						describedBy={error && `${id}-error`}
						invalid={error !== undefined}
					/>
				</Frame>
			)}
		</Kept>
	);
}

/** How far below the top, in pixels, the tools have room above a text. */
const toolsHeight = 90;

/** TextInPlace edits the text of an element over the picture, where that shows it in a layer of a width. */
export function TextInPlace({ box, width, ...props }: Props & { box: Box; width: number }) {
	const { tree, node } = props;
	const variables = { "--x": `${box.x}px`, "--width": `${width}px` } as CSSProperties;
	const place: CSSProperties = {
		insetInlineStart: box.x,
		insetBlockStart: box.y,
		inlineSize: box.width,
		minBlockSize: box.height,
		background: backgroundOf(tree, node),
	};
	return (
		<div
			data-in-place
			data-below={box.y < toolsHeight || undefined}
			className={css.inPlace}
			style={{ ...placeOf(tree, node), ...place, ...variables }}
		>
			<ElementText {...props} inline look={lookOf(tree, node)} />
		</div>
	);
}
