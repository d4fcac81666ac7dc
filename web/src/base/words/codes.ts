import { cached, locale } from "./formats";

// Countries, languages, currencies and time zones by their codes, with their names in the language of the application.

export type CodeKind = "country" | "language" | "currency" | "zone";

/** Code is a code with its name. */
export type Code = { code: string; name: string };

const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];

/** Codes of two letters that Intl has names for, and that are no countries. */
const excludedRegions = new Set(["EU", "EZ", "UN", "QO", "ZZ", "XA", "XB"]);

/** isCountry reports whether a country has a code of two letters now. */
const isCountry = (code: string) =>
	!excludedRegions.has(code) && Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`;

/** The languages that the pages for readers are in. */
const readersLanguages = ["cs", "da", "de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt", "sv"];

const supported = (kind: "currency" | "timeZone") =>
	typeof Intl.supportedValuesOf === "function" ? Intl.supportedValuesOf(kind) : [];

const names = (type: "region" | "language" | "currency") =>
	cached(`names ${type}`, (language) => new Intl.DisplayNames(language, { type, fallback: "none" }));

/** nameOf returns the name of a code, or else the code. */
export function nameOf(kind: CodeKind, code: string): string {
	if (kind === "zone") return code.replaceAll("_", " ");
	try {
		return names(kind === "country" ? "region" : kind).of(code) ?? code;
	} catch {
		return code; // of another form
	}
}

const codes: { [K in CodeKind]: () => string[] } = {
	country: () => letters.flatMap((letter) => letters.map((b) => letter + b)).filter(isCountry),
	language: () => readersLanguages,
	currency: () => supported("currency"),
	zone: () => ["UTC", ...supported("timeZone")],
};

/** codesOf returns all codes of a kind that have a name, in the order of their names. */
export const codesOf = (kind: CodeKind): Code[] =>
	cached(`codes ${kind}`, () => {
		const all = codes[kind]().map((code) => ({ code, name: nameOf(kind, code) }));
		if (kind === "zone") return all;
		return all
			.filter((country) => country.name !== country.code)
			.sort((a, b) => a.name.localeCompare(b.name, locale()));
	});
