import { type ReactNode, useState } from "react";
import { catalogue } from "../../base/words/catalogue";
import type { Act } from "./model/acts";

export const refusals = catalogue("design.kept", {
	refused: "This would break the code around it, and is not applied.",
});

/** Apply applies an act, and reports whether it could. Acts of typing that follow each other are one step of the history. */
export type Apply = (act: Act | null, typing?: boolean) => boolean;

type FieldProps = { value: string; onChange: (value: string) => void; onBlur: () => void; error?: string };

type Props = {
	value: string;
	write: (value: string) => boolean;
	children: (field: FieldProps) => ReactNode;
};

/** Kept keeps what is typed while it cannot be applied, and says so. */
export function Kept({ value, write, children }: Props) {
	const [refused, setRefused] = useState<string | null>(null);
	return children({
		value: refused ?? value,
		onChange: (next) => setRefused(next === value || write(next) ? null : next),
		onBlur: () => setRefused(null),
		error: refused === null ? undefined : refusals.refused,
	});
}
