import { useEffect, useState } from "react";
import { percent } from "../base/words/formats";
import css from "./Progress.module.css";

/** Progress shows how much of something is done. Each tenth is announced. */
export function Progress({ label, value, max, text }: { label: string; value: number; max?: number; text: string }) {
	const share = max ? Math.min(1, value / max) : undefined;
	const tenth = share === undefined ? 0 : Math.floor(share * 10);
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
				aria-valuenow={share === undefined ? undefined : value}
				aria-valuetext={text}
				className={css.bar}
			>
				<div
					style={{ inlineSize: share === undefined ? "30%" : `${share * 100}%` }}
					data-unknown={share === undefined || undefined}
				/>
			</div>
			<p>{text}</p>
			<span className="visually-hidden" role="status">
				{announcement}
			</span>
		</div>
	);
}
