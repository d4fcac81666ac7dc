import type { ReactNode } from "react";
import { TextField } from "./Field";
import css from "./Tools.module.css";

/** Tools is the row above a list: its search field, and the filters beside it. */
export function Tools({
	label,
	value,
	onChange,
	loading,
	children,
}: {
	label: string;
	value: string;
	onChange: (text: string) => void /** The filters are not all known yet. */;
	loading?: boolean;
	children?: ReactNode;
}) {
	return (
		<div className={css.tools} data-whole aria-busy={loading || undefined}>
			<div className={css.find}>
				<TextField label={label} hideLabel type="search" placeholder={label} value={value} onChange={onChange} />
			</div>
			{children}
		</div>
	);
}
