import { equals, type Tests } from "../base/testing";
import { startOf } from "./focusField";

const tests: Tests = {
	"a line of a text begins after the break before it"() {
		equals(
			[1, 2, 3].map((line) => startOf("abc\n\nd", line)),
			[0, 4, 5],
		);
		equals(startOf("", 1), 0);
	},
};

export default tests;
