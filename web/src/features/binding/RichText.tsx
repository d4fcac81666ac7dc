import { type ReactNode, useId } from "react";
import { Frame } from "../../ui/Field";
import { RichText } from "../../ui/richtext/RichText";
import { catalogue } from "../../base/words/catalogue";
import css from "./Tokens.module.css";
import { MergeMenu, useMergeNames } from "./Tokens";

const words = catalogue("binding.richText", { used: "{used} of {most}" });

type Props = {
	label: string;
	value: string;
	onChange: (value: string) => void;
	help?: ReactNode;
	error?: string;
	optional?: boolean;
	path: string;
	readOnly?: boolean;
	maxLength?: number;
};

/** RichTextField edits a text with the elements that the server keeps. */
export function RichTextField({ label, value, onChange, help, error, optional, path, readOnly, maxLength }: Props) {
	const id = useId();
	const names = useMergeNames();
	const nearLimit = maxLength !== undefined && value.length >= maxLength * 0.9;
	const count = nearLimit && (
		<span className={css.count} role="status" data-over={value.length > maxLength || undefined}>
			{words.used({ used: value.length, most: maxLength })}
		</span>
	);
	return (
		<Frame id={id} label={label} help={help} error={error} optional={optional} tools={count || undefined}>
			<RichText
				id={id}
				path={path}
				label={label}
				value={value}
				onChange={onChange}
				readOnly={readOnly}
				names={names}
				mergeMenu={(place, insert) => <MergeMenu label={place} onInsert={insert} />}
				describedBy={error ? `${id}-error` : help ? `${id}-help` : undefined}
				invalid={error !== undefined && error !== ""}
			/>
		</Frame>
	);
}
