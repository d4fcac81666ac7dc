// Tables as files of comma-separated values (RFC 4180).

/** Cell is a value of a table; null is an empty one. */
export type Cell = string | number | null | undefined;

/** csvCell writes a value. Text that a spreadsheet would take for a formula is marked as text by an apostrophe. */
export function csvCell(cell: Cell): string {
	if (cell === null || cell === undefined) return "";
	const text = typeof cell === "number" ? String(cell) : /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
	return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** csvText writes a table with its header. */
export const csvText = (header: string[], rows: Cell[][]) =>
	[header, ...rows].map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("");

/** download saves text as a file. */
export function download(name: string, text: string) {
	const address = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
	const link = document.createElement("a");
	link.href = address;
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** parseRows splits text into rows of cells (RFC 4180), with a separator. */
export function parseRows(text: string, separator: string, maxRows: number): string[][] {
	const rows: string[][] = [];
	let row: string[] = [];
	let cell = "";
	let quoted = false;
	for (let i = 0; i < text.length && rows.length < maxRows; i++) {
		const c = text[i];
		if (quoted) {
			if (c !== '"') cell += c;
			else if (text[i + 1] === '"') {
				cell += '"';
				i++;
			} else quoted = false;
		} else if (c === '"' && cell === "") quoted = true;
		else if (c === separator) {
			row.push(cell);
			cell = "";
		} else if (c === "\n" || c === "\r") {
			if (c === "\r" && text[i + 1] === "\n") i++;
			row.push(cell);
			if (row.length > 1 || row[0] !== "") rows.push(row);
			row = [];
			cell = "";
		} else cell += c;
	}
	if (rows.length < maxRows && (cell !== "" || row.length > 0)) rows.push([...row, cell]);
	return rows;
}
