import type { ReactNode } from "react";
import { catalogue } from "../../base/words/catalogue";
import { fieldSentence, sentenceFor } from "../../base/words/errors";
import { nameOf } from "./Columns";
import css from "./Import.module.css";
import type { FaultReport, Report } from "./report";

const words = catalogue("imports.faults", {
	label: "Problems",
	rows: "{count, plural, one {# row:} other {# rows:}}",
	value: "“{value}” (row {row, number})",
	noValue: "row {row, number}",
});

/** faultSentence says what is wrong with rows. */
function faultSentence({ column: key, code, message }: FaultReport, columns: Report["columns"]) {
	if (!key) return sentenceFor(code, message);
	const column = columns.find((column) => column.key === key);
	return fieldSentence({ path: key, message: message.replace(/^[\w.]+: /, "") }, column ? nameOf(column) : key);
}

/** Faults lists what is wrong with rows of a file, each with how many have it and some of the values. */
export function Faults({
	report: { faults, columns },
	action,
}: {
	report: Report;
	action?: (fault: FaultReport) => ReactNode;
}) {
	if (faults.length === 0) return null;
	return (
		<ul className={css.columns} aria-label={words.label}>
			{faults.map((fault) => (
				<li key={`${fault.column} ${fault.message}`} className={css.column}>
					<div className={css.about}>
						<p className={css.error}>
							<b>{words.rows({ count: fault.rows })}</b> <span data-fault>{faultSentence(fault, columns)}</span>
						</p>
						<p className={css.samples}>
							{fault.samples
								.map(({ row, value }) => (value ? words.value({ value, row }) : words.noValue({ row })))
								.join(" · ")}
						</p>
					</div>
					{action?.(fault)}
				</li>
			))}
		</ul>
	);
}
