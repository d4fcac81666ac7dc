import { equals, holds, type Tests } from "../../base/testing";
import * as edits from "./edits";
import { type Kind, type Leaf, leafWords, newLeaf } from "./leaves";
import { partsOf } from "./pieces";
import { sentenceOf } from "./sentences";

const clicked: Leaf = {
	type: "broadcast",
	operator: "did",
	event: "clicked",
	broadcast_id: "b",
	link_url: "/",
	level: "apparent",
};
const filter = (property: string) => ({ property, operator: "equals", value: "" });

const tests: Tests = {
	"what is added is a part of the sentence, and is not offered again unless there can be several"() {
		for (const kind of Object.keys(leafWords.kinds) as Kind[])
			for (const event of ["opened", "clicked", "sent"]) {
				const leaf = { ...newLeaf(kind), ...(newLeaf(kind).event ? { event } : {}) };
				for (const addition of edits.additionsTo(leaf)) {
					const { leaf: next, part } = edits.add(leaf, addition);
					const parts = partsOf(sentenceOf(next, { fields: [] })).map(({ id }) => id);
					holds(parts.includes(part), `${addition} of ${kind} adds ${part}, but there is ${parts}`);
					const isOffered = edits.additionsTo(next).includes(addition);
					equals(isOffered, addition.endsWith("filters"), `${addition} is offered again to ${kind}`);
				}
			}
	},
	"what was added is removed"() {
		const event: Leaf = { type: "event", operator: "did", event_name: "a" };
		const count = edits.add(event, "count").leaf;
		equals(edits.remove(count, "count"), event);
		const two = edits.add(edits.add(event, "filters").leaf, "filters").leaf;
		equals(two.filters?.length, 2, "conditions on properties");
		equals(edits.remove({ ...two, filters: [filter("x"), filter("y")] }, "filters[0].property").filters, [filter("y")]);
		equals(edits.remove({ ...event, filters: [filter("x")] }, "filters[0].property"), event);
		const both: Leaf = {
			type: "event_sequence",
			first: { event_name: "a", filters: [filter("x")] },
			then: { event_name: "b" },
		};
		equals(edits.remove(both, "first.filters[0].property"), { ...both, first: { event_name: "a" } });
		for (const part of ["count", "window", "added", "link_url", "variant_id", "node_id", "then.filters[1].property"])
			holds(edits.canRemove(part), `${part} cannot be removed`);
		for (const part of ["property", "value", "first.event_name", "filters[0].value"])
			holds(!edits.canRemove(part), `${part} can be removed`);
	},
	"another broadcast or sequence has neither versions, links nor emails of the former"() {
		const broadcast: Leaf = {
			type: "broadcast",
			broadcast_id: "a",
			variant_id: "v",
			link_url: "l",
			level: "confirmed",
		};
		equals(edits.ofBroadcast(broadcast, "a"), broadcast);
		equals(edits.ofBroadcast(broadcast, "b"), { type: "broadcast", broadcast_id: "b", level: "confirmed" });
		const sequence: Leaf = { type: "sequence_email", sequence_id: "a", node_id: "n" };
		equals(edits.ofSequence(sequence, "a"), sequence);
		equals(edits.ofSequence(sequence, "b"), { type: "sequence_email", sequence_id: "b" });
	},
	"what did not happen is not counted"() {
		const leaf: Leaf = { type: "event", operator: "did", event_name: "a", count: { operator: "exactly", value: 2 } };
		equals(edits.withOperator(leaf, "did_not"), { type: "event", operator: "did_not", event_name: "a" });
		equals(edits.withEvent({ ...leaf, type: "email" }, "did_not", "sent").count, undefined, "the count");
	},
	"an event of a mail has only what belongs to it"() {
		equals(edits.withEvent(clicked, "did", "opened"), {
			type: "broadcast",
			operator: "did",
			event: "opened",
			broadcast_id: "b",
			level: "apparent",
		});
		equals(edits.withEvent(clicked, "did_not", "sent"), {
			type: "broadcast",
			operator: "did_not",
			event: "sent",
			broadcast_id: "b",
		});
		equals(edits.withEvent(clicked, "did_not", "clicked"), { ...clicked, operator: "did_not" });
	},
	"another field begins without a value, and another operator keeps one that it takes"() {
		const field = { field: "size", name: "Size", group: "", kind: "number" } as const;
		const leaf = edits.withField(field);
		equals(leaf, { field: "size", operator: "equals", value: null });
		const set = { ...leaf, value: 3 };
		equals(edits.withFieldOperator(set, "greater_than", "number").value, 3);
		equals(edits.withFieldOperator(set, "between", "number").value, [null, null]);
		equals(edits.withFieldOperator(set, "is_set", "number"), { field: "size", operator: "is_set" });
		equals(edits.withField({ ...field, kind: "date" }).value, { amount: 30, unit: "day" });
	},
	"another type begins anew, and the same one stays"() {
		equals(edits.withKind(clicked, "broadcast"), clicked);
		equals(edits.withKind(clicked, "suppression"), { type: "suppression", operator: "listed" });
	},
	"paths lead to events and to conditions on their properties"() {
		equals(edits.filterPlace("then.filters[12].value"), 12);
		equals(edits.filterPlace("first.event_name"), undefined);
		equals(edits.filterPlace("property"), undefined);
		const leaf: Leaf = { type: "event_sequence", first: { event_name: "a" }, then: { event_name: "b" } };
		equals(edits.matchAt(leaf, "then.event_name"), { event_name: "b" });
		equals(edits.withMatch(leaf, "first.event_name", { event_name: "c" }), { ...leaf, first: { event_name: "c" } });
		equals(edits.withMatch({ type: "event" }, "event_name", { event_name: "c" }), { type: "event", event_name: "c" });
	},
};

export default tests;
