import { equals, type Tests } from "../../base/testing";
import { seedEntries } from "./seedEntries";

const tests: Tests = {
	"addresses are read one a line, with a provider if there is one"() {
		const texts: [text: string, want: [email: string, provider: string | null][]][] = [
			["", []],
			["a@example.com", [["a@example.com", null]]],
			[
				"a@example.com,gmail\r\n b@example.com ; outlook \nc@example.com\tyahoo",
				[
					["a@example.com", "gmail"],
					["b@example.com", "outlook"],
					["c@example.com", "yahoo"],
				],
			],
			["\n\n  \n,gmail\na@example.com,\n", [["a@example.com", null]]],
			["a@example.com,gmail,more", [["a@example.com", "gmail"]]],
		];
		for (const [text, expected] of texts)
			equals(
				seedEntries(text).map((entry) => [entry.email, entry.provider]),
				expected,
				text,
			);
	},
};

export default tests;
