import type { ReactNode } from "react";
import { type CodeKind, codesOf, nameOf } from "../base/words/codes";
import { Combo } from "./Combo";
import { TextField } from "./Field";

type Props = {
	kind: CodeKind;
	label: string;
	value: string;
	/** Called with a code, or with nothing. */
	onChange: (code: string) => void;
	help?: ReactNode;
	error?: string;
	path?: string;
	readOnly?: boolean;
};

/** CodeField is a field of a country, a language, a currency or a time zone, which is chosen by its name or its code. */
export function CodeField({ kind, value, onChange, readOnly, ...rest }: Props) {
	if (readOnly) return <TextField {...rest} readOnly value={value && nameOf(kind, value)} onChange={() => undefined} />;
	const all = codesOf(kind);
	const known = value === "" || all.some((code) => code.code === value);
	return (
		<Combo
			{...rest}
			options={[...(known ? [] : [{ code: value, name: nameOf(kind, value) }]), ...all].map((code) => ({
				id: code.code,
				label: code.name,
				detail: kind === "zone" ? undefined : code.code,
			}))}
			value={value || null}
			onChange={(code) => onChange(code ?? "")}
		/>
	);
}
