import { formatter } from "./formats";
import { language, register, type Texts, translation } from "./language";
import { parse, type Values, type ValuesOf, write } from "./message";

// The texts of the interface are in catalogues, each at the top of the file that shows it: messages (message.ts) by
// keys, in English. The other languages are in languages/. In the pseudo-locale all texts are longer and accented, so
// that tests find texts that are not in a catalogue, and layouts that break.

/** Message is a text, or a function from the values of its places to a text. */
type Message<T extends string> = unknown extends ValuesOf<T> ? string : (values: ValuesOf<T>) => string;

export type Catalogue<T> = { readonly [K in keyof T]: T[K] extends string ? Message<T[K]> : Catalogue<T[K]> };

/**
 * catalogue returns the messages of a catalogue in the language of the application. Its id is that of the catalogue in the
 * files of the translations: the file's name, and one of its own. It is a literal, as the texts are.
 */
export function catalogue<const T extends Texts>(id: string, texts: T): Catalogue<T> {
	register(id);
	return read(texts, () => translation(id)) as Catalogue<T>;
}

/** read returns texts as messages, and each that is not translated in English. */
function read(texts: Texts, translated: () => Texts | undefined): unknown {
	let catalogueLanguage = language();
	let messages: { [key: string]: unknown } = {};
	return new Proxy(texts, {
		get(_texts, key) {
			const english = typeof key === "string" && Object.hasOwn(texts, key) ? texts[key] : undefined;
			if (english === undefined || typeof key === "symbol") return undefined;
			if (typeof english !== "string") {
				messages[key] ??= read(english, () => translated()?.[key] as Texts | undefined);
				return messages[key];
			}
			const other = translated()?.[key];
			if (catalogueLanguage !== language()) [catalogueLanguage, messages] = [language(), {}];
			messages[key] ??= message(english, typeof other === "string" ? other : english);
			return messages[key];
		},
	});
}

/** message returns an English message in another text. */
function message(english: string, text: string): string | ((values: Values) => string) {
	const parsed = parse(text);
	const shown = (values: Values) => accented(write(parsed, values, formatter));
	return parse(english).every((part) => typeof part === "string") ? shown({}) : shown;
}

const pseudo = typeof location !== "undefined" && new URLSearchParams(location.search).get("locale") === "pseudo";

const accents: { [letter: string]: string } = {
	a: "á",
	e: "é",
	i: "í",
	o: "ó",
	u: "ú",
	c: "ç",
	n: "ñ",
	y: "ý",
	A: "Á",
	E: "É",
	I: "Í",
	O: "Ó",
	U: "Ú",
	S: "Š",
};

/** accented returns a text as it is shown, in the pseudo-locale if the address asks for it (?locale=pseudo). */
function accented(text: string): string {
	if (!pseudo) return text;
	const accentedText = text.replace(/[a-zA-Z]/g, (letter) => accents[letter] ?? letter);
	return `[${accentedText}${"·".repeat(Math.ceil(text.length / 3))}]`;
}
