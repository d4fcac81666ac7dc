import { type Cell, csvCell, csvText, parseRows } from "./csv";
import { equals, Random, type Tests } from "./testing";

const rows = (text: string, separator = ",", maxRows = 100) => parseRows(text, separator, maxRows);

const tests: Tests = {
	"rows end with any line feed, and the last one with the file"() {
		for (const end of ["\n", "\r\n", "\r"])
			equals(
				rows(`a,b${end}c,d`),
				[
					["a", "b"],
					["c", "d"],
				],
				JSON.stringify(end),
			);
		equals(rows("a,b\n"), [["a", "b"]]);
		equals(rows(""), []);
		equals(rows("a,\n,b"), [
			["a", ""],
			["", "b"],
		]);
		equals(rows("a,"), [["a", ""]]);
	},
	"lines with nothing in them are no rows"() {
		equals(rows("a\n\n\r\nb\n"), [["a"], ["b"]]);
		equals(rows("a,b\n,\n"), [
			["a", "b"],
			["", ""],
		]);
	},
	"quotes keep separators, line feeds and doubled quotes"() {
		equals(rows('"a,b","c\r\nd","e ""f"""'), [["a,b", "c\r\nd", 'e "f"']]);
		equals(rows('a "b",c'), [['a "b"', "c"]]);
		equals(rows('"a'), [["a"]]);
	},
	"the separator may be another one"() {
		equals(rows("a;b,c;d", ";"), [["a", "b,c", "d"]]);
		equals(rows("a\tb", "\t"), [["a", "b"]]);
	},
	"no more rows are read than asked for"() {
		equals(rows("a\nb\nc\n", ",", 2), [["a"], ["b"]]);
		equals(rows("a\nb", ",", 1), [["a"]]);
		equals(rows("a", ",", 0), []);
	},
	"a cell is quoted if it must be, and text that looks like a formula is marked"() {
		const cells: [cell: Cell, want: string][] = [
			[null, ""],
			[undefined, ""],
			["", ""],
			[0, "0"],
			[-5, "-5"],
			["plain", "plain"],
			["a,b", '"a,b"'],
			['say "hi"', '"say ""hi"""'],
			["two\nlines", '"two\nlines"'],
			["=1+1", "'=1+1"],
			["-5", "'-5"],
			["+49", "'+49"],
			["@me", "'@me"],
			["\tx", "'\tx"],
			["=a,b", `"'=a,b"`],
			["a=b", "a=b"],
		];
		for (const [cell, expected] of cells) equals(csvCell(cell), expected, String(cell));
	},
	"what is written is read again"() {
		const random = new Random(7);
		const cell = () =>
			Array.from({ length: 1 + random.below(6) }, () =>
				random.of(["a", "é", " ", ",", ";", '"', "\n", "\r\n", "\r"]),
			).join("");
		for (let round = 0; round < 500; round++) {
			const header = Array.from({ length: 1 + random.below(3) }, cell).map((header) => `x${header}`);
			const table: Cell[][] = Array.from({ length: random.below(4) }, () => header.map(() => `x${cell()}`));
			equals(rows(csvText(header, table)), [header, ...table]);
		}
	},
};

export default tests;
