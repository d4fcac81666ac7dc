import { equals, type Tests } from "../../base/testing";
import { columnName, sampleOf } from "./importSample";

const read = (text: string) => {
	const { separator, header, rows } = sampleOf(text, false);
	return { separator, table: [header, ...rows] };
};

const tests: Tests = {
	"columns are named as on the server"() {
		const names = { " Name ": "Name", "'=sum": "=sum", "''+x": "'+x", "'tis": "'tis", "e\u0301": "\u00e9", "": "" };
		for (const [cell, expected] of Object.entries(names)) equals(columnName(cell), expected, cell);
	},
	"the separator is the one of the header, as on the server"() {
		const headers: [header: string, want: string][] = [
			["email,name", ","],
			["email;name", ";"],
			["email\tname", "\t"],
			["email|name|city", "|"],
			["email", ","],
			["a,b;c", ","],
			["a;b;c,d", ";"],
			['"Last, first";email', ";"],
			['"a;b;c",email', ","],
			['"two\nlines;";email', ";"],
			["\n\nemail;name", ";"],
			["", ","],
		];
		for (const [header, expected] of headers) equals(read(`${header}\n1,2,3,4;5`).separator, expected, header);
	},
	"a first line may declare the separator, and is no header"() {
		const expected = [
			["email", "name"],
			["a@example.com", "Ann, B"],
		];
		for (const line of ["sep=;\n", "SEP=;\r\n", "\ufeffsep=;\n"])
			equals(read(`${line}email;name\na@example.com;Ann, B`), { separator: ";", table: expected }, line);
		equals(read("sep=|").table, [[]]);
		equals(read("sep=x\n1").table, [["sep=x"], ["1"]], "what declares none");
	},
	"the header and ten rows are read, without the mark of UTF-8"() {
		const rows = Array.from({ length: 20 }, (_, i) => `${i}@example.com`);
		const sample = sampleOf(`\ufeff email \r\n${rows.join("\r\n")}`, true);
		equals([sample.header, sample.rows.length, sample.rows[9], sample.more], [["email"], 10, ["9@example.com"], true]);
	},
	"a text without anything has no columns"() {
		for (const text of ["", "\n", "\ufeff"]) equals(sampleOf(text, false).header, [], JSON.stringify(text));
	},
};

export default tests;
