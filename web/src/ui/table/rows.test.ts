import { equals, holds, Random, type Tests } from "../../base/testing";
import { clamp, extended, indexOf, moveOf, toggled } from "./rows";

const before = ["a", "b", "c", "d", "e"];
const at = (key: string | null, keys: string[], index = before.indexOf(key ?? "")) => {
	const place = indexOf({ key, index }, keys, before);
	return keys[place] ?? place;
};

const tests: Tests = {
	"the row that Tab reaches stays the same when others come, go or move"() {
		equals(at("c", ["x", "y", "a", "b", "c", "d"]), "c");
		equals(at("c", ["c"]), "c");
		equals(at("c", ["e", "d", "c", "b", "a"]), "c");
		equals(at("c", before), "c");
	},
	"a row that has gone is replaced by the nearest one that stayed, following ones first"() {
		equals(at("c", ["a", "b", "d", "e"]), "d");
		equals(at("c", ["a", "b", "e"]), "e");
		equals(at("c", ["a", "b"]), "b");
		equals(at("c", ["e", "a"]), "e");
		equals(at("e", ["a", "b", "c"]), "c");
		equals(at("a", ["x", "d", "b"]), "b");
	},
	"without a row that stayed, the place stays, as far as there are rows"() {
		equals(at("c", ["v", "w", "x", "y"]), "x");
		equals(at("e", ["v", "w"]), "w");
		equals(at("c", []), -1);
		equals(at("unknown", ["v", "w"], 1), "w");
	},
	"without a row, the place counts"() {
		equals(at(null, ["x", "y", "z"], 0), "x");
		equals(at(null, ["x", "y", "z"], 2), "z");
		equals(at(null, ["x", "y", "z"], 7), "z");
		equals(at(null, [], 0), -1);
	},
	"any row is replaced by one of before, if one stayed"() {
		const random = new Random(4);
		for (let round = 0; round < 500; round++) {
			const keys = [...before, "x", "y", "z"].filter(() => random.below(2) === 0).sort(() => random.below(3) - 1);
			const key = random.of(before);
			const found = at(key, keys);
			if (keys.includes(key)) equals(found, key);
			else if (keys.some((key) => before.includes(key)))
				holds(before.includes(String(found)), `${found} for ${key} of ${keys}`);
			else equals(found, keys[Math.min(before.indexOf(key), keys.length - 1)] ?? -1);
		}
	},
	"keys lead from row to row, and never out of the table"() {
		const moves: [key: string, from: number, want: number | null][] = [
			["ArrowDown", 3, 4],
			["j", 3, 4],
			["ArrowUp", 3, 2],
			["k", 3, 2],
			["PageDown", 3, 13],
			["PageUp", 13, 3],
			["PageUp", 3, 0],
			["PageDown", 95, 99],
			["Home", 50, 0],
			["End", 50, 99],
			["ArrowUp", 0, 0],
			["ArrowDown", 99, 99],
			["Enter", 3, null],
			["x", 3, null],
			["constructor", 3, null],
		];
		for (const [key, from, want] of moves) equals(moveOf(key, from, 100, 10), want, `${key} from ${from}`);
		for (const key of ["ArrowDown", "End", "PageUp"]) equals(moveOf(key, -1, 0, 10), 0, `${key} without rows`);
		equals([clamp(-3, 5), clamp(2, 5), clamp(9, 5)], [0, 2, 4]);
	},
	"a row is selected, and deselected"() {
		const one = toggled(new Set(["a"]), "b");
		equals(one, ["a", "b"]);
		equals(toggled(one, "a"), ["b"]);
		equals(one, ["a", "b"], "the selection that was given");
	},
	"a range reaches from where it begins to a row, in both directions"() {
		equals(extended(new Set(), before, "b", 3), ["b", "c", "d"]);
		equals(extended(new Set(), before, "d", 1), ["b", "c", "d"]);
		equals(extended(new Set(), before, "c", 2), ["c"]);
		equals(extended(new Set(["e", "z"]), before, "a", 1), ["e", "z", "a", "b"], "rows that were selected before");
		equals(extended(new Set(), before, null, 2), ["a", "b", "c"], "without a beginning");
		equals(extended(new Set(["a"]), before, "gone", 3), ["a", "d"], "from a row that has gone");
	},
};

export default tests;
