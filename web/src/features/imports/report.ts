import type { JobSession } from "../../api/schema";
import type { FieldInfo } from "../rules/fields";
import { guessField } from "../rules/guessField";

// What the job of an import tells about a file, and the options that have the file read in another way.

/** How a file is read, where a person says it. */
export type Reading = { encoding?: string; separator?: string; quote?: string; sheet?: string };

/** What people have chosen for columns, by their keys. A target of null leaves the column out. */
export type Choices = { mapping: { [column: string]: string | null }; forms: { [column: string]: string } };

/** Settings are the options of an import that are not about its columns. */
export type Settings = {
	mode: "upsert" | "create" | "update";
	update_blank: boolean;
	strict: boolean;
	segment_key: string | null;
	tags: string[];
	/** Consent to email types for all rows, which only programs set. */
	subscriptions?: { [emailType: string]: boolean };
};

export type ColumnReport = {
	name: string;
	/** What options call the column: its name, or its position if others have the name, such as #3. */
	key: string;
	target: string | null;
	by?: "mapping" | "name" | "content" | "remembered";
	form?: string;
	either?: string[];
	samples: string[];
};

export type Problem = { path: string; message: string };

export type FaultReport = {
	column?: string;
	code: string;
	message: string;
	rows: number;
	samples: { row: number; value?: string }[];
};

export type Report = {
	file: Required<Omit<Reading, "sheet">> & { sheet?: string; sheets?: string[] };
	options?: Partial<Settings>;
	questions?: Problem[];
	warnings?: Problem[];
	columns: ColumnReport[];
	columns_omitted?: number;
	faults: FaultReport[];
};

export type ImportResult = {
	rows: number;
	created: number;
	updated: number;
	repeated?: number;
	skipped: number;
	invalid: number;
	unfit?: number;
	stopped?: number;
	errors_url?: string | null;
	errors_omitted?: number;
	dry_run?: boolean;
	undo?: { until: string; job_id: string | null };
	report?: Report;
};

/** resultOf returns the result of an import's job so far. */
export const resultOf = (job: JobSession) => job.result as ImportResult | undefined;

/** changesNothing reports whether an import changes no contact. */
export const changesNothing = (result: ImportResult) => result.created + result.updated === 0;

/** What several columns can be imported as. */
const repeatable = ["tags", "global_status"];

/** suggestionsFor returns what columns that nothing knows may mean, by usual names of fields that no other column has. */
export function suggestionsFor(columns: ColumnReport[], fields: FieldInfo[]): Choices["mapping"] {
	const taken = new Set(columns.map((column) => column.target));
	const suggested: Choices["mapping"] = {};
	for (const { name, key, by } of columns) {
		const guess = by ? "" : guessField(name, fields);
		if (!guess || (taken.has(guess) && !repeatable.includes(guess))) continue;
		taken.add(guess);
		suggested[key] = guess;
	}
	return suggested;
}

/** within returns the choices for columns that a file has. */
export function within(choices: Choices, columns: ColumnReport[]): Choices {
	const keys = new Set(columns.map((column) => column.key));
	const kept = <T>(all: { [column: string]: T }) =>
		Object.fromEntries(Object.entries(all).filter(([key]) => keys.has(key)));
	return { mapping: kept(choices.mapping), forms: kept(choices.forms) };
}

export const dateForms = ["DD.MM.YYYY", "MM/DD/YYYY", "YYYY-MM-DD"];
export const numberForms = ["1,234.50", "1.234,50"];

/**
 * shownChoices returns where each column of a report goes and how it writes dates and numbers, so that an import does what
 * its check has shown, and the next one of such a file, too. Columns that nothing knows are not named: they would be left
 * out the next time, too, when they may be known. Nor are words for yes and no: other rows may have others.
 */
export function shownChoices(columns: ColumnReport[]): Choices {
	const fixed = [...dateForms, ...numberForms];
	return {
		mapping: Object.fromEntries(columns.filter((column) => column.by).map((column) => [column.key, column.target])),
		forms: Object.fromEntries(columns.flatMap(({ key, form }) => (form && fixed.includes(form) ? [[key, form]] : []))),
	};
}

/** columnOf returns the key of the column that a problem of the options is about; "" if it is about none. */
export const columnOf = (problem: Problem) => /^options\.(?:mapping|forms)\.(.*)$/s.exec(problem.path)?.[1] ?? "";

/** problemsOf returns the problems of a column. */
export const problemsOf = (column: string, problems: Problem[] | undefined) =>
	(problems ?? []).filter((problem) => columnOf(problem) === column);
