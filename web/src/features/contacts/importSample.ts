// The first rows of a file to import, read here to map its columns. The server reads the file itself.

import { parseRows } from "../../base/csv";

export type Sample = { separator: string; header: string[]; rows: string[][]; more: boolean };

/** How much of a file is read here, in bytes. */
export const sampleSize = 64 * 1024;

/** readSample reads the header and the first ten rows of a file. */
export async function readSample(file: File): Promise<Sample> {
	const bytes = await file.slice(0, sampleSize).arrayBuffer();
	const text = new TextDecoder("utf-8").decode(bytes).replace(/^\ufeff/, "");
	const first = text.split(/\r?\n/, 1)[0] ?? "";
	const separator = [",", ";", "\t"].reduce(
		(best, s) => (first.split(s).length > first.split(best).length ? s : best),
		",",
	);
	const rows = parseRows(text, separator, 11);
	return { separator, header: (rows[0] ?? []).map(columnName), rows: rows.slice(1), more: file.size > sampleSize };
}

/** columnName returns a cell of the header as the server names its column: without the apostrophe that keeps spreadsheets from reading a formula. */
export function columnName(cell: string): string {
	const name = cell.normalize("NFC").trim();
	return /^'+[=+\-@\t\r]/.test(name) ? name.slice(1) : name;
}
