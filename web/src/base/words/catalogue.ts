// Texts of the interface stand in catalogues, one beside each part of the application. A catalogue is an
// object of texts, and of functions that make texts of values. In the pseudo-locale all texts are longer
// and accented, so that tests find texts that are not in a catalogue, and layouts that break.

type Texts = { [key: string]: string | ((...args: never[]) => string) | Texts };

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

function accented(text: string): string {
	const longer = text.replace(/[a-zA-Z]/g, (letter) => accents[letter] ?? letter);
	return `[${longer}${"·".repeat(Math.ceil(text.length / 3))}]`;
}

function wrap<T extends Texts>(texts: T): T {
	const out: Texts = {};
	for (const [key, value] of Object.entries(texts)) {
		if (typeof value === "string") out[key] = accented(value);
		else if (typeof value === "function") out[key] = (...args: never[]) => accented(value(...args));
		else out[key] = wrap(value);
	}
	return out as T;
}

/** catalogue returns texts, in the pseudo-locale if the address asks for it (?locale=pseudo). */
export function catalogue<T extends Texts>(texts: T): T {
	return pseudo ? wrap(texts) : texts;
}

/** text returns a text that stands alone, as catalogue does. */
export const text = (value: string) => (pseudo ? accented(value) : value);

/** locale is that of numbers, dates and lists. */
export const locale = "en";

const rules = new Intl.PluralRules(locale);

/** plural returns the form of a text for n; "#" in it stands for the number. */
export function plural(n: number, forms: { one: string; other: string }): string {
	return (rules.select(n) === "one" ? forms.one : forms.other).replace("#", number(n));
}

const numbers = new Intl.NumberFormat(locale);
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });

/** number writes a count in full up to 999,999. */
export const number = (n: number) => (Math.abs(n) > 999_999 ? compact.format(n) : numbers.format(n));

/** full writes a count with all its digits. */
export const full = (n: number) => numbers.format(n);

const changes = new Intl.NumberFormat(locale, { signDisplay: "exceptZero" });
const changesOfRates = new Intl.NumberFormat(locale, {
	maximumFractionDigits: 1,
	minimumFractionDigits: 1,
	signDisplay: "exceptZero",
});

/** change writes a difference with its sign. */
export const change = (n: number) => changes.format(n).replace("-", "−");

/** pointsOf writes a difference of two rates with its sign, in percentage points. */
export const pointsOf = (difference: number) => changesOfRates.format(difference * 100).replace("-", "−");

/** percent writes a rate between 0 and 1 with one decimal, without rounding to 0 or to 100. */
export function percent(rate: number | null | undefined, decimals = 1): string {
	if (rate === null || rate === undefined || Number.isNaN(rate)) return "–";
	const least = 10 ** -decimals;
	const value = rate * 100;
	if (value > 0 && value < least / 2) return `< ${least.toFixed(decimals)} %`;
	if (value < 100 && value >= 100 - least / 2) return `${(100 - least).toFixed(decimals)} %`;
	return `${value.toFixed(decimals)} %`;
}

const lists = new Intl.ListFormat(locale, { type: "conjunction" });

/** and joins names: "a, b and c". */
export const and = (names: string[]) => lists.format(names);

let zone = "UTC";

/** setTimeZone names the account's zone, in which times are shown. */
export function setTimeZone(name: string) {
	zone = name;
}

/** timeZone is the account's zone. */
export const timeZone = () => zone;

const formats = new Map<string, Intl.DateTimeFormat>();

function format(kind: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
	const key = `${kind} ${zone}`;
	let f = formats.get(key);
	if (!f) {
		f = new Intl.DateTimeFormat("en-GB", { timeZone: zone, ...options });
		formats.set(key, f);
	}
	return f;
}

/** dateTime writes a time as "9 May 2026, 14:02". */
export const dateTime = (at: string | Date) =>
	format("both", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" }).format(
		new Date(at),
	);

/** dayTime writes a time as "9 May, 14:02", with the year if that is far. */
export const dayTime = (at: string | Date, now = Date.now()) =>
	Math.abs(new Date(at).getTime() - now) < 300 * 86_400_000
		? format("day and time", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }).format(
				new Date(at),
			)
		: dateTime(at);

/** exact writes a time with seconds and the zone. */
export const exact = (at: string | Date) =>
	format("exact", { dateStyle: "full", timeStyle: "long" }).format(new Date(at));

/** day writes a date as "9 May 2026". */
export const day = (at: string | Date) =>
	format("day", { day: "numeric", month: "short", year: "numeric" }).format(new Date(at));

const days = {
	full: new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", day: "numeric", month: "short", year: "numeric" }),
	short: new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", day: "numeric", month: "short" }),
};

/** calendarDay writes a day that is the same in every zone, such as "2026-05-09" or 00:00 UTC of it. */
export const calendarDay = (date: string | Date, form: "full" | "short" = "full") => days[form].format(new Date(date));

/** clock writes a time of day as "14:02". */
export const clock = (at: string | Date) =>
	format("clock", { hour: "2-digit", minute: "2-digit" }).format(new Date(at));

const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });

/** ago writes a time less than a day from now relative to it, and others as dates. */
export function ago(at: string | Date, now = Date.now()): string {
	const seconds = (new Date(at).getTime() - now) / 1000;
	const size = Math.abs(seconds);
	if (size < 45) return relative.format(0, "second");
	if (size < 3600) return relative.format(Math.round(seconds / 60), "minute");
	if (size < 86_400) return relative.format(Math.round(seconds / 3600), "hour");
	return size < 300 * 86_400 ? format("short", { day: "numeric", month: "short" }).format(new Date(at)) : day(at);
}

/** bytes writes a size. */
export function bytes(n: number): string {
	return n < 1000 ? `${n} B` : n < 1_000_000 ? `${(n / 1000).toFixed(1)} KB` : `${(n / 1_000_000).toFixed(1)} MB`;
}
