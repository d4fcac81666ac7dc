import { equals, type Tests } from "../../base/testing";
import { countText, windowText } from "./occurrence";
import type { Window } from "./leaves";

const tests: Tests = {
	"how often something happened has words"() {
		equals(countText({ operator: "at_least", value: 1 }), "at least once");
		equals(countText({ operator: "exactly", value: 0 }), "exactly 0 times");
		equals(countText({ operator: "at_most", value: Number.NaN }), undefined);
	},
	"when something happened has words"() {
		const windows: [window: Window, want: string | undefined][] = [
			[{ in_the_last: { amount: 1, unit: "month" } }, "in the last month"],
			[{ in_the_last: { amount: 12, unit: "hours" } }, "in the last 12 hours"],
			[{ in_the_last: { amount: Number.NaN, unit: "day" } }, undefined],
			[{ from: "2026-05-09" }, "since 9 May 2026"],
			[{ to: "2026-05-09T10:00:00Z" }, "until 9 May 2026"],
			[{ from: "2026-05-09", to: "2026-05-10" }, "between 9 May 2026 and 10 May 2026"],
			[{}, undefined],
		];
		for (const [window, expected] of windows) equals(windowText(window), expected, JSON.stringify(window));
	},
};

export default tests;
