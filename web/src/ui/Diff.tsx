import { catalogue } from "../base/words/catalogue";
import css from "./Diff.module.css";
import { diffLines, hunks } from "./lines";

const words = catalogue("shell.diff", {
	added: "{count, plural, one {# line added} other {# lines added}}",
	removed: "{count, plural, one {# line removed} other {# lines removed}}",
	plus: "added:",
	minus: "removed:",
	same: "No differences.",
	left: "unchanged lines",
});

/** Diff shows what differs between two texts, line by line. */
export function Diff({ before, after, label }: { before: string; after: string; label: string }) {
	if (before === after) return <p className={css.none}>{words.same}</p>;
	const lines = diffLines(before, after);
	const count = (kind: string) => lines.filter((line) => line.kind === kind).length;
	return (
		<figure className={css.diff} aria-label={label}>
			<figcaption>
				{label}{" "}
				<span>
					{[
						count("added") && words.added({ count: count("added") }),
						count("removed") && words.removed({ count: count("removed") }),
					]
						.filter(Boolean)
						.join(", ")}
				</span>
			</figcaption>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll */}
			<section className={css.lines} tabIndex={0} aria-label={label}>
				{hunks(lines).map((hunk, i) =>
					hunk === null ? (
						<div key={`gap ${i}`} className={css.gap}>
							<span className="visually-hidden">{words.left}</span>
							<span aria-hidden>⋯</span>
						</div>
					) : (
						<div key={`${hunk.from} ${hunk.to}`} className={css.line} data-kind={hunk.kind}>
							<span className={css.number} aria-hidden>
								{hunk.from || ""}
							</span>
							<span className={css.number} aria-hidden>
								{hunk.to || ""}
							</span>
							<span className={css.sign} aria-hidden>
								{hunk.kind === "added" ? "+" : hunk.kind === "removed" ? "−" : ""}
							</span>
							{hunk.kind !== "same" && (
								<span className="visually-hidden">{hunk.kind === "added" ? words.plus : words.minus}</span>
							)}
							<code>{hunk.text || " "}</code>
						</div>
					),
				)}
			</section>
		</figure>
	);
}
