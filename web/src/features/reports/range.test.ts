import { equals, Random, type Tests } from "../../base/testing";
import { addDays } from "../../base/words/zone";
import { daysOf, presets, rangeOf } from "./range";

const now = new Date("2026-05-09T22:30:00Z");
const range = (search: string, zone = "UTC") => rangeOf(new URLSearchParams(search), zone, now);

const tests: Tests = {
	"a range ends today, in the account's zone"() {
		equals(range("?days=7"), { from: "2026-05-03", to: "2026-05-09", days: 7 });
		equals(range("?days=7", "Europe/Berlin"), { from: "2026-05-04", to: "2026-05-10", days: 7 });
		equals(range("?days=365"), { from: "2025-05-10", to: "2026-05-09", days: 365 });
	},
	"a range that cannot be chosen is of thirty days"() {
		for (const search of ["", "?days=", "?days=8", "?days=-7", "?days=all", "?from=2026-01-01", "?to=2026-01-01"])
			equals(range(search), { from: "2026-04-10", to: "2026-05-09", days: 30 }, search);
	},
	"chosen days come before a preset"() {
		equals(range("?from=2026-01-01&to=2026-01-31&days=7"), { from: "2026-01-01", to: "2026-01-31", days: null });
	},
	"a range has as many days as it is called"() {
		for (const days of presets) {
			const { from, to } = range(`?days=${days}`);
			equals(daysOf(from, to), days);
		}
	},
	"days are counted with both ends, over changes of clocks and leap days"() {
		const ranges: [from: string, to: string, want: number][] = [
			["2026-05-09", "2026-05-09", 1],
			["2026-03-28", "2026-03-30", 3],
			["2028-02-28", "2028-03-01", 3],
			["2026-05-09", "2026-05-08", 0],
			["2026-05-09", "2026-05-01", -7],
		];
		for (const [from, to, expected] of ranges) equals(daysOf(from, to), expected, `${from} to ${to}`);
	},
	"a day that is moved there and back is the same"() {
		const random = new Random(3);
		for (let round = 0; round < 300; round++) {
			const date = new Date(Date.UTC(2020 + random.below(10), random.below(12), 1 + random.below(31)))
				.toISOString()
				.slice(0, 10);
			const days = random.below(1000) - 500;
			equals(addDays(addDays(date, days), -days), date);
			if (days >= 0) equals(daysOf(date, addDays(date, days)), days + 1, `from ${date}`);
		}
	},
};

export default tests;
