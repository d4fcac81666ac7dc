import { equals, holds, Random, type Tests } from "../testing";
import { and, bytes, change, exactNumber, number, percent, pointsOf } from "./formats";

const tests: Tests = {
	"counts are written in full up to a million, and shortly from there"() {
		const counts: [n: number, short: string, long: string][] = [
			[0, "0", "0"],
			[7, "7", "7"],
			[1234, "1,234", "1,234"],
			[999_999, "999,999", "999,999"],
			[1_000_000, "1M", "1,000,000"],
			[12_345_678, "12.3M", "12,345,678"],
			[-1_500_000, "-1.5M", "-1,500,000"],
		];
		for (const [value, short, long] of counts)
			equals([number(value), exactNumber(value)], [short, long], String(value));
	},
	"differences have a sign, except none"() {
		const differences: [n: number, count: string, points: string][] = [
			[0, "0", "0.0"],
			[0.5, "+0.5", "+50.0"],
			[12, "+12", "+1,200.0"],
			[-3, "−3", "−300.0"],
			[-1234, "−1,234", "−123,400.0"],
		];
		for (const [value, count, points] of differences)
			equals([change(value), pointsOf(value)], [count, points], String(value));
		equals(pointsOf(0.0123), "+1.2");
		equals(pointsOf(-0.0001), "0.0", "a difference that rounds to nothing");
	},
	"names are joined as in a sentence"() {
		equals([and([]), and(["a"]), and(["a", "b"]), and(["a", "b", "c"])], ["", "a", "a and b", "a, b, and c"]);
	},
	"rates that are unknown are a dash"() {
		for (const rate of [null, undefined, Number.NaN]) equals(percent(rate), "–");
	},
	"rates are rounded, but never to none or to all"() {
		const rates: [rate: number, decimals: number, want: string][] = [
			[0, 1, "0.0 %"],
			[0.0001, 1, "< 0.1 %"],
			[0.0004, 1, "< 0.1 %"],
			[0.0005, 1, "0.1 %"],
			[0.1234, 1, "12.3 %"],
			[0.9994, 1, "99.9 %"],
			[0.99999, 1, "99.9 %"],
			[1, 1, "100.0 %"],
			[1.2, 1, "120.0 %"],
			[0.001, 0, "< 1 %"],
			[0.999, 0, "99 %"],
			[0.5, 0, "50 %"],
			[0.00001, 2, "< 0.01 %"],
			[0.99999, 2, "99.99 %"],
			[0.12345, 2, "12.35 %"],
		];
		for (const [rate, decimals, expected] of rates) equals(percent(rate, decimals), expected, `${rate} by ${decimals}`);
	},
	"only none is 0 %, only all is 100 %, and more is never less"() {
		const random = new Random(11);
		const value = (text: string) => (text.startsWith("<") ? 0.01 : Number(text.replace(" %", "")));
		for (let round = 0; round < 1000; round++) {
			const all = 1 + random.below(random.of([10, 1000, 1_000_000]));
			const [less, more] = [random.below(all + 1), random.below(all + 1)].sort((a, b) => a - b) as [number, number];
			const [a, b] = [percent(less / all), percent(more / all)];
			equals(a === "0.0 %", less === 0, `whether ${less} of ${all}, ${a}, is none`);
			equals(b === "100.0 %", more === all, `whether ${more} of ${all}, ${b}, is all`);
			holds(value(a) <= value(b), `${less} of ${all} is ${a}, and ${more} is ${b}`);
		}
	},
	"sizes are written by thousands"() {
		const sizes: [n: number, want: string][] = [
			[0, "0 B"],
			[999, "999 B"],
			[1000, "1.0 KB"],
			[1049, "1.0 KB"],
			[1051, "1.1 KB"],
			[999_949, "999.9 KB"],
			[999_999, "1.0 MB"],
			[1_000_000, "1.0 MB"],
			[12_345_678, "12.3 MB"],
		];
		for (const [value, expected] of sizes) equals(bytes(value), expected, String(value));
	},
};

export default tests;
