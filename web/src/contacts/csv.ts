// The first rows of a file to import, read here to map its columns. The server reads the file itself.

export type Sample = { separator: string; header: string[]; rows: string[][]; more: boolean };

/** How much of a file is read here, in bytes. */
export const sampleSize = 64 * 1024;

/** parseRows splits text into rows of cells (RFC 4180), with a separator. */
export function parseRows(text: string, separator: string, most: number): string[][] {
	const rows: string[][] = [];
	let row: string[] = [];
	let cell = "";
	let quoted = false;
	for (let i = 0; i < text.length && rows.length < most; i++) {
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
	if (rows.length < most && (cell !== "" || row.length > 0)) rows.push([...row, cell]);
	return rows;
}

/** readSample reads the header and the first ten rows of a file. */
export async function readSample(file: File): Promise<Sample> {
	const bytes = await file.slice(0, sampleSize).arrayBuffer();
	const text = new TextDecoder("utf-8").decode(bytes).replace(/^\ufeff/, "");
	const first = text.split(/\r?\n/, 1)[0] ?? "";
	const separator = [",", ";", "\t"].reduce((best, s) => (first.split(s).length > first.split(best).length ? s : best), ",");
	const rows = parseRows(text, separator, 11);
	return { separator, header: (rows[0] ?? []).map(columnName), rows: rows.slice(1), more: file.size > sampleSize };
}

/** columnName returns a cell of the header as the server names its column: without the apostrophe that keeps spreadsheets from reading a formula. */
export function columnName(cell: string): string {
	const name = cell.normalize("NFC").trim();
	return /^'+[=+\-@\t\r]/.test(name) ? name.slice(1) : name;
}

const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]+/g, "");

const aliases: { [header: string]: string } = {
	mail: "email",
	emailaddress: "email",
	address: "email",
	firstname: "first_name",
	givenname: "first_name",
	lastname: "last_name",
	surname: "last_name",
	familyname: "last_name",
	name: "full_name",
	organisation: "company",
	organization: "company",
	zip: "postal_code",
	postcode: "postal_code",
	telephone: "phone",
	mobile: "phone",
	tag: "tags",
	labels: "tags",
	language: "locale",
	status: "global_status",
	subscriberstatus: "global_status",
	subscriptionstatus: "global_status",
};

/** guess returns the field that a column's header means, among those that exist; "" if none. */
export function guess(header: string, fields: { field: string; name: string }[]): string {
	const h = plain(header);
	const found = fields.find((f) => plain(f.field) === h || plain(f.field.replace("custom_fields.", "")) === h || plain(f.name) === h) ?? fields.find((f) => f.field === aliases[h]);
	return found?.field ?? "";
}
