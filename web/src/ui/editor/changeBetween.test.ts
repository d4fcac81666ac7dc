import { equals, Random, type Tests } from "../../base/testing";
import { type Change, changeBetween } from "./changeBetween";
import { changesBetween, moved } from "./changesBetween";

const applied = (text: string, changes: Change[]) =>
	changes.reduceRight((text, { from, to, insert }) => text.slice(0, from) + insert + text.slice(to), text);

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
	"lines between two changes stay"() {
		const before = "head\none\ntwo\nthree\nfour\ntail";
		const after = "head\nONE\ntwo\nnew\nthree\nfour!\ntail";
		const changes = changesBetween(before, after);
		equals(
			changes.map(({ from, to, insert }) => [before.slice(from, to), insert]),
			[
				["one", "ONE"],
				["", "new\n"],
				["", "!"],
			],
		);
		equals(
			after.slice(moved(before.indexOf("two"), changes), moved(before.indexOf("four"), changes)),
			"two\nnew\nthree\n",
		);
		equals(changesBetween("a\nb", "a\nb"), []);
	},
	"lines that are put between others are whole ones"() {
		equals(changesBetween("\t<a>1</a>\n\t<a>2</a>\n", "\t<a>1</a>\n\t<a>new</a>\n\t<a>2</a>\n"), [
			{ from: 10, to: 10, insert: "\t<a>new</a>\n" },
		]);
		equals(changesBetween("<a>1</a>\n<a>2</a>\n<a>3</a>\n", "<a>1</a>\n<a>3</a>\n"), [{ from: 9, to: 18, insert: "" }]);
	},
	"changes make one text of another, whatever they are"() {
		const random = new Random(3);
		const lines = ["a", "b", "", "ab", "b\r"];
		for (let i = 0; i < 3000; i++) {
			const text = () => random.list(9, () => random.of(lines)).join("\n");
			const [before, after] = [text(), text()];
			const changes = changesBetween(before, after);
			equals(applied(before, changes), after, JSON.stringify([before, after, changes]));
			for (const [i, change] of changes.entries())
				if (change.from < (changes[i - 1]?.to ?? 0))
					throw new Error(`${JSON.stringify(changes)} are not in their order`);
		}
	},
	"a position stays with what stands behind it"() {
		const changes = [
			{ from: 2, to: 4, insert: "xyz" },
			{ from: 6, to: 6, insert: "!" },
		];
		equals(
			[0, 2, 3, 4, 5, 6, 7].map((position) => moved(position, changes)),
			[0, 2, 2, 5, 6, 8, 9],
		);
	},
};

export default tests;
