import { catalogue } from "../../base/words/catalogue";
import { exactNumber } from "../../base/words/formats";
import css from "./Import.module.css";
import type { ImportResult } from "./report";

const words = catalogue("imports.counts", {
	created: "Created",
	updated: "Updated",
	skipped: "Skipped",
	invalid: "Invalid",
	would: { created: "Would be created", updated: "Would be updated", skipped: "Would be skipped", invalid: "Invalid" },
	noRows: "This file has no rows besides the names of its columns.",
	repeated:
		"{count, plural, one {# row has the address of an earlier row.} other {# rows have the addresses of earlier rows.}}",
	unfit:
		"{count, plural, one {# row is imported without a value that does not fit its field.} other {# rows are imported without values that do not fit their fields.}}",
	stopped:
		"{count, plural, one {# contact gets no mail because of its status in the file.} other {# contacts get no mail because of their status in the file.}}",
});

/** Counts shows what became of the rows of a file, or what would. */
export function Counts({ result, would }: { result: ImportResult; would?: boolean }) {
	const names = would ? words.would : words;
	return (
		<>
			<dl className={css.counts}>
				{(["created", "updated", "skipped", "invalid"] as const).map((outcome) => (
					<div key={outcome} data-bad={(outcome === "invalid" && result.invalid > 0) || undefined}>
						<dt>{names[outcome]}</dt>
						<dd>{exactNumber(result[outcome] ?? 0)}</dd>
					</div>
				))}
			</dl>
			{would && result.rows === 0 && <p className={css.muted}>{words.noRows}</p>}
			{(["repeated", "unfit", "stopped"] as const).map((outcome) => {
				const count = result[outcome];
				return count ? (
					<p key={outcome} className={css.muted}>
						{words[outcome]({ count })}
					</p>
				) : null;
			})}
		</>
	);
}
