import { AlertTriangle, CircleX } from "lucide-react";
import type { PreviewProblem } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import css from "./Composer.module.css";
import { fieldName } from "../../base/words/fieldNames";
import { mailFix, mailProblem } from "../../base/words/problems";

const words = catalogue("broadcasts.problems", {
	title: "Problems",
	line: "{field}, line {number}",
	error: "Error",
	warning: "Warning",
});

/** Problems lists what is wrong with a mail, errors before warnings. */
export function Problems({ problems }: { problems: PreviewProblem[] }) {
	const sorted = [...problems].sort((a, b) => Number(a.severity === "warning") - Number(b.severity === "warning"));
	return (
		<ul className={css.reasons} aria-label={words.title}>
			{sorted.map((p) => (
				<li key={`${p.code} ${p.field} ${p.line} ${p.message}`} data-warning={p.severity === "warning" || undefined}>
					{p.severity === "error" ? (
						<CircleX aria-label={words.error} size={16} />
					) : (
						<AlertTriangle aria-label={words.warning} size={16} />
					)}
					<span>
						{mailProblem(p)}{" "}
						<span className={css.muted}>
							{p.line ? words.line({ field: fieldName(p.field), number: p.line }) : fieldName(p.field)}
						</span>
						{p.fix && <span className={css.muted}> {mailFix(p.fix)}</span>}
					</span>
				</li>
			))}
		</ul>
	);
}
