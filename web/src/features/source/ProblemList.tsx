import { Wrench } from "lucide-react";
import type { PreviewProblem } from "../../api/schema";
import { Button } from "../../ui/Button";
import { Menu } from "../../ui/Menu";
import { catalogue } from "../../base/words/catalogue";
import type { Draft } from "./draft";
import type { Fix } from "./fixes";
import css from "./Source.module.css";
import { fieldName } from "../../base/words/fieldNames";
import { mailFix, mailProblem } from "../../base/words/errors";

const words = catalogue("source.problemList", {
	count: "{errors, plural, one {# error} other {# errors}}, {warnings, plural, one {# warning} other {# warnings}}",
	errors: "{count, plural, one {# error} other {# errors}}",
	warnings: "{count, plural, one {# warning} other {# warnings}}",
	none: "No problems",
	line: "{field}, line {line}",
	error: "Error:",
	warning: "Warning:",
	fix: "Fix",
});

const countsOf = (errors: number, warnings: number) =>
	warnings === 0
		? words.errors({ count: errors })
		: errors === 0
			? words.warnings({ count: warnings })
			: words.count({ errors, warnings });

type Props = {
	checked: boolean;
	problems: PreviewProblem[];
	onGo: (problem: PreviewProblem) => void;
	fixesFor?: (problem: PreviewProblem) => Fix[];
	onFix?: (change: Partial<Draft>) => void;
};

/**
 * ProblemList lists what is wrong, errors first; each leads to its place, and some can be fixed from here. The bar with the
 * checks of the mail announces it.
 */
export function ProblemList({ checked, problems, onGo, fixesFor, onFix }: Props) {
	const errors = problems.filter((problem) => problem.severity === "error").length;
	const sorted = [...problems].sort((a, b) => Number(a.severity === "warning") - Number(b.severity === "warning"));
	return (
		<section className={css.problems}>
			<h2>{problems.length > 0 ? countsOf(errors, problems.length - errors) : checked ? words.none : "\u00a0"}</h2>
			{sorted.length > 0 && (
				<ul>
					{sorted.map((problem) => {
						const fixes = onFix ? (fixesFor?.(problem) ?? []) : [];
						const [first] = fixes;
						return (
							<li
								key={`${problem.code} ${problem.field} ${problem.line} ${problem.message}`}
								data-severity={problem.severity}
							>
								<button type="button" onClick={() => onGo(problem)}>
									<span className="visually-hidden">{problem.severity === "error" ? words.error : words.warning}</span>
									<b>
										{problem.line
											? words.line({ field: fieldName(problem.field), line: problem.line })
											: fieldName(problem.field)}
									</b>
									<span>
										{mailProblem(problem)}
										{problem.fix && !first && <small>{mailFix(problem.fix)}</small>}
									</span>
								</button>
								{first && fixes.length === 1 && (
									<Button small icon={<Wrench aria-hidden />} onClick={() => onFix?.(first.change)}>
										{first.label}
									</Button>
								)}
								{fixes.length > 1 && (
									<Menu
										small
										actions={fixes.map((fix) => ({
											id: fix.label,
											label: fix.label,
											run: () => onFix?.(fix.change),
										}))}
									>
										<Wrench aria-hidden size={14} /> {words.fix}
									</Menu>
								)}
							</li>
						);
					})}
				</ul>
			)}
		</section>
	);
}
