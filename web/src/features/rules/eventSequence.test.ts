import { equals, type Tests } from "../../base/testing";
import { eventSequenceWords } from "./eventSequence";
import type { Leaf } from "./leaves";

const tests: Tests = {
	"a condition on two events is a sentence"() {
		const value = { property: "value", operator: "greater_than", value: 50 };
		const paid = { property: "paid", operator: "is_set" };
		const leaf: Leaf = {
			type: "event_sequence",
			operator: "followed",
			first: { event_name: "cart_updated" },
			then: { event_name: "order_placed" },
			within: { amount: 2, unit: "day" },
		};
		const leaves: [part: Partial<Leaf>, want: string][] = [
			[{}, "cart_updated, then order_placed within 2 days"],
			[{ within: { amount: 1, unit: "hour" } }, "cart_updated, then order_placed within 1 hour"],
			[{ operator: "not_followed" }, "cart_updated, but not order_placed within 2 days"],
			[
				{ first: { event_name: "cart_updated", filters: [value, paid] } },
				"cart_updated (value is more than 50 and paid is set), then order_placed within 2 days",
			],
			[{ first: undefined, then: { event_name: "" }, within: undefined }, "…, then … within …"],
		];
		for (const [part, expected] of leaves) equals(eventSequenceWords({ ...leaf, ...part }), expected, expected);
	},
};

export default tests;
