import { equals, holds, Random, type Tests } from "../testing";
import { ago, calendarDay, timeOfDay, dateTime, day, dayTime, setTimeZone, timeZone } from "./formats";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const now = Date.parse("2026-05-09T14:02:00Z");

/** inZone does something while another zone is the account's. */
function inZone<T>(zone: string, run: () => T): T {
	const before = timeZone();
	setTimeZone(zone);
	try {
		return run();
	} finally {
		setTimeZone(before);
	}
}

const tests: Tests = {
	"times are those of the account's zone"() {
		const instant = "2026-12-31T23:30:00Z";
		const zones: [zone: string, time: string, date: string, ofDay: string][] = [
			["UTC", "31 Dec 2026, 23:30", "31 Dec 2026", "23:30"],
			["Europe/Berlin", "1 Jan 2027, 00:30", "1 Jan 2027", "00:30"],
			["America/New_York", "31 Dec 2026, 18:30", "31 Dec 2026", "18:30"],
			["Asia/Kathmandu", "1 Jan 2027, 05:15", "1 Jan 2027", "05:15"],
		];
		for (const [zone, ...expected] of zones)
			equals(
				inZone(zone, () => [dateTime(instant), day(new Date(instant)), timeOfDay(instant)]),
				expected,
				zone,
			);
	},
	"days of the calendar are the same in every zone"() {
		for (const zone of ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
			equals(
				inZone(zone, () => [calendarDay("2026-05-09"), calendarDay("2026-05-09", "short")]),
				["9 May 2026", "9 May"],
				zone,
			);
	},
	"a time names its year only where that is far"() {
		equals(dayTime("2026-05-09T14:02:00Z", now), "9 May, 14:02");
		equals(dayTime("2026-01-01T08:00:00Z", now), "1 Jan, 08:00");
		equals(dayTime("2027-01-01T08:00:00Z", now), "1 Jan, 08:00");
		equals(dayTime("2025-01-01T08:00:00Z", now), "1 Jan 2025, 08:00");
		equals(dayTime("2028-01-01T08:00:00Z", now), "1 Jan 2028, 08:00");
	},
	"times near by are told from now, others by their date"() {
		const times: [from: number, want: string][] = [
			[0, "now"],
			[-44 * second, "now"],
			[44 * second, "now"],
			[-45 * second, "1 minute ago"],
			[-89 * second, "1 minute ago"],
			[-91 * second, "2 minutes ago"],
			[5 * minute, "in 5 minutes"],
			[-59 * minute, "59 minutes ago"],
			[-(59 * minute + 45 * second), "1 hour ago"],
			[-hour, "1 hour ago"],
			[-89 * minute, "1 hour ago"],
			[-91 * minute, "2 hours ago"],
			[23 * hour, "in 23 hours"],
			[-24 * hour, "8 May"],
			[24 * hour, "10 May"],
			[-299 * 24 * hour, "14 Jul"],
			[-301 * 24 * hour, "12 Jul 2025"],
		];
		for (const [from, expected] of times)
			equals(ago(new Date(now + from), now), expected, `${from / minute} minutes from now`);
	},
	"no time is told by sixty minutes or more"() {
		const random = new Random(5);
		for (let round = 0; round < 500; round++) {
			const from = random.below(24 * hour) - 12 * hour;
			const text = ago(new Date(now + from), now);
			const [, count] = /(\d+) minutes?/.exec(text) ?? [];
			holds(count === undefined || Number(count) < 60, `${from} milliseconds from now are ${text}`);
		}
	},
};

export default tests;
