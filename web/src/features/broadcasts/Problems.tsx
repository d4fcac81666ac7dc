import { AlertTriangle, CircleX } from "lucide-react";
import type { PreviewProblem } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import css from "./Composer.module.css";
import { fieldName } from "../../base/words/fieldNames";
import { mailFix, mailProblem } from "../../base/words/errors";

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
			{sorted.map((problem) => (
				<li
					key={`${problem.code} ${problem.field} ${problem.line} ${problem.message}`}
					data-warning={problem.severity === "warning" || undefined}
				>
					{problem.severity === "error" ? (
						<CircleX aria-label={words.error} size={16} />
					) : (
						<AlertTriangle aria-label={words.warning} size={16} />
					)}
					<span>
						{mailProblem(problem)}{" "}
						<span className={css.muted}>
							{problem.line
								? words.line({ field: fieldName(problem.field), number: problem.line })
								: fieldName(problem.field)}
						</span>
						{problem.fix && <span className={css.muted}> {mailFix(problem.fix)}</span>}
					</span>
				</li>
			))}
		</ul>
	);
}
