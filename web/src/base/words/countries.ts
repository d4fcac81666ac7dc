import { catalogue } from "./catalogue";
import { locale, regions } from "./formats";

const words = catalogue("shell.countries", { help: "Two letters, such as DE." });

const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];

/** nameOf returns the name of a country by its code; undefined for what is none, or has another code by now. */
function nameOf(code: string): string | undefined {
	if (
		!/^[A-Z]{2}$/.test(code) ||
		Intl.getCanonicalLocales(`und-${code}`)[0] !== `und-${code}` ||
		["EU", "EZ", "UN", "QO", "ZZ", "XA", "XB"].includes(code)
	)
		return undefined;
	return regions("none").of(code);
}

let all: { value: string; label: string }[] = [];
let allOf = "";

/** countryField returns what a field of a country offers, and what it says of what is typed. */
export function countryField(typed: string) {
	if (allOf !== locale()) {
		allOf = locale();
		all = letters
			.flatMap((a) => letters.map((b) => a + b))
			.map((value) => ({ value, label: nameOf(value) ?? "" }))
			.filter((c) => c.label !== "")
			.sort((a, b) => a.label.localeCompare(b.label, allOf));
	}
	return { suggestions: all, help: nameOf(typed.trim().toUpperCase()) ?? words.help };
}
