import { equals, holds, type Tests } from "../../base/testing";
import { fieldsOf } from "./fields";
import { type Kind, type Leaf, leafOperators, leafWords, mailEvents, newLeaf } from "./leaves";
import { firstUnset, partsOf, plain } from "./pieces";
import { type Known, sentenceOf, sentenceWords } from "./sentences";

const id = "0190b0a0-0000-7000-8000-000000000001";
const known: Known = {
	fields: fieldsOf([{ field_key: "size", name: "Size", field_type: "number", enum_values: [] }], [], []),
	segments: new Map([
		["news", "Newsletter"],
		["crew", "Crew"],
	]),
	types: new Map([["offers", "Offers"]]),
	categories: new Map([[id, "Tips"]]),
	broadcasts: new Map([[id, "Spring"]]),
	sequences: new Map([[id, "Welcome"]]),
	forms: new Map([["signup", "Sign-up"]]),
};
const month = { in_the_last: { amount: 30, unit: "day" } };
const text = (leaf: Leaf) => plain(sentenceOf(leaf, known));
const ids = (leaf: Leaf) => partsOf(sentenceOf(leaf, known)).map((part) => part.id);

const tests: Tests = {
	"each type of condition is a sentence"() {
		const value = { property: "value", operator: "greater_than", value: 60 };
		const paid = { property: "paid", operator: "is_set" };
		const leaves: [leaf: Leaf, want: string][] = [
			[{ field: "city", operator: "in", value: ["Kiel", "Jena"] }, "City is Kiel or Jena"],
			[{ field: "city", operator: "is_set" }, "City is set"],
			[{ field: "tags", operator: "has_all", value: ["a", "b", "c", "d", "e"] }, "Tags has all of a, b, c and 2 more"],
			[
				{ field: "created_at", operator: "more_than_ago", value: { amount: 1, unit: "week" } },
				"Created is more than 1 week ago",
			],
			[{ field: "custom_fields.size", operator: "between", value: [1, 2.5] }, "Size is between 1 and 2.5"],
			[{ type: "list", operator: "in", segment_keys: ["news", "crew"] }, "Is in list Newsletter or Crew"],
			[
				{ type: "list", operator: "not_in", segment_keys: ["gone"], added: month },
				"Is not in list gone added in the last 30 days",
			],
			[{ type: "segment", operator: "in", segment_keys: ["crew"] }, "Is in segment Crew"],
			[{ type: "email", operator: "did", event: "opened", window: month }, "Opened any email in the last 30 days"],
			[
				{
					type: "email",
					operator: "did",
					event: "clicked",
					email_type_keys: ["offers"],
					count: { operator: "at_least", value: 2 },
					level: "apparent",
				},
				"Clicked in an email of the type Offers at least 2 times, including machines",
			],
			[
				{ type: "email", operator: "did", event: "complained", window: month },
				"Reported any email as spam in the last 30 days",
			],
			[{ type: "email", operator: "did_not", event: "bounced" }, "Did not have any email bounce"],
			[{ type: "broadcast", operator: "did_not", event: "opened", broadcast_id: id }, "Did not open Spring"],
			[
				{ type: "broadcast", operator: "did_not", event: "recipient", broadcast_id: id },
				"Was not a recipient of Spring",
			],
			[
				{ type: "broadcast", operator: "did", event: "clicked", broadcast_id: id, link_url: "https://a.example" },
				"Clicked in Spring through the link https://a.example",
			],
			[
				{ type: "broadcast", operator: "did", event: "sent", broadcast_id: id.replace("1", "2"), variant_id: "a" },
				"Was sent (deleted) in one version",
			],
			[
				{ type: "sequence_email", operator: "did", event: "opened", sequence_id: id },
				"Opened an email of sequence Welcome",
			],
			[
				{ type: "sequence_email", operator: "did", event: "opened", sequence_id: id, node_id: "n1" },
				"Opened one email of sequence Welcome",
			],
			[
				{ type: "sequence_email", operator: "did", event: "complained", sequence_id: id, node_id: "n1" },
				"Reported one email of sequence Welcome as spam",
			],
			[
				{
					type: "event",
					operator: "did",
					event_name: "order_placed",
					count: { operator: "at_least", value: 2 },
					window: month,
					filters: [value, paid],
				},
				"order_placed happened at least 2 times in the last 30 days where value is more than 60 and paid is set",
			],
			[{ type: "event", operator: "did_not", event_name: "order_placed" }, "order_placed did not happen"],
			[
				{
					type: "event_sequence",
					operator: "not_followed",
					first: { event_name: "cart_updated", filters: [value] },
					then: { event_name: "order_placed", filters: [paid] },
					within: { amount: 2, unit: "day" },
					window: { from: "2026-01-01", to: "2026-02-01" },
				},
				"Did cart_updated between 1 Jan 2026 and 1 Feb 2026 where value is more than 60, but not order_placed where paid is set within 2 days",
			],
			[
				{
					type: "event_sequence",
					operator: "followed",
					first: { event_name: "a" },
					then: { event_name: "b" },
					within: { amount: 1, unit: "hour" },
				},
				"Did a, then b within 1 hour",
			],
			[
				{ type: "page_view", operator: "did", url: "/pricing", match: "contains", window: { from: "2026-01-01" } },
				"Visited a page whose URL contains /pricing since 1 Jan 2026",
			],
			[{ type: "form", operator: "did_not", form_slug: "signup" }, "Did not submit the form Sign-up"],
			[{ type: "subscription", operator: "subscribed", email_type_key: "offers" }, "Is subscribed to Offers"],
			[{ type: "subscription", operator: "unsubscribed", category_id: id }, "Is not subscribed to Tips"],
			[{ type: "sequence", operator: "exited", sequence_id: id }, "Left early from sequence Welcome"],
			[{ type: "suppression", operator: "listed" }, "Is on the suppression list"],
			[
				{ type: "trigger_event", property: "value", operator: "greater_than", value: 60 },
				"In the event that started it, value is more than 60",
			],
		];
		for (const [leaf, expected] of leaves) equals(text(leaf), expected, JSON.stringify(leaf));
		const shown = new Set(leaves.map(([leaf]) => leaf.type ?? "field"));
		for (const kind of Object.keys(leafWords.kinds)) holds(shown.has(kind), `no sentence of ${kind}`);
	},
	"what a new condition is about has to be chosen first"() {
		const first: { [K in Kind]: string | undefined } = {
			field: "field",
			list: "segment_keys",
			segment: "segment_keys",
			email: undefined,
			broadcast: "broadcast_id",
			sequence_email: "sequence_id",
			event: "event_name",
			event_sequence: "first.event_name",
			page_view: "url",
			form: "form_slug",
			subscription: "email_type_key",
			sequence: "sequence_id",
			suppression: undefined,
			trigger_event: "property",
		};
		for (const [kind, part] of Object.entries(first))
			equals(firstUnset(sentenceOf(newLeaf(kind as Kind), known)), part, kind);
	},
	"parts stand in the order of the sentence, and those of properties have the path of their event"() {
		const filters = [{ property: "a", operator: "equals", value: "" }];
		equals(
			ids({ type: "event_sequence", operator: "followed", first: { event_name: "x", filters }, then: { filters } }),
			[
				"first.event_name",
				"first.filters[0].property",
				"first.filters[0].operator",
				"first.filters[0].value",
				"operator",
				"then.event_name",
				"then.filters[0].property",
				"then.filters[0].operator",
				"then.filters[0].value",
				"within",
			],
		);
		equals(ids({ type: "email", operator: "did", event: "opened", window: month, level: "apparent" }), [
			"event",
			"email_type_keys",
			"window",
			"level",
		]);
		equals(ids({ field: "", operator: "equals" }), ["field"]);
		equals(ids({ field: "city", operator: "is_set" }), ["field", "operator"]);
	},
	"a value that is not complete has to be chosen"() {
		const leaves: [operator: string, value: unknown, isSet: boolean][] = [
			["equals", "", false],
			["equals", null, false],
			["equals", 0, true],
			["equals", false, true],
			["in", [], false],
			["in", [""], false],
			["in", ["a"], true],
			["between", ["", "2026-01-01"], false],
			["between", [1, 2], true],
			["in_the_last", { amount: Number.NaN, unit: "day" }, false],
			["in_the_last", { amount: 3, unit: "day" }, true],
		];
		for (const [operator, value, isSet] of leaves)
			equals(
				firstUnset(sentenceOf({ field: "city", operator, value }, known)) === undefined,
				isSet,
				`${operator} ${JSON.stringify(value)} is set`,
			);
		equals(
			firstUnset(
				sentenceOf({ type: "page_view", url: "/", window: { in_the_last: { amount: 0, unit: "day" } } }, known),
			),
			"window",
		);
	},
	"names that are not loaded yet are no ids"() {
		equals(
			plain(sentenceOf({ type: "broadcast", operator: "did", event: "opened", broadcast_id: id }, { fields: [] })),
			"Opened …",
		);
	},
	"each operator and each event has words"() {
		for (const [kind, operators] of Object.entries(leafOperators)) {
			const names: { [operator: string]: string } | undefined = (sentenceWords.operators as never)[kind];
			for (const operator of operators)
				holds(
					operator in sentenceWords.events || operator === "equals" || Boolean(names?.[operator]),
					`${operator} of ${kind} has no words`,
				);
			if (["email", "broadcast", "sequence_email"].includes(kind))
				for (const operator of ["did", "did_not"] as const)
					for (const event of mailEvents(kind as Kind))
						holds(Boolean(sentenceWords.events[operator][event]), `${operator} ${event} has no words`);
		}
	},
};

export default tests;
