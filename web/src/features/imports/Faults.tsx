import type { ReactNode } from "react";
import { catalogue } from "../../base/words/catalogue";
import { fieldSentence, sentenceFor } from "../../base/words/errors";
import css from "./Import.module.css";
import type { FaultReport } from "./report";

const words = catalogue("imports.faults", {
	label: "Problems",
	rows: "{count, plural, one {# row:} other {# rows:}}",
	value: "“{value}” (row {row, number})",
	noValue: "row {row, number}",
});

/** faultSentence says what is wrong with rows. The name is that of their column in the file. */
const faultSentence = ({ column, code, message }: FaultReport) =>
	column
		? fieldSentence({ path: column, message: message.replace(/^[\w.]+: /, "") }, column)
		: sentenceFor(code, message);

/** Faults lists what is wrong with rows of a file, each with how many have it and some of the values. */
export function Faults({ faults, action }: { faults: FaultReport[]; action?: (fault: FaultReport) => ReactNode }) {
	if (faults.length === 0) return null;
	return (
		<ul className={css.columns} aria-label={words.label}>
			{faults.map((fault) => (
				<li key={`${fault.column} ${fault.message}`} className={css.column}>
					<div className={css.about}>
						<p className={css.error}>
							<b>{words.rows({ count: fault.rows })}</b> <span data-fault>{faultSentence(fault)}</span>
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
