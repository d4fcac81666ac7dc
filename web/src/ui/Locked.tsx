import type { ReactNode } from "react";
import css from "./Field.module.css";
import { Notice } from "./Page";

/** Locked is around fields that a person may look at. With `why` it says who may change them, and they cannot be changed. */
export function Locked({ why, children }: { why?: string; children: ReactNode }) {
	return (
		<>
			{why && <Notice>{why}</Notice>}
			<fieldset className={css.locked} disabled={why !== undefined}>
				{children}
			</fieldset>
		</>
	);
}
