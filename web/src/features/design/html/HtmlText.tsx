import { type CSSProperties, useId } from "react";
import { flushSync } from "react-dom";
import { catalogue } from "../../../base/words/catalogue";
import { Frame } from "../../../ui/Field";
import type { Allowed } from "../../../ui/richtext/allowed";
import { RichText } from "../../../ui/richtext/RichText";
import { MergeMenu, useMergeNames } from "../../binding/Tokens";
import { Kept } from "../Kept";

const words = catalogue("design.html.text", { text: "Text" });

/** Writing is a text that is edited, and what writes it. */
export type Writing = { value: string; write: (html: string) => boolean; allowed: Allowed | null };

type Props = Writing & { inline?: boolean; look?: CSSProperties; onDone?: () => void };

/** HtmlText edits a text with its formatting, or as its source where that would change it. */
export function HtmlText({ value, write, allowed, inline, ...props }: Props) {
	const id = useId();
	const names = useMergeNames();
	return (
		<Kept value={value} write={write}>
			{({ value, onChange, error }) => (
				<Frame id={id} label={words.text} hideLabel={inline} error={error}>
					<RichText
						{...props}
						id={id}
						path="text"
						label={words.text}
						value={value}
						// The next change is one of the text that this one makes.
						onChange={(html) => flushSync(() => onChange(html))}
						allowed={allowed ?? undefined}
						inline={inline}
						undoes={false}
						autoFocus
						names={names}
						mergeMenu={(place, insert) => <MergeMenu label={place} onInsert={insert} />}
						describedBy={error && `${id}-error`}
						invalid={error !== undefined}
					/>
				</Frame>
			)}
		</Kept>
	);
}
