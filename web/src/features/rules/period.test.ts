import { setTimeZone, timeZone } from "../../base/words/formats";
import { equals, holds, Random, type Tests } from "../../base/testing";
import { meaning } from "./period";

const now = new Date("2026-03-31T22:30:00Z");

/** periodText returns what an operator and a period mean in a zone. */
function periodText(operator: string | undefined, value: unknown, zone = "UTC", instant = now): string {
	const before = timeZone();
	setTimeZone(zone);
	try {
		return meaning(operator, value, instant);
	} finally {
		setTimeZone(before);
	}
}

const days = (amount: unknown) => ({ amount, unit: "day" });

const tests: Tests = {
	"relative operators mean dates of today"() {
		const cases: [operator: string, amount: number, unit: string, want: string][] = [
			["in_the_last", 30, "day", "since 1 Mar 2026"],
			["in_the_last", 1, "days", "since 30 Mar 2026"],
			["in_the_last", 2, "week", "since 17 Mar 2026"],
			["in_the_last", 1, "month", "since 28 Feb 2026"],
			["in_the_last", 13, "months", "since 28 Feb 2025"],
			["in_the_last", 1, "year", "since 31 Mar 2025"],
			["in_the_last", 24, "hour", "since 30 Mar 2026, 22:30"],
			["in_the_last", 3, "hours", "since 31 Mar 2026, 19:30"],
			["not_in_the_last", 7, "day", "before 24 Mar 2026, or never"],
			["more_than_ago", 7, "day", "before 24 Mar 2026"],
			["in_the_next", 1, "month", "until 30 Apr 2026"],
			["in_the_next", 2, "hour", "until 1 Apr 2026, 00:30"],
			["anniversary_in_next", 7, "day", "31 Mar to 7 Apr, of any year"],
			["anniversary_in_next", 7, "hour", ""],
		];
		for (const [operator, amount, unit, expected] of cases)
			equals(periodText(operator, { amount, unit }), expected, `${operator} ${amount} ${unit}`);
	},
	"days are those of the account"() {
		const zones: [zone: string, want: string][] = [
			["UTC", "since 30 Mar 2026"],
			["Europe/Berlin", "since 31 Mar 2026"],
			["America/Los_Angeles", "since 30 Mar 2026"],
			["Pacific/Kiritimati", "since 31 Mar 2026"],
		];
		for (const [zone, expected] of zones) equals(periodText("in_the_last", days(1), zone), expected, zone);
	},
	"29 February is the 28th in other years"() {
		const leapDay = new Date("2028-02-29T12:00:00Z");
		equals(periodText("in_the_last", { amount: 1, unit: "year" }, "UTC", leapDay), "since 28 Feb 2027");
		equals(periodText("in_the_last", { amount: 4, unit: "year" }, "UTC", leapDay), "since 29 Feb 2024");
	},
	"other operators, and values that are no period, mean none"() {
		for (const operator of [undefined, "", "on", "between", "is_set"])
			equals(periodText(operator, days(3)), "", operator);
		for (const value of [undefined, null, "", "3", 3, {}, days(0), days(-1), days(10_001), days("x"), days(null)])
			equals(periodText("in_the_last", value), "", JSON.stringify(value));
	},
	"an amount that is typed as text counts as its number"() {
		equals(periodText("in_the_last", days("30")), periodText("in_the_last", days(30)));
		equals(periodText("in_the_next", { amount: "2", unit: "month" }), "until 31 May 2026");
	},
	"a period without a unit is of days, and ten thousand of them are the most"() {
		equals(periodText("in_the_last", { amount: 7 }), periodText("in_the_last", days(7)));
		equals(periodText("in_the_last", days(10_000)), "since 13 Nov 1998");
	},
	"a longer period reaches further back, and as far ahead"() {
		const random = new Random(2);
		const dayOf = (text: string) => Date.parse(`${text.replace(/^\w+ /, "")} UTC`);
		for (let round = 0; round < 300; round++) {
			const instant = new Date(
				Date.UTC(2020 + random.below(10), random.below(12), 1 + random.below(28), random.below(24)),
			);
			const unit = random.of(["day", "week", "month", "year"]);
			const amount = 1 + random.below(20);
			const startOf = (amount: number) => dayOf(periodText("in_the_last", { amount, unit }, "UTC", instant));
			const endOf = (amount: number) => dayOf(periodText("in_the_next", { amount, unit }, "UTC", instant));
			holds(startOf(amount + 1) < startOf(amount), `${amount + 1} ${unit} reach less far back than ${amount}`);
			holds(endOf(amount + 1) > endOf(amount), `${amount + 1} ${unit} reach less far ahead than ${amount}`);
			holds(
				startOf(amount) < instant.getTime() && instant.getTime() < endOf(amount),
				`${amount} ${unit} do not include today`,
			);
		}
	},
};

export default tests;
