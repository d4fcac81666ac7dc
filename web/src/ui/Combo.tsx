import { Module } from "../base/lazy";
import type { ComboProps, PicksProps } from "./aria/Combo";
import { FieldPlaceholder } from "./FieldPlaceholder";

export type { Option } from "./aria/Combo";

export const combos = new Module(() => import("./aria/Combo"));

/** Combo is a field with a list of choices that typing narrows. */
export function Combo(props: ComboProps) {
	const loaded = combos.useLoaded();
	return loaded ? <loaded.Combo {...props} /> : <FieldPlaceholder {...props} />;
}

/** Picks is a field for several choices: those chosen stand below the field, and can be removed. */
export function Picks(props: PicksProps) {
	const loaded = combos.useLoaded();
	return loaded ? <loaded.Picks {...props} /> : <FieldPlaceholder {...props} />;
}
