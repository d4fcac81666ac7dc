import { type ReactNode, useLayoutEffect, useRef } from "react";
import page from "./Page.module.css";
import css from "./Folded.module.css";

/** Folded is a card that is opened by its title. It opens by itself while something in it needs attention. */
export function Folded({ title, open, children }: { title: string; open?: boolean; children: ReactNode }) {
	const details = useRef<HTMLDetailsElement>(null);
	useLayoutEffect(() => {
		if (open && details.current) details.current.open = true; // and it stays open once the problem is solved
	}, [open]);
	return (
		<details ref={details} className={`${page.card} ${css.folded}`}>
			<summary>
				<h2>{title}</h2>
			</summary>
			<div className={css.body}>{children}</div>
		</details>
	);
}
