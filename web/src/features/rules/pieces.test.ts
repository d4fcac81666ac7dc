import { equals, type Tests } from "../../base/testing";
import { firstUnset, type Piece, part, partAt, plain } from "./pieces";

const pieces: Piece[] = [
	"Did ",
	...part("first.event_name", "paid", "choose"),
	" where ",
	...part("first.filters[0].property", "value", "choose"),
	...part("first.filters[0].value", undefined, "value"),
	" then ",
	...part("then.event_name", "", "choose"),
];

const tests: Tests = {
	"a sentence is a text with placeholders for what is not set"() {
		equals(plain(pieces), "Did paid where valuevalue then choose");
		equals(firstUnset(pieces), "first.filters[0].value");
		equals(firstUnset(pieces.slice(0, 4)), undefined);
	},
	"a problem belongs to the part at its path"() {
		const paths: [path: string, part: string][] = [
			["first.event_name", "first.event_name"],
			["first.filters[0].value", "first.filters[0].value"],
			["first.filters[0].value[1]", "first.filters[0].value"],
			["first.filters[0]", "first.filters[0].property"],
			["then", "then.event_name"],
			["", "first.filters[0].value"],
			["within.amount", "first.filters[0].value"],
		];
		for (const [path, expected] of paths) equals(partAt(pieces, path), expected, path);
		equals(partAt(pieces.slice(0, 2), "within"), "first.event_name", "of a sentence that is complete");
		equals(partAt(["Is"], "value"), undefined);
	},
};

export default tests;
