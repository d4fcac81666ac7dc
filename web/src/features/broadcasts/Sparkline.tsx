import { catalogue } from "../../base/words/catalogue";
import { exactNumber } from "../../base/words/formats";
import css from "./Broadcasts.module.css";

const words = catalogue("broadcasts.sparkline", { label: "First opens in each of six hours: {all}" });

/** Sparkline draws a few values as a line without axes; screen readers get the values. */
export function Sparkline({ values }: { values: number[] }) {
	if (values.length < 2) return null;
	const max = Math.max(1, ...values);
	const points = values.map((value, i) => `${(i / (values.length - 1)) * 80},${22 - (value / max) * 20}`).join(" ");
	return (
		<svg
			className={css.spark}
			width={80}
			height={24}
			viewBox="0 0 80 24"
			role="img"
			aria-label={words.label({ all: values.map(exactNumber).join(", ") })}
		>
			<polyline points={points} fill="none" stroke="currentColor" strokeWidth={1.5} strokeLinejoin="round" />
		</svg>
	);
}
