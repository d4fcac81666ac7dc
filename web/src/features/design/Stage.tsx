import type { ReactNode } from "react";
import { createPortal } from "react-dom";
import css from "./Design.module.css";

type Props = { at: HTMLElement | null | undefined; children: ReactNode };

/** Stage shows the picture of a design in its middle, or where the page shows the mail; nowhere if that is null. */
export function Stage({ at, children }: Props) {
	if (at === null) return null;
	if (at === undefined) return <div className={css.middle}>{children}</div>;
	return createPortal(
		<div className={css.middle} data-apart>
			{children}
		</div>,
		at,
	);
}
