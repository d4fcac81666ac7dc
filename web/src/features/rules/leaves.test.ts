import { equals, holds, type Tests } from "../../base/testing";
import { operators } from "./fields";
import { isNegative, type Kind, kindOf, leafOperators, leafWords, newLeaf } from "./leaves";

const kinds = Object.keys(leafWords.kinds) as Kind[];

const tests: Tests = {
	"a new leaf is of its kind, with an operator of that kind"() {
		for (const kind of kinds) {
			const leaf = newLeaf(kind);
			equals(kindOf(leaf), kind, "the kind");
			const all: readonly string[] = kind === "field" ? operators.text : leafOperators[kind];
			holds(all.includes(leaf.operator ?? ""), `${leaf.operator} is no operator of ${kind}`);
		}
	},
	"a new leaf has what its kind needs"() {
		const window = { in_the_last: { amount: 30, unit: "day" } };
		const leaves: { [K in Exclude<Kind, "field">]: object } = {
			list: { type: "list", operator: "in", segment_keys: [] },
			segment: { type: "segment", operator: "in", segment_keys: [] },
			email: { type: "email", operator: "did", event: "clicked", window },
			broadcast: { type: "broadcast", operator: "did", event: "opened" },
			sequence_email: { type: "sequence_email", operator: "did", event: "opened" },
			event: { type: "event", operator: "did", event_name: "", window },
			event_sequence: {
				type: "event_sequence",
				operator: "followed",
				first: { event_name: "" },
				then: { event_name: "" },
				within: { amount: 7, unit: "day" },
				window,
			},
			page_view: { type: "page_view", operator: "did", url: "", match: "contains", window },
			form: { type: "form", operator: "did" },
			subscription: { type: "subscription", operator: "subscribed" },
			sequence: { type: "sequence", operator: "active" },
			suppression: { type: "suppression", operator: "listed" },
			trigger_event: { type: "trigger_event", property: "", operator: "equals", value: "" },
		};
		for (const [kind, expected] of Object.entries(leaves)) equals(newLeaf(kind as Kind), expected, kind);
	},
	"a leaf without a type asks about a field"() {
		equals(kindOf({ field: "email", operator: "is_set" }), "field");
	},
	"a new condition on a field has none yet"() {
		equals(newLeaf("field"), { field: "", operator: "equals" });
	},
	"one of two operators that are opposites is negative"() {
		// Who never had the first of two events matches neither operator.
		const withoutOpposite: Kind[] = ["trigger_event", "event_sequence"];
		for (const kind of kinds) {
			if (kind === "field") continue;
			const negative = leafOperators[kind].filter((operator) => isNegative({ type: kind, operator }));
			equals(negative.length, withoutOpposite.includes(kind) ? 0 : 1, `negative operators of ${kind}`);
		}
	},
	"a leaf is negative if it matches those to whom something does not apply"() {
		const operatorsOf: [operator: string | undefined, want: boolean][] = [
			["not_in", true],
			["did_not", true],
			["never", true],
			["has_none", true],
			["not_contains", true],
			["in", false],
			["did", false],
			["ever", false],
			["is_not_set", false],
			["less_than", false],
			[undefined, false],
		];
		for (const [operator, expected] of operatorsOf)
			equals(isNegative({ field: "x", operator }), expected, String(operator));
	},
};

export default tests;
