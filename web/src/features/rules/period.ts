import { catalogue } from "../../base/words/catalogue";
import { calendarDay, dateTime, timeZone } from "../../base/words/formats";
import { today as todayIn } from "../../base/words/zone";

// What relative dates mean today. Days are days of the account, as for the server.

const words = catalogue("rules.when", {
	since: "since {from}",
	before: "before {to}",
	beforeOrNever: "before {to}, or never",
	until: "until {to}",
	between: "{from} to {to}, of any year",
});

type Period = { amount?: number; unit?: string };

/** shiftDate returns the day that a period is away from another, in the direction of sign; both are at 00:00 UTC. */
function shiftDate(from: Date, { amount = 0, unit = "day" }: Period, sign: 1 | -1): Date {
	const count = amount * sign;
	const singular = unit.replace(/s$/, "");
	const to = new Date(from);
	if (singular === "day" || singular === "week") {
		to.setUTCDate(to.getUTCDate() + count * (singular === "week" ? 7 : 1));
		return to;
	}
	// A month without that day ends earlier: a month after 31 January is 28 February.
	to.setUTCDate(1);
	to.setUTCMonth(to.getUTCMonth() + count * (singular === "year" ? 12 : 1));
	const lastDay = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate();
	to.setUTCDate(Math.min(from.getUTCDate(), lastDay));
	return to;
}

/** meaning says which dates a relative operator selects today: "since 28 Oct 2026". It is empty for other operators. */
export function meaning(operator: string | undefined, value: unknown, now = new Date()): string {
	const period = value as Period | undefined;
	if (!operator || !period || typeof period !== "object") return "";
	const amount = Number(period.amount);
	if (!(amount > 0) || amount > 10_000) return "";
	const hours = period.unit?.startsWith("hour");
	const today = new Date(`${todayIn(timeZone(), now)}T00:00:00Z`);
	const shift = (sign: 1 | -1) =>
		hours
			? dateTime(new Date(now.getTime() + sign * amount * 3_600_000))
			: calendarDay(shiftDate(today, { ...period, amount }, sign));
	switch (operator) {
		case "in_the_last":
			return words.since({ from: shift(-1) });
		case "not_in_the_last":
			return words.beforeOrNever({ to: shift(-1) });
		case "more_than_ago":
			return words.before({ to: shift(-1) });
		case "in_the_next":
			return words.until({ to: shift(1) });
		case "anniversary_in_next":
			return hours
				? ""
				: words.between({
						from: calendarDay(today, "short"),
						to: calendarDay(shiftDate(today, { ...period, amount }, 1), "short"),
					});
		default:
			return "";
	}
}
