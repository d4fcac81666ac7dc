import { equals, holds, Random, type Tests } from "../../base/testing";
import { clamp, extended, indexOf, moveOf, toggled } from "./rows";

const before = ["a", "b", "c", "d", "e"];
const keyAt = (key: string | null, keys: string[], index = before.indexOf(key ?? "")) => {
	const place = indexOf({ key, index }, keys, before);
	return keys[place] ?? place;
};

const tests: Tests = {
	"the row that Tab reaches stays the same when others come, go or move"() {
		equals(keyAt("c", ["x", "y", "a", "b", "c", "d"]), "c");
		equals(keyAt("c", ["c"]), "c");
		equals(keyAt("c", ["e", "d", "c", "b", "a"]), "c");
		equals(keyAt("c", before), "c");
	},
	"a row that has gone is replaced by the nearest one that stayed, following ones first"() {
		equals(keyAt("c", ["a", "b", "d", "e"]), "d");
		equals(keyAt("c", ["a", "b", "e"]), "e");
		equals(keyAt("c", ["a", "b"]), "b");
		equals(keyAt("c", ["e", "a"]), "e");
		equals(keyAt("e", ["a", "b", "c"]), "c");
		equals(keyAt("a", ["x", "d", "b"]), "b");
	},
	"without a row that stayed, the place stays, as far as there are rows"() {
		equals(keyAt("c", ["v", "w", "x", "y"]), "x");
		equals(keyAt("e", ["v", "w"]), "w");
		equals(keyAt("c", []), -1);
		equals(keyAt("unknown", ["v", "w"], 1), "w");
	},
	"without a row, the place counts"() {
		equals(keyAt(null, ["x", "y", "z"], 0), "x");
		equals(keyAt(null, ["x", "y", "z"], 2), "z");
		equals(keyAt(null, ["x", "y", "z"], 7), "z");
		equals(keyAt(null, [], 0), -1);
	},
	"any row is replaced by one of before, if one stayed"() {
		const random = new Random(4);
		for (let round = 0; round < 500; round++) {
			const keys = [...before, "x", "y", "z"].filter(() => random.below(2) === 0).sort(() => random.below(3) - 1);
			const key = random.of(before);
			const found = keyAt(key, keys);
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
		for (const [key, from, expected] of moves) equals(moveOf(key, from, 100, 10), expected, `${key} from ${from}`);
		for (const key of ["ArrowDown", "End", "PageUp"]) equals(moveOf(key, -1, 0, 10), 0, `${key} without rows`);
		equals([clamp(-3, 5), clamp(2, 5), clamp(9, 5)], [0, 2, 4]);
	},
	"a row is selected, and deselected"() {
		const selected = toggled(new Set(["a"]), "b");
		equals(selected, ["a", "b"]);
		equals(toggled(selected, "a"), ["b"]);
		equals(selected, ["a", "b"], "the selection that was given");
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
