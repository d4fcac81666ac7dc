import { useEffect, useState } from "react";
import { percent } from "../base/words/formats";
import css from "./Progress.module.css";

/** Progress shows how much of something is done. Each tenth is announced. */
export function Progress({ label, value, max, text }: { label: string; value: number; max?: number; text: string }) {
	const fraction = max ? Math.min(1, value / max) : undefined;
	const tenth = fraction === undefined ? 0 : Math.floor(fraction * 10);
	const [announcement, setAnnouncement] = useState("");
	useEffect(() => {
		if (tenth > 0) setAnnouncement(percent(tenth / 10, 0));
	}, [tenth]);
	return (
		<div className={css.progress}>
			<div
				role="progressbar"
				aria-label={label}
				aria-valuemin={0}
				aria-valuemax={max}
				aria-valuenow={fraction === undefined ? undefined : value}
				aria-valuetext={text}
				className={css.bar}
			>
				<div
					style={{ inlineSize: fraction === undefined ? "30%" : `${fraction * 100}%` }}
					data-unknown={fraction === undefined || undefined}
				/>
			</div>
			<p>{text}</p>
			<span className="visually-hidden" role="status">
				{announcement}
			</span>
		</div>
	);
}
