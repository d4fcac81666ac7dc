import type { PreviewProblem } from "../../api/schema";
import { Dialog } from "../../ui/Dialog";
import { Radios } from "../../ui/Field";
import { equal } from "../../sync/merge";
import type { DraftStore } from "../../sync/store";
import { FormProblems } from "../../ui/FormProblems";
import type { Problems } from "../../ui/problems";
import { Callout } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { useState } from "react";
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
	clash: "Somebody else changed the same parts",
	clashText: "Choose which to keep. The rest of both versions is already merged.",
	mine: "Mine",
	theirs: "Theirs",
	take: "Continue with these",
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
export function Changes<T extends object>({
	before,
	after,
	include,
	names,
	codes,
}: { before: T; after: T; include?: (keyof T)[] } & Names<T>) {
	const changed = (Object.keys(before) as (keyof T)[]).filter(
		(field) => !equal(before[field], after[field]) && (!include || include.includes(field)),
	);
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

type ChooseProps<Row, T extends object> = Names<T> & { draft: DraftStore<Row, T>; onClose: () => void };

/** Choose asks which of two versions stays, for each part that both sides changed of a draft. */
export function Choose<Row, T extends object>({ draft, names, codes, onClose }: ChooseProps<Row, T>) {
	const { conflict, values } = draft.state;
	const [taken, setTaken] = useState<ReadonlySet<string>>(new Set());
	if (!conflict) return null;
	const theirs = draft.codec.fieldsOf(conflict.theirs.data);
	return (
		<Dialog
			drawer="wide"
			title={words.clash}
			onClose={onClose}
			onSubmit={() => {
				draft.resolveConflict(taken);
				onClose();
			}}
			submit={{ label: words.take, cancel: words.cancel }}
		>
			<p>{words.clashText}</p>
			{conflict.conflicts.map(({ group }) => (
				<div key={group} className={css.changes}>
					<Radios
						label={names[group as keyof T]}
						value={taken.has(group) ? "theirs" : "mine"}
						onChange={(side) =>
							setTaken(new Set([...taken].filter((t) => t !== group).concat(side === "theirs" ? group : [])))
						}
						choices={[
							{ value: "mine", label: words.mine },
							{ value: "theirs", label: words.theirs },
						]}
					/>
					<Changes before={values} after={theirs} include={[group as keyof T]} names={names} codes={codes} />
				</div>
			))}
		</Dialog>
	);
}
