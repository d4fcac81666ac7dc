import type { ReactNode } from "react";
import { Module } from "../base/lazy";
import type { ComboProps, PicksProps } from "./aria/Combo";
import css from "./Field.module.css";

export type { Option } from "./aria/Combo";

export const combos = new Module(() => import("./aria/Combo"));

/** Place keeps the place of a field while it is loaded. */
function Place({ label, hideLabel, help }: { label: string; hideLabel?: boolean; help?: ReactNode }) {
	return (
		<div className={css.field} aria-busy="true">
			<span className={hideLabel ? "visually-hidden" : css.label}>{label}</span>
			<div className={css.input} />
			{help && <span className={css.help}>{help}</span>}
		</div>
	);
}

/** Combo is a field with a list of choices that typing narrows. */
export function Combo(props: ComboProps) {
	const loaded = combos.useLoaded();
	return loaded ? <loaded.Combo {...props} /> : <Place {...props} />;
}

/** Picks is a field for several choices: those chosen stand below the field, and can be removed. */
export function Picks(props: PicksProps) {
	const loaded = combos.useLoaded();
	return loaded ? <loaded.Picks {...props} /> : <Place {...props} />;
}
