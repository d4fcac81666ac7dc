// Messages in ICU MessageFormat (https://unicode-org.github.io/icu/userguide/format_parse/messages/): texts with places
// for values, and with the forms of a text that a value chooses. The part of it that is read here:
//
//	{name}                                     a text or a number
//	{count, number} {share, number, percent}   a value as a formatter writes it
//	{count, plural, =0 {none} one {# row} other {# rows}}
//	{kind, select, form {a form} other {a page}}
//
// A brace that is text, and a "#" of text in a plural, is quoted: '{'. Two apostrophes are one.

/** Part is a piece of a message: text, the place of a value, or the forms that a value chooses from. */
type Part = string | { name: string; kind: string; style?: string; forms?: { [choice: string]: Part[] } };

export type Parsed = Part[];

export type Values = { readonly [name: string]: unknown };

/** Formatter writes values in a language. */
export interface Formatter {
	/** Returns the category of a number, such as "one" or "other". */
	category(value: number): string;
	/** Writes a value: of the kind "" as a text or a plain number, of "#" as the number of a plural. */
	value(value: unknown, kind: string, style?: string): string;
}

/** parse reads a message, and throws if it is not well formed. */
export function parse(text: string): Parsed {
	let position = 0;
	const expect = (expected: RegExp): string => {
		expected.lastIndex = position;
		const match = expected.exec(text);
		if (!match) throw new SyntaxError(`“${text}” is no message, as its character ${position + 1} shows`);
		position = expected.lastIndex;
		return match[1] ?? match[0];
	};
	const message = (counted: string): Parsed => {
		const parts: Part[] = [];
		const add = (text: string) => {
			if (typeof parts.at(-1) === "string") parts.push(parts.pop() + text);
			else parts.push(text);
		};
		while (position < text.length && text[position] !== "}") {
			const c = text[position++] as string;
			const next = text[position] ?? "";
			if (c === "'" && next === "'") add(text[position++] as string);
			else if (c === "'" && (next === "{" || next === "}" || (counted && next === "#")))
				add(expect(/((?:[^']|'')*)(?:'|$)/y).replaceAll("''", "'"));
			else if (c === "{") parts.push(placeholder());
			else if (c === "#" && counted) parts.push({ name: counted, kind: "#" });
			else add(c);
		}
		return parts;
	};
	const placeholder = (): Part => {
		const name = expect(/\s*(\w+)\s*/y);
		if (expect(/[,}]/y) === "}") return { name, kind: "" };
		const kind = expect(/\s*(\w+)\s*/y);
		if (expect(/[,}]/y) === "}") return { name, kind };
		if (kind !== "plural" && kind !== "select") return { name, kind, style: expect(/\s*(\w+)\s*}/y) };
		const forms: { [choice: string]: Parsed } = Object.create(null); // a value may be "constructor"
		do {
			const selector = expect(/\s*(=?\w+)\s*\{/y);
			forms[selector] = message(kind === "plural" ? name : "");
			expect(/}\s*/y);
		} while (text[position] !== "}");
		position++;
		if (!forms.other) throw new SyntaxError(`“${text}” lacks a form for other values of ${name}`);
		return { name, kind, forms };
	};
	const parts = message("");
	if (position < text.length) throw new SyntaxError(`“${text}” closes more than it opens`);
	return parts;
}

/** write fills a message. The place of a value that is missing stays, so that it can be seen. */
export function write(message: Parsed, values: Values, formatter: Formatter): string {
	return message
		.map((part) => {
			if (typeof part === "string") return part;
			const { name, kind, style, forms } = part;
			const value = values[name];
			if (value === undefined) return `{${name}}`;
			if (!forms) return formatter.value(value, kind, style);
			const form =
				kind === "plural" ? (forms[`=${value}`] ?? forms[formatter.category(Number(value))]) : forms[`${value}`];
			return write(form ?? (forms.other as Parsed), values, formatter);
		})
		.join("");
}

// The values of a message as a type, read from its text. A message has the names of its places as they are in the
// examples above, with one space after each comma.

type Unquoted<T extends string> = T extends `${infer A}'{${string}'${infer B}` ? Unquoted<`${A}${B}`> : T;

type InMessage<T extends string, V> = T extends `${infer Before}{${infer After}`
	? Before extends `${string}}${infer Rest}`
		? InForms<`${Rest}{${After}`, V>
		: InPlace<After, V>
	: T extends `${string}}${infer Rest}`
		? InForms<Rest, V>
		: V;

type InForms<T extends string, V> = T extends `${infer Before}{${infer After}`
	? Before extends `${string}}${infer Rest}`
		? InMessage<`${Rest}{${After}`, V>
		: InMessage<After, V>
	: T extends `${string}}${infer Rest}`
		? InMessage<Rest, V>
		: V;

type InPlace<T extends string, V> = T extends `${infer Place}}${infer Rest}`
	? Place extends `${infer Name}, ${infer Kind}`
		? Kind extends `plural, ${string}`
			? InForms<T extends `${string}, plural, ${infer Forms}` ? Forms : never, V & { [N in Name]: number }>
			: Kind extends `select, ${string}`
				? InForms<T extends `${string}, select, ${infer Forms}` ? Forms : never, V & { [N in Name]: string | boolean }>
				: InMessage<Rest, V & { [N in Name]: ValueOf<Kind> }>
		: InMessage<Rest, V & { [N in Place]: string | number }>
	: V;

type ValueOf<Kind extends string> = Kind extends `number${string}`
	? number
	: Kind extends `list${string}`
		? readonly string[]
		: string | Date;

/** ValuesOf are the values that a message needs. */
export type ValuesOf<T extends string> = InMessage<Unquoted<T>, unknown>;
