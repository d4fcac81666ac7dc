import css from "./Source.module.css";

/** Source shows code as it is to be copied. */
export function Source({ text, label }: { text: string; label: string }) {
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, and contains nothing to focus
		<section className={css.source} aria-label={label} tabIndex={0}>
			<pre>{text}</pre>
		</section>
	);
}
