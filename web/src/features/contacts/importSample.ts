// The first rows of a file to import, read here to map its columns. The server reads the file itself.

import { parseRows } from "../../base/csv";

export type Sample = { separator: string; header: string[]; rows: string[][]; more: boolean };

/** How much of a file is read here, in bytes. */
export const sampleSize = 64 * 1024;

/** readSample reads the header and the first ten rows of a file. */
export async function readSample(file: File): Promise<Sample> {
	const bytes = await file.slice(0, sampleSize).arrayBuffer();
	return sampleOf(new TextDecoder("utf-8").decode(bytes), file.size > sampleSize);
}

/** sampleOf reads the header and the first ten rows of a text. */
export function sampleOf(text: string, more: boolean): Sample {
	const table = text.replace(/^\ufeff/, "");
	const declaration = /^sep=([,;\t|])(?:\r?\n|$)/i.exec(table); // as spreadsheets write it
	const separator = declaration?.[1] ?? separatorOf(table);
	const [header = [], ...rows] = parseRows(table.slice(declaration?.[0].length), separator, 11);
	return { separator, header: header.map(columnName), rows, more };
}

/** separatorOf returns the separator that occurs most often in a header, outside of quotes; a comma if several do. */
function separatorOf(table: string): string {
	const [header = ""] = /^[\r\n]*(?:"[^"]*"?|[^"\r\n]+)*/.exec(table) ?? [];
	const unquoted = header.replace(/"[^"]*"?/g, "");
	const count = (separator: string) => unquoted.split(separator).length;
	return [",", ";", "\t", "|"].reduce((best, separator) => (count(separator) > count(best) ? separator : best));
}

/** columnName returns a cell of the header as the server names its column: without the apostrophe that keeps spreadsheets from reading a formula. */
export function columnName(cell: string): string {
	const name = cell.normalize("NFC").trim();
	return /^'+[=+\-@\t\r]/.test(name) ? name.slice(1) : name;
}
