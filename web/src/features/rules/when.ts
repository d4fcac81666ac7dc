import { calendarDay, catalogue, dateTime, timeZone } from "../../base/words/catalogue";

// What relative dates mean today. Days are days of the account, as for the server.

const words = catalogue({
	since: (from: string) => `since ${from}`,
	before: (to: string) => `before ${to}`,
	beforeOrNever: (to: string) => `before ${to}, or never`,
	until: (to: string) => `until ${to}`,
	between: (from: string, to: string) => `${from} to ${to}, of any year`,
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
			return words.since(at(-1));
		case "not_in_the_last":
			return words.beforeOrNever(at(-1));
		case "more_than_ago":
			return words.before(at(-1));
		case "in_the_next":
			return words.until(at(1));
		case "anniversary_in_next":
			return hours ? "" : words.between(calendarDay(today, "short"), calendarDay(away(today, p, 1), "short"));
		default:
			return "";
	}
}
