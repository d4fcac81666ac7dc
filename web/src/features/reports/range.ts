import { calendarDay } from "../../base/words/formats";
import { addDays, today } from "../../base/words/zone";

/** The ranges that can be chosen by one press, in days. */
export const presets = [7, 30, 90, 365] as const;

/** The days of a range if none is chosen, as the API takes them. */
export const defaultDays = 30;

/** The most days of a range. */
export const maxDays = 400;

const dayLength = 86_400_000;

/** daysOf counts the days from one to another, both included. */
export const daysOf = (from: string, to: string) => Math.round((Date.parse(to) - Date.parse(from)) / dayLength) + 1;

export type Range = { from: string; to: string; days: number | null };

/** rangeOf reads the range that an address names: `from` and `to`, or `days` until today in the account's zone. */
export function rangeOf(params: URLSearchParams, zone: string, now = new Date()): Range {
	const from = params.get("from");
	const to = params.get("to");
	if (from && to) return { from, to, days: null };
	const days = presets.find((preset) => String(preset) === params.get("days")) ?? defaultDays;
	const end = today(zone, now);
	return { from: addDays(end, 1 - days), to: end, days };
}

/** dayName writes a day. Days of reports are dates without a time, so no zone moves them. */
export const dayName = (date: string) => calendarDay(date);

/** tick writes a day on the axis of a plot. */
export const tick = (date: string) => calendarDay(date, "short");
