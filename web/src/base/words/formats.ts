import { language, languages } from "./language";
import type { Formatter } from "./message";

// Numbers, dates and lists in the language of the application.

/** locale is that of numbers, lists and names. */
export const locale = () => languages[language()].numbers;

const cache = new Map<string, unknown>();

/** cached returns what was made of options for the current language, which takes long, and makes it if need be. */
export function cached<T>(kind: string, make: (locale: string) => T): T {
	const key = `${kind} ${language()}`;
	let format = cache.get(key) as T | undefined;
	if (!format) {
		format = make(locale());
		cache.set(key, format);
	}
	return format;
}

const numbers = (options: Intl.NumberFormatOptions = {}) =>
	cached(`number ${JSON.stringify(options)}`, (language) => new Intl.NumberFormat(language, options));

/** number writes a count in full up to 999,999. */
export const number = (value: number) =>
	Math.abs(value) > 999_999
		? numbers({ notation: "compact", maximumFractionDigits: 1 }).format(value)
		: exactNumber(value);

/** exactNumber writes a count with all its digits. */
export const exactNumber = (value: number) => numbers().format(value);

/** decimal writes a number with some decimals. */
export const decimal = (value: number, decimals: number) =>
	numbers({ minimumFractionDigits: decimals, maximumFractionDigits: decimals, useGrouping: false }).format(value);

/** change writes a difference with its sign. */
export const change = (value: number) => numbers({ signDisplay: "exceptZero" }).format(value).replace("-", "−");

/** pointsOf writes a difference of two rates with its sign, in percentage points. */
export const pointsOf = (difference: number) =>
	numbers({ maximumFractionDigits: 1, minimumFractionDigits: 1, signDisplay: "exceptZero" })
		.format(difference * 100)
		.replace("-", "−");

/** percent writes a rate between 0 and 1 with one decimal, without rounding to 0 or to 100. */
export function percent(rate: number | null | undefined, decimals = 1): string {
	if (rate === null || rate === undefined || Number.isNaN(rate)) return "–";
	const smallest = 10 ** -decimals;
	const value = rate * 100;
	const written = (value: number) => decimal(value, decimals) + (language() === "en" ? " %" : "\u00a0%");
	if (value > 0 && value < smallest / 2) return `< ${written(smallest)}`;
	if (value < 100 && value >= 100 - smallest / 2) return written(100 - smallest);
	return written(value);
}

/** bytes writes a size. */
export function bytes(size: number): string {
	if (size < 1000) return `${size} B`;
	return size < 999_950 ? `${decimal(size / 1000, 1)} KB` : `${decimal(size / 1_000_000, 1)} MB`;
}

/** and joins names: "a, b and c". */
export const and = (names: readonly string[]) =>
	cached("list", (language) => new Intl.ListFormat(language, { type: "conjunction" })).format(names);

/** inSentence writes a label as it stands within a sentence: in English in small letters but for abbreviations, in German as it is. */
export const inSentence = (label: string) =>
	language() === "en" ? label.replace(/\S+/g, (word) => (/^[A-Z]{2}/.test(word) ? word : word.toLowerCase())) : label;

let zone = "UTC";

/** setTimeZone names the account's zone, in which times are shown. */
export function setTimeZone(name: string) {
	zone = name;
}

/** timeZone is the account's zone. */
export const timeZone = () => zone;

/** dates returns a format of dates and times, in the account's zone unless the options name another. */
export function dates(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
	const all = { timeZone: zone, ...options };
	return cached(`date ${JSON.stringify(all)}`, () => new Intl.DateTimeFormat(languages[language()].dates, all));
}

const date = { day: "numeric", month: "short", year: "numeric" } as const;
const dateInYear = { day: "numeric", month: "short" } as const;
const time = { hour: "2-digit", minute: "2-digit" } as const;

/** dateTime writes a time as "9 May 2026, 14:02", in the account's zone or another. */
export const dateTime = (instant: string | Date, timeZone = zone) =>
	dates({ ...date, ...time, timeZone }).format(new Date(instant));

/** dayTime writes a time as "9 May, 14:02", with the year if that is far. */
export const dayTime = (instant: string | Date, now = Date.now()) =>
	Math.abs(new Date(instant).getTime() - now) < 300 * 86_400_000
		? dates({ ...dateInYear, ...time }).format(new Date(instant))
		: dateTime(instant);

/** exact writes a time with seconds and the zone. */
export const exact = (instant: string | Date) =>
	dates({ dateStyle: "full", timeStyle: "long" }).format(new Date(instant));

/** day writes a date as "9 May 2026". */
export const day = (instant: string | Date) => dates(date).format(new Date(instant));

/** calendarDay writes a day that is the same in every zone, such as "2026-05-09" or 00:00 UTC of it. */
export const calendarDay = (instant: string | Date, form: "full" | "short" = "full") =>
	dates({ ...(form === "full" ? date : dateInYear), timeZone: "UTC" }).format(new Date(instant));

/** timeOfDay writes a time of day as "14:02". */
export const timeOfDay = (instant: string | Date) => dates(time).format(new Date(instant));

/** clockWithSeconds writes a time of day in the zone of the browser as "14:02:09". */
export const clockWithSeconds = (instant: Date) =>
	dates({ ...time, second: "2-digit", timeZone: undefined }).format(instant);

/** ago writes a time less than a day from now relative to it, and others as dates. */
export function ago(instant: string | Date, now = Date.now()): string {
	const relative = cached("ago", (language) => new Intl.RelativeTimeFormat(language, { numeric: "auto" }));
	const seconds = (new Date(instant).getTime() - now) / 1000;
	const size = Math.abs(seconds);
	if (size < 45) return relative.format(0, "second");
	const minutes = Math.round(seconds / 60);
	if (Math.abs(minutes) < 60) return relative.format(minutes, "minute");
	if (size < 86_400) return relative.format(Math.round(seconds / 3600), "hour");
	return size < 300 * 86_400 ? dates(dateInYear).format(new Date(instant)) : day(instant);
}

const writers: { [kind: string]: (value: never) => string } = {
	"": (value: string | number) =>
		typeof value === "number" ? numbers({ useGrouping: false, maximumFractionDigits: 20 }).format(value) : value,
	"#": number,
	number: exactNumber,
	"number short": number,
	"number percent": percent,
	"number bytes": bytes,
	list: and,
	date: day,
	time: timeOfDay,
	datetime: dateTime,
};

/** formatter writes the values of messages. */
export const formatter: Formatter = {
	category: (value) => cached("plural", (language) => new Intl.PluralRules(language)).select(value),
	value(value, kind, style) {
		const writer = writers[style ? `${kind} ${style}` : kind];
		if (!writer) throw new Error(`no way to write ${kind} ${style}`);
		return writer(value as never);
	},
};
