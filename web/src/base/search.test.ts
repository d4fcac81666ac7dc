import { changedSearch } from "./search";
import { equals, Random, type Tests } from "./testing";

const tests: Tests = {
	"parameters are changed, added and removed"() {
		const cases: [search: string, changes: { [name: string]: string | null }, want: string][] = [
			["", {}, ""],
			["", { tab: "links" }, "?tab=links"],
			["?tab=links", { tab: "people" }, "?tab=people"],
			["?tab=links", { tab: null }, ""],
			["?tab=links", { tab: "" }, ""],
			["?a=1&b=2", { b: null, c: "3" }, "?a=1&c=3"],
			["?a=1&b=2", { a: "9" }, "?a=9&b=2"],
			["?a=1", { gone: null }, "?a=1"],
			["", { q: "a b&c=d" }, "?q=a+b%26c%3Dd"],
		];
		for (const [search, changes, expected] of cases)
			equals(changedSearch(search, changes), expected, `${search} with ${JSON.stringify(changes)}`);
	},
	"what is set is read again, and changing nothing changes nothing"() {
		const random = new Random(8);
		const text = () => random.list(5, () => random.of(["a", "ä", " ", "&", "=", "+", "%", "#", "?"])).join("");
		for (let round = 0; round < 200; round++) {
			const [value, other] = [`x${text()}`, `y${text()}`];
			const search = changedSearch("", { value, other });
			const params = new URLSearchParams(search);
			equals([params.get("value"), params.get("other")], [value, other]);
			equals(changedSearch(search, { value }), search);
		}
	},
};

export default tests;
