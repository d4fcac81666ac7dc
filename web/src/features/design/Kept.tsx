import { type ReactNode, useState } from "react";
import { catalogue } from "../../base/words/catalogue";
import type { Act } from "./model/acts";

export const refusals = catalogue("design.kept", {
	refused: "This would break the code around it, and is not applied.",
});

/** Apply applies an act, and reports whether it could. Acts of typing that follow each other are one step of the history. */
export type Apply = (act: Act | null, typing?: boolean) => boolean;

type FieldProps = {
	value: string;
	onChange: (value: string) => void;
	onBlur: () => void;
	error?: string;
	/** The field has text that is nowhere else: its own history goes before that of the design. */
	"data-own-text"?: boolean;
};

type Props = {
	value: string;
	write: (value: string) => boolean;
	/** What is wrong with a text that cannot be applied. */
	errorOf?: (text: string) => string | undefined;
	/** Makes of such a text what can be, once the field is left. */
	finish?: (text: string) => boolean;
	children: (field: FieldProps) => ReactNode;
};

/** Kept keeps what is typed while it cannot be applied, and says so, until the value changes elsewhere. */
export function Kept({ value, write, errorOf = () => refusals.refused, finish, children }: Props) {
	const [refused, setRefused] = useState<{ text: string; instead: string } | null>(null);
	const kept = refused?.instead === value ? refused.text : null;
	return children({
		value: kept ?? value,
		onChange: (text) => setRefused(text === value || write(text) ? null : { text, instead: value }),
		onBlur: () => finish?.(kept ?? value) && setRefused(null),
		error: kept === null ? undefined : errorOf(kept),
		"data-own-text": kept !== null || undefined,
	});
}
