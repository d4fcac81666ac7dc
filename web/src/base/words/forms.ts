import { catalogue } from "./catalogue";
import { and, dateTime } from "./formats";

// Texts of the server are in English, for programs. A form is such a text with places for what the server inserts, as in
// "{name} is down", and belongs to a message of a catalogue with the same places. A mark says what stands in a place:
//
//	{name}   any text, which is shown as it is
//	{n#}     a number
//	{path@}  the path of a field, shown by its name
//	{kind~}  a word of the server that is in the list below, or else any text
//	{names&} several texts, parted by commas
//	{why*}   a text of the server
//	{at!}    a time
//
// Tests hold that each text in the server's sources has a form.

const words = catalogue("errors.words", {
	quoted: "The server reports: “{text}”",
	more: "{count, plural, one {# more} other {# more}}",
	known: {
		nothing: "nothing",
		boolean: "yes or no",
		number: "a number",
		text: "a text",
		date: "a date",
		list: "a list",
		object: "an object",
		end: "the end of the tag",
		unclosed: "a text without its closing quotation mark",
		keys: "API keys",
		customFields: "custom fields",
		types: "email types",
		servers: "sending servers",
		categories: "email categories",
		domains: "sending domains",
		senders: "senders",
		automations: "automations",
		forms: "forms",
		segments: "lists and segments",
		filters: "saved filters",
		seedLists: "seed lists",
		sequences: "sequences",
		stages: "stages",
		templates: "templates",
		blocks: "blocks",
		entries: "library entries",
		columns: "columns",
		contacts: "contacts at once",
		events: "events at once",
		rules: "scoring rules",
		tags: "tags",
		job: "The job",
		export: "The export of contacts",
		auditExport: "The export of the audit log",
		import: "The import of contacts",
		broadcast: "A broadcast",
		others: "other providers",
	},
});

/** The words of the server that a place marked with ~ may have. */
const known: { [text: string]: keyof typeof words.known } = {
	nothing: "nothing",
	null: "nothing",
	"a boolean": "boolean",
	"true or false": "boolean",
	"a number": "number",
	"a text": "text",
	"a string": "text",
	"a date": "date",
	"a list": "list",
	"an array": "list",
	"an array of strings": "list",
	"an object": "object",
	"the end of the tag": "end",
	"a text without its closing quote": "unclosed",
	"API keys; revoke one first": "keys",
	"custom fields": "customFields",
	"email types": "types",
	"MTA configs": "servers",
	"email categories": "categories",
	"sending domains": "domains",
	"sending identities": "senders",
	automations: "automations",
	forms: "forms",
	"lists and segments": "segments",
	"saved filters": "filters",
	"seed lists": "seedLists",
	sequences: "sequences",
	stages: "stages",
	templates: "templates",
	blocks: "blocks",
	messages: "entries",
	columns: "columns",
	"contacts at once": "contacts",
	"events at once": "events",
	"scoring rules": "rules",
	tags: "tags",
	"the job": "job",
	"Export of contacts": "export",
	"Export of the audit log": "auditExport",
	"Import of contacts": "import",
	"a broadcast": "broadcast",
	"other providers": "others",
};

/** The values of places by their marks. */
const values: {
	[mark: string]: (text: string, inner: (why: string) => string, name: (path: string) => string) => unknown;
} = {
	"": (text) => text,
	"#": (text) => Number(text.replaceAll(",", "")),
	"@": (text, _inner, name) => name(text),
	"~": (text) => (Object.hasOwn(known, text) ? words.known[known[text] as keyof typeof words.known] : text),
	"&": (text) => and(namesIn(text)),
	"*": (text, inner) => inner(text.trim()),
	"!": (text) => (Number.isNaN(Date.parse(text)) ? text : dateTime(text)),
};

/** namesIn returns the names of a list of the server, which may end in "and 3 more". */
function namesIn(text: string): string[] {
	const [, names = text, more] = /^(.*) and (\d+) more$/s.exec(text) ?? [];
	return [...names.split(/, | and /), ...(more ? [words.more({ count: Number(more) })] : [])];
}

/** quoted shows a text that has no sentence, such as that of another program, as what it is. */
export const quoted = (text: string) => words.quoted({ text });

type Form = { read: RegExp; marks: { [name: string]: string } };

/** compiled returns a form as an expression. */
function compiled(form: string): Form {
	const marks: { [name: string]: string } = {};
	const parts = form.split(/(\{\w+[#@~&*!]?\})/).map((part) => {
		const [, name, mark = ""] = /^\{(\w+)([#@~&*!]?)\}$/.exec(part) ?? [];
		if (!name) return part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
		marks[name] = mark;
		return `(?<${name}>${mark === "#" ? "-?\\d[\\d,]*(?:\\.\\d+)?(?:e[+-]?\\d+)?" : ".*?"})`;
	});
	return { read: new RegExp(`^${parts.join("")}$`, "s"), marks };
}

/**
 * sentences returns a function that returns the sentence for a text of the server, or null if no form fits. The first
 * form that fits counts. inner writes what stands in a place marked with *, and name what stands in one marked with @.
 */
export function sentences<Key extends string>(
	texts: { readonly [key in Key]: unknown },
	forms: { readonly [key in Key]: string | readonly string[] },
	inner: (why: string) => string = quoted,
	name: (path: string) => string = (path) => path,
): (text: string) => string | null {
	let all: [Key, Form][] | null = null;
	return (text) => {
		all ??= (Object.keys(forms) as Key[]).flatMap((key) =>
			[forms[key]].flat().map((f): [Key, Form] => [key, compiled(f)]),
		);
		for (const [key, { read, marks }] of all) {
			const found = read.exec(text);
			if (!found) continue;
			const message = texts[key] as string | ((places: object) => string);
			if (typeof message === "string") return message;
			const places = Object.entries(found.groups ?? {}).map(([place, value]) => [
				place,
				(values[marks[place] ?? ""] as (typeof values)[""])(value, inner, name),
			]);
			return message(Object.fromEntries(places));
		}
		return null;
	};
}
