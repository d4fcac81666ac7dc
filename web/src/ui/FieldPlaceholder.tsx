import type { ReactNode } from "react";
import css from "./Field.module.css";

/** FieldPlaceholder takes the space of a field while its code is loaded. */
export function FieldPlaceholder({ label, hideLabel, help }: { label: string; hideLabel?: boolean; help?: ReactNode }) {
	return (
		<div className={css.field} aria-busy="true">
			<span className={hideLabel ? "visually-hidden" : css.label}>{label}</span>
			<div className={css.input} />
			{help && <span className={css.help}>{help}</span>}
		</div>
	);
}
