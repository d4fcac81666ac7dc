import { equals, holds, Random, type Tests } from "../testing";
import { addDays, startOfDay, timesOf, today, wallTime } from "./zone";

/** Zones with whole, half and quarter hours, with and without changes of clocks, also by half an hour or a whole day. */
const zones = [
	"UTC",
	"Europe/Berlin",
	"Europe/Lisbon",
	"America/New_York",
	"America/St_Johns",
	"America/Sao_Paulo",
	"Africa/Casablanca",
	"Africa/Cairo",
	"Asia/Kathmandu",
	"Asia/Tehran",
	"Australia/Lord_Howe",
	"Pacific/Apia",
	"Pacific/Kiritimati",
];

const iso = (times: Date[]) => times.map((time) => time.toISOString().slice(0, 16));

const tests: Tests = {
	"clocks of a zone show a time"() {
		const instant = new Date("2026-07-01T22:45:59Z");
		const expected: [zone: string, wall: string][] = [
			["UTC", "2026-07-01T22:45"],
			["Europe/Berlin", "2026-07-02T00:45"],
			["America/New_York", "2026-07-01T18:45"],
			["Asia/Kathmandu", "2026-07-02T04:30"],
			["America/St_Johns", "2026-07-01T20:15"],
		];
		for (const [zone, local] of expected) equals(wallTime(instant, zone), local, zone);
		equals(wallTime(new Date("2026-01-01T00:00:00Z"), "UTC"), "2026-01-01T00:00", "midnight");
	},
	"a day begins when the clocks of its zone say so"() {
		const instant = new Date("2026-07-01T22:45:59Z");
		equals(
			["UTC", "Europe/Berlin", "Pacific/Kiritimati", "Pacific/Pago_Pago"].map((zone) => today(zone, instant)),
			["2026-07-01", "2026-07-02", "2026-07-02", "2026-07-01"],
		);
	},
	"clocks that are changed jump over times, and show others twice"() {
		const times: [wall: string, zone: string, want: string[]][] = [
			["2026-03-29T01:59", "Europe/Berlin", ["2026-03-29T00:59"]],
			["2026-03-29T02:30", "Europe/Berlin", []],
			["2026-03-29T03:00", "Europe/Berlin", ["2026-03-29T01:00"]],
			["2026-10-25T02:30", "Europe/Berlin", ["2026-10-25T00:30", "2026-10-25T01:30"]],
			["2026-10-25T03:00", "Europe/Berlin", ["2026-10-25T02:00"]],
			["2026-11-01T01:30", "America/New_York", ["2026-11-01T05:30", "2026-11-01T06:30"]],
			["2026-10-04T02:15", "Australia/Lord_Howe", []],
			["2026-04-05T01:45", "Australia/Lord_Howe", ["2026-04-04T14:45", "2026-04-04T15:15"]],
			["2011-12-30T12:00", "Pacific/Apia", []],
			["2011-12-31T12:00", "Pacific/Apia", ["2011-12-30T22:00"]],
		];
		for (const [local, zone, expected] of times) equals(iso(timesOf(local, zone)), expected, `${local} in ${zone}`);
	},
	"what is no time has none"() {
		for (const local of ["", "tomorrow", "2026-13-01T00:00", "2026-05-09"])
			equals(timesOf(local, "Europe/Berlin"), [], local);
	},
	"days are counted over months, leap days and years"() {
		const days: [date: string, by: number, want: string][] = [
			["2026-05-09", 0, "2026-05-09"],
			["2026-05-31", 1, "2026-06-01"],
			["2028-02-28", 1, "2028-02-29"],
			["2026-01-01", -1, "2025-12-31"],
			["2026-05-09", 365, "2027-05-09"],
			["", 1, ""],
			["soon", 1, ""],
		];
		for (const [date, count, expected] of days) equals(addDays(date, count), expected, `${count} days after ${date}`);
	},
	"a day begins with its first moment, also on days when clocks are changed"() {
		const days: [date: string, zone: string, want: string | undefined][] = [
			["2026-05-09", "UTC", "2026-05-09T00:00"],
			["2026-03-29", "Europe/Berlin", "2026-03-28T23:00"],
			["2026-03-30", "Europe/Berlin", "2026-03-29T22:00"],
			["2026-11-01", "America/New_York", "2026-11-01T04:00"],
			["2026-10-04", "Australia/Sydney", "2026-10-03T14:00"],
			["2026-04-05", "Australia/Sydney", "2026-04-04T13:00"],
			["2026-09-27", "Pacific/Auckland", "2026-09-26T12:00"],
			["2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00"],
			["2011-12-30", "Pacific/Apia", undefined],
			["", "UTC", undefined],
		];
		for (const [date, zone, expected] of days)
			equals(startOfDay(date, zone)?.toISOString().slice(0, 16), expected, `${date} in ${zone}`);
	},
	"each time is among those that its clocks show"() {
		const random = new Random(3);
		for (let round = 0; round < 400; round++) {
			const zone = random.of(zones);
			const instant = Date.UTC(2000 + random.below(30), 0, 1) + random.below(366 * 24 * 60) * 60_000;
			const found = timesOf(wallTime(new Date(instant), zone), zone).map(Number);
			holds(
				found.includes(instant),
				`${new Date(instant).toISOString()} in ${zone} is not among ${iso(found.map((time) => new Date(time)))}`,
			);
			holds(found.length <= 2, `${found.length} times in ${zone}`);
			equals(
				[...found].sort((a, b) => a - b),
				found,
				"the times in order",
			);
		}
	},
	"each time that is found is shown by the clocks"() {
		const random = new Random(4);
		for (let round = 0; round < 400; round++) {
			const zone = random.of(zones);
			const local = new Date(
				Date.UTC(2005 + random.below(25), random.below(12), 1) + random.below(31 * 24 * 4) * 900_000,
			)
				.toISOString()
				.slice(0, 16);
			for (const instant of timesOf(local, zone)) equals(wallTime(instant, zone), local, zone);
		}
	},
};

export default tests;
