import { equals, type Tests } from "../../base/testing";
import { changeBetween } from "./changeBetween";

const tests: Tests = {
	"what two texts have in common at both ends stays"() {
		const changes: [before: string, after: string, from: number, to: number, insert: string][] = [
			["one two three", "one 2 three", 4, 7, "2"],
			["same", "same", 4, 4, ""],
			["aa", "aaa", 2, 2, "a"],
			["aaa", "aa", 2, 3, ""],
			["", "new", 0, 0, "new"],
			["old", "", 0, 3, ""],
			["abab", "ab", 2, 4, ""],
			["before", "after", 0, 6, "after"],
		];
		for (const [before, after, from, to, insert] of changes) {
			equals(changeBetween(before, after), { from, to, insert }, `${before} → ${after}`);
			equals(before.slice(0, from) + insert + before.slice(to), after);
		}
	},
};

export default tests;
