import { catalogue } from "../../base/words/catalogue";
import { calendarDay } from "../../base/words/formats";
import type { Count, Period, Window } from "./leaves";

// How often something happened, and when, in words.

const words = catalogue("rules.occurrence", {
	counts: {
		at_least: "at least {count, plural, =1 {once} other {# times}}",
		at_most: "at most {count, plural, =1 {once} other {# times}}",
		exactly: "exactly {count, plural, =1 {once} other {# times}}",
	},
	last: {
		hour: "in the last {count, plural, =1 {hour} other {# hours}}",
		day: "in the last {count, plural, =1 {day} other {# days}}",
		week: "in the last {count, plural, =1 {week} other {# weeks}}",
		month: "in the last {count, plural, =1 {month} other {# months}}",
		year: "in the last {count, plural, =1 {year} other {# years}}",
	},
	since: "since {from}",
	until: "until {to}",
	between: "between {from} and {to}",
});

/** countText writes how often something happened: "at least 2 times"; undefined if that is not complete. */
export function countText({ operator, value }: Count): string | undefined {
	return operator in words.counts && Number.isFinite(value)
		? words.counts[operator as keyof typeof words.counts]({ count: value })
		: undefined;
}

function lastText({ amount, unit }: Period): string | undefined {
	const singular = unit.replace(/s$/, "");
	return singular in words.last && amount > 0
		? words.last[singular as keyof typeof words.last]({ count: amount })
		: undefined;
}

const dayText = (day: string) => (/^\d{4}-\d\d-\d\d/.test(day) ? calendarDay(day.slice(0, 10)) : day);

/** windowText writes when something happened: "in the last 30 days"; undefined if that is not complete. */
export function windowText({ in_the_last, from, to }: Window): string | undefined {
	if (in_the_last) return lastText(in_the_last);
	if (from) return to ? words.between({ from: dayText(from), to: dayText(to) }) : words.since({ from: dayText(from) });
	return to ? words.until({ to: dayText(to) }) : undefined;
}
