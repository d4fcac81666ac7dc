import { equals, type Tests } from "../base/testing";
import { bestFirst, grouped, matchRank } from "./matches";

const tests: Tests = {
	"a page is found by its name and by other words for it"() {
		const cases: [typed: string, name: string, others: string, want: number][] = [
			["suppr", "Suppressions", "bounces", 2],
			["PRESS", "Suppressions", "bounces", 2],
			["bounce", "Suppressions", "bounces unsubscribed", 1],
			["unsub", "Suppressions", "bounces unsubscribed", 1],
			["ounce", "Suppressions", "bounces", 0],
			["time zone", "Account settings", "time zone, postal address", 1],
			["timezone", "Account settings", "time zone timezone", 1],
			["zone time", "Account settings", "time zone", 1],
			["time travel", "Account settings", "time zone", 0],
			["keys api", "API keys", "", 2],
			["account zone", "Account settings", "time zone", 1],
			["a/b", "Broadcasts", "a/b test", 1],
			["", "Home", "", 2],
			["  ", "Home", "", 2],
			["…", "Home", "start", 0],
		];
		for (const [search, name, others, expected] of cases)
			equals(matchRank(search, name, others), expected, `${search} in ${name}`);
	},
	"names come before other words"() {
		const all = [
			{ title: "Jobs", keywords: "import export" },
			{ title: "Import contacts", keywords: "csv" },
			{ title: "Broadcasts", keywords: "send" },
			{ title: "Important", keywords: "" },
		];
		equals(
			bestFirst("import", all).map((entry) => entry.title),
			["Import contacts", "Important", "Jobs"],
		);
		equals(bestFirst("", all).length, 4);
		equals(bestFirst("nothing", all), []);
	},
	"results of one kind stand together, and the best stays first"() {
		const result = (kind: string, title: string) => ({ kind, title });
		equals(
			grouped([result("Actions", "a"), result("Pages", "b"), result("Actions", "c")]).map((group) => [
				group.kind,
				group.results.map((one) => one.title).join(""),
			]),
			[
				["Actions", "ac"],
				["Pages", "b"],
			],
		);
	},
};

export default tests;
