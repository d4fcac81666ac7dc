import { catalogue } from "../../base/words/catalogue";
import { Columns, Select } from "../../ui/Field";
import css from "./Import.module.css";
import type { Reading, Report } from "./report";

const words = catalogue("imports.readAs", {
	about: "This was recognised by the content of the file. Change it if the values below look wrong.",
	sheet: "Sheet",
	encoding: "Encoding",
	separator: "Separator",
	quote: "Quotes",
	encodings: {
		utf8: "UTF-8",
		utf16le: "UTF-16",
		utf16be: "UTF-16 (big endian)",
		windows1252: "Windows-1252 (Western Europe)",
		latin9: "ISO-8859-15 (Western Europe)",
		windows1250: "Windows-1250 (Central Europe)",
		windows1251: "Windows-1251 (Cyrillic)",
		windows1253: "Windows-1253 (Greek)",
		windows1254: "Windows-1254 (Turkish)",
		macintosh: "Mac OS Roman",
	},
	comma: "Comma (,)",
	semicolon: "Semicolon (;)",
	tab: "Tab",
	bar: "Vertical bar (|)",
	double: 'Double quotes (")',
	single: "Single quotes ('')",
});

const encodings = (): [string, string][] => [
	["utf-8", words.encodings.utf8],
	["windows-1252", words.encodings.windows1252],
	["iso-8859-15", words.encodings.latin9],
	["utf-16le", words.encodings.utf16le],
	["utf-16be", words.encodings.utf16be],
	["windows-1250", words.encodings.windows1250],
	["windows-1251", words.encodings.windows1251],
	["windows-1253", words.encodings.windows1253],
	["windows-1254", words.encodings.windows1254],
	["macintosh", words.encodings.macintosh],
];

const separators = (): [string, string][] => [
	[",", words.comma],
	[";", words.semicolon],
	["\t", words.tab],
	["|", words.bar],
];

const quotes = (): [string, string][] => [
	['"', words.double],
	["'", words.single],
];

/** ReadAs shows how a file was read, and has it read in another way. */
export function ReadAs({
	file,
	reading,
	onChange,
}: {
	file: Report["file"];
	reading: Reading;
	onChange: (reading: Reading) => void;
}) {
	const choice = (part: keyof Reading, choices: [string, string][]) => {
		const value = reading[part] ?? file[part] ?? "";
		const known = choices.some(([choice]) => choice === value);
		return (
			<Select
				label={words[part]}
				value={value}
				onChange={(value) => onChange({ ...reading, [part]: value })}
				choices={[...choices, ...(known ? [] : [[value, value] as [string, string]])].map(([value, label]) => ({
					value,
					label,
				}))}
			/>
		);
	};
	return (
		<>
			<p className={css.muted}>{words.about}</p>
			{file.sheets ? (
				choice(
					"sheet",
					file.sheets.map((name) => [name, name]),
				)
			) : (
				<Columns>
					{choice("encoding", encodings())}
					{choice("separator", separators())}
					{choice("quote", quotes())}
				</Columns>
			)}
		</>
	);
}
