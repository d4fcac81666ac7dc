import { catalogue } from "../../base/words/catalogue";
import { calendarDay, dateTime, timeZone } from "../../base/words/formats";

// What relative dates mean today. Days are days of the account, as for the server.

const words = catalogue("rules.when", {
	since: "since {from}",
	before: "before {to}",
	beforeOrNever: "before {to}, or never",
	until: "until {to}",
	between: "{from} to {to}, of any year",
});

type Period = { amount?: number; unit?: string };

/** away returns the day that a period is away from another, in the direction of sign; both are at 00:00 UTC. */
function away(from: Date, { amount = 0, unit = "day" }: Period, sign: 1 | -1): Date {
	const n = amount * sign;
	const of = unit.replace(/s$/, "");
	const to = new Date(from);
	if (of === "day" || of === "week") {
		to.setUTCDate(to.getUTCDate() + n * (of === "week" ? 7 : 1));
		return to;
	}
	to.setUTCDate(1);
	to.setUTCMonth(to.getUTCMonth() + n * (of === "year" ? 12 : 1));
	const last = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate();
	to.setUTCDate(Math.min(from.getUTCDate(), last));
	return to;
}

/** meaning says which dates a relative operator selects today: "since 28 Oct 2026". It is empty for other operators. */
export function meaning(operator: string | undefined, value: unknown, now = new Date()): string {
	const p = value as Period | undefined;
	if (!operator || !p || typeof p !== "object" || !(Number(p.amount) > 0) || Number(p.amount) > 10_000) return "";
	const hours = p.unit?.startsWith("hour");
	const today = new Date(`${new Intl.DateTimeFormat("en-CA", { timeZone: timeZone() }).format(now)}T00:00:00Z`);
	const at = (sign: 1 | -1) =>
		hours ? dateTime(new Date(now.getTime() + sign * Number(p.amount) * 3_600_000)) : calendarDay(away(today, p, sign));
	switch (operator) {
		case "in_the_last":
			return words.since({ from: at(-1) });
		case "not_in_the_last":
			return words.beforeOrNever({ to: at(-1) });
		case "more_than_ago":
			return words.before({ to: at(-1) });
		case "in_the_next":
			return words.until({ to: at(1) });
		case "anniversary_in_next":
			return hours
				? ""
				: words.between({ from: calendarDay(today, "short"), to: calendarDay(away(today, p, 1), "short") });
		default:
			return "";
	}
}
