import type { PreviewProblem } from "../../api/schema";
import { Dialog } from "../../ui/Dialog";
import { equal } from "../../sync/merge";
import { FormProblems } from "../../ui/FormProblems";
import type { Problems } from "../../ui/problems";
import { Callout } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { Diff } from "../../ui/Diff";
import css from "./Source.module.css";
import { fieldName } from "../../base/words/fieldNames";
import { mailProblem } from "../../base/words/errors";

const words = catalogue("source.review", {
	title: "Save these changes?",
	save: "Save",
	cancel: "Keep editing",
	was: "{before} → {after}",
	nothing: "nothing",
	warnings: "{count, plural, one {# warning} other {# warnings}}",
	errors: "{count, plural, one {# error} other {# errors}}: this cannot be saved.",
});

/** Names are those of the fields of a draft, and which of them are shown as lines of code. */
export type Names<T extends object> = { names: { [F in keyof T]: string }; codes: (keyof T)[] };

const shown = (value: unknown) =>
	Array.isArray(value)
		? value.join(", ")
		: value === null || value === undefined
			? ""
			: typeof value === "object"
				? JSON.stringify(value, null, 2)
				: String(value);

/** Changes lists what differs between two drafts; code as lines. */
export function Changes<T extends object>({ before, after, names, codes }: { before: T; after: T } & Names<T>) {
	const changed = (Object.keys(before) as (keyof T)[]).filter((field) => !equal(before[field], after[field]));
	const small = changed.filter((field) => !codes.includes(field));
	return (
		<div className={css.changes}>
			{small.length > 0 && (
				<dl>
					{small.map((field) => (
						<div key={String(field)} style={{ display: "contents" }}>
							<dt>{names[field]}</dt>
							<dd>
								{words.was({
									before: shown(before[field]) || words.nothing,
									after: shown(after[field]) || words.nothing,
								})}
							</dd>
						</div>
					))}
				</dl>
			)}
			{changed
				.filter((field) => codes.includes(field))
				.map((field) => (
					<Diff key={String(field)} label={names[field]} before={shown(before[field])} after={shown(after[field])} />
				))}
		</div>
	);
}

type Props<T extends object> = Names<T> & {
	before: T;
	after: T;
	problems: PreviewProblem[];
	affected: string[];
	busy: boolean;
	fieldProblems: Problems;
	onSave: () => void;
	onClose: () => void;
};

/** Review shows what saving changes, and whom it touches, before it is done. */
export function Review<T extends object>({
	before,
	after,
	names,
	codes,
	problems,
	affected,
	busy,
	fieldProblems,
	onSave,
	onClose,
}: Props<T>) {
	const warnings = problems.filter((problem) => problem.severity === "warning");
	const errors = problems.length - warnings.length;
	return (
		<Dialog
			drawer="wide"
			title={words.title}
			onClose={onClose}
			onSubmit={() => !busy && onSave()}
			submit={{ label: words.save, cancel: words.cancel, busy, autoFocus: true }}
		>
			<FormProblems problems={fieldProblems} />
			{errors > 0 && <Callout tone="danger" title={words.errors({ count: errors })} />}
			{affected.map((t) => (
				<p key={t}>{t}</p>
			))}
			{warnings.length > 0 && (
				<Callout tone="warning" title={words.warnings({ count: warnings.length })}>
					<ul>
						{warnings.map((warning) => (
							<li key={`${warning.field} ${warning.line} ${warning.message}`}>
								<b>{fieldName(warning.field)}:</b> {mailProblem(warning)}
							</li>
						))}
					</ul>
				</Callout>
			)}
			<Changes before={before} after={after} names={names} codes={codes} />
		</Dialog>
	);
}
