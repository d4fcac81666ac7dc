import { type ReactNode, type Ref, useLayoutEffect } from "react";
import css from "./ActionBar.module.css";

type Props = { label?: string; children: ReactNode; ref?: Ref<HTMLElement> };

/**
 * ActionBar holds what can be done with the rows that are selected, or what is being done with them. It floats at the end
 * of the screen, and is no higher than a table that fills the page leaves room for. With a label it is a section that can
 * take the focus.
 */
export function ActionBar({ label, children, ref }: Props) {
	useLayoutEffect(() => {
		const { dataset } = document.documentElement; // messages stand above it
		dataset.acting = "";
		return () => {
			delete dataset.acting;
		};
	}, []);
	return (
		<div className={css.float} data-acting>
			<section ref={ref} tabIndex={label ? -1 : undefined} aria-label={label} className={css.bar}>
				{children}
			</section>
		</div>
	);
}
