import { Suspense } from "react";
import { Module } from "../app/later";
import type { ComboProps, PicksProps } from "./aria/Combo";
import css from "./Field.module.css";

export type { Option } from "./aria/Combo";

export const combos = new Module(() => import("./aria/Combo"));
const LazyCombo = combos.part((m) => m.Combo);
const LazyPicks = combos.part((m) => m.Picks);

/** Place keeps the place of a field while it is loaded. */
function Place({ label, hideLabel }: { label: string; hideLabel?: boolean }) {
	return (
		<div className={css.field}>
			<span className={hideLabel ? "visually-hidden" : css.label}>{label}</span>
			<div className={css.input} />
		</div>
	);
}

/** Combo is a field with a list of choices that typing narrows. */
export function Combo(props: ComboProps) {
	return (
		<Suspense fallback={<Place label={props.label} hideLabel={props.hideLabel} />}>
			<LazyCombo {...props} />
		</Suspense>
	);
}

/** Picks is a field for several choices: those chosen stand below the field, and can be removed. */
export function Picks(props: PicksProps) {
	return (
		<Suspense fallback={<Place label={props.label} hideLabel={props.hideLabel} />}>
			<LazyPicks {...props} />
		</Suspense>
	);
}
