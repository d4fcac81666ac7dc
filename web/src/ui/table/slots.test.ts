import { equals, holds, Random, type Tests } from "../../base/testing";
import { Slots } from "./slots";

const written = (rows: { id: string; slot: number }[]) => rows.map((row) => `${row.id}${row.slot}`).join(" ");

const tests: Tests = {
	"the element of a row that leaves shows the one that comes"() {
		const slots = new Slots();
		equals(written(slots.assign(["a", "b", "c"], false)), "a0 b1 c2");
		equals(written(slots.assign(["b", "c", "d"], true)), "d0 b1 c2", "while the table moves");
		equals(written(slots.assign(["c", "d", "e"], true)), "d0 e1 c2");
		equals(written(slots.assign(["c", "d", "e"], false)), "c2 d0 e1", "in the order of the rows");
	},
	"more rows have more elements, fewer have fewer"() {
		const slots = new Slots();
		slots.assign(["a", "b"], false);
		equals(written(slots.assign(["a", "x", "y", "z"], true)), "a0 x1 y2 z3");
		equals(written(slots.assign(["y"], false)), "y2");
		equals(written(slots.assign(["y", "n"], false)), "y2 n3");
		equals(slots.assign([], true), []);
	},
	"a row says where it is among those that are shown"() {
		const slots = new Slots();
		slots.assign(["a", "b", "c"], false);
		const rows = slots.assign(["b", "x", "c"], true);
		for (const { id, index } of rows) equals(["b", "x", "c"][index], id);
	},
	"rows that stay keep their elements, and no two have one"() {
		const random = new Random(5);
		const slots = new Slots();
		let last = new Map<string, number>();
		let orderOfElements: number[] = [];
		let start = 0;
		for (let round = 0; round < 400; round++) {
			start = Math.max(0, start + random.below(9) - 4);
			const shown = Array.from({ length: random.below(6) + 3 }, (_, i) => `r${start + i}`);
			if (random.below(4) === 0) shown.push("r1000"); // the row that Tab reaches
			const moving = random.below(3) > 0;
			const rows = slots.assign(shown, moving);
			equals(rows.map((row) => row.id).sort(), [...shown].sort(), "the rows");
			equals(new Set(rows.map((row) => row.slot)).size, rows.length, "the number of different elements");
			for (const row of rows) if (last.has(row.id)) equals(row.slot, last.get(row.id), `the element of ${row.id}`);
			const retained = rows.map((row) => row.slot).filter((slot) => orderOfElements.includes(slot));
			if (moving)
				equals(
					retained,
					orderOfElements.filter((orderOfElement) => retained.includes(orderOfElement)),
					"the order of elements",
				);
			else
				equals(
					rows.map((row) => row.id),
					shown,
					"the order of rows",
				);
			const used = new Set(last.values());
			const newCount = rows.filter((row) => !used.has(row.slot)).length;
			holds(
				newCount === Math.max(0, rows.length - last.size) || newCount === 0,
				`${newCount} new elements for ${rows.length} rows after ${last.size}`,
			);
			last = new Map(rows.map((row) => [row.id, row.slot]));
			orderOfElements = rows.map((row) => row.slot);
		}
	},
};

export default tests;
