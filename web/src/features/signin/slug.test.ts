import { equals, holds, Random, type Tests } from "../../base/testing";
import { slugOf } from "./slug";

const tests: Tests = {
	"the address of a workspace is made of its name"() {
		const names: [name: string, want: string][] = [
			["Acme", "acme"],
			["Acme Inc.", "acme-inc"],
			["  Straße & Söhne  ", "strasse-sohne"],
			["Ärzte ohne Grenzen e. V.", "arzte-ohne-grenzen-e-v"],
			["—", ""],
			["", ""],
			["ＡＢＣ", "abc"],
			[`${"a".repeat(39)} b`, "a".repeat(39)],
		];
		for (const [name, expected] of names) equals(slugOf(name), expected, name);
	},
	"whatever the name, it is one that the server takes, or too short"() {
		const random = new Random(2);
		for (let round = 0; round < 500; round++) {
			const slug = slugOf(random.list(60, () => random.of([..."aZ9 -_.äßé日"])).join(""));
			holds(slug.length < 3 || /^[a-z0-9][a-z0-9-]{1,38}[a-z0-9]$/.test(slug), slug);
		}
	},
};

export default tests;
