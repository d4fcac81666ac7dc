import type { DNSRecord } from "../../api/schema";
import { equals, Random, type Tests } from "../../base/testing";
import { zoneLine } from "./zoneLine";

const record = (type: string, value: string, more: object = {}) =>
	({ type, host: "mail.example.com", value, ...more }) as DNSRecord;

const tests: Tests = {
	"records are lines of a zone, with whole names"() {
		const records: [record: DNSRecord, want: string][] = [
			[record("CNAME", "track.example.net"), "mail.example.com. 3600 IN CNAME track.example.net."],
			[record("CNAME", "track.example.net."), "mail.example.com. 3600 IN CNAME track.example.net."],
			[record("MX", "mx.example.net", { priority: 20 }), "mail.example.com. 3600 IN MX 20 mx.example.net."],
			[record("MX", "mx.example.net", { priority: null }), "mail.example.com. 3600 IN MX 10 mx.example.net."],
			[record("TXT", "v=spf1 -all", { host: "example.com." }), 'example.com. 3600 IN TXT "v=spf1 -all"'],
			[record("TXT", 'say "hi" \\o/'), 'mail.example.com. 3600 IN TXT "say \\"hi\\" \\\\o/"'],
			[record("TXT", ""), 'mail.example.com. 3600 IN TXT ""'],
		];
		for (const [record, expected] of records) equals(zoneLine(record), expected);
	},
	"a long text is several strings, which are it together"() {
		const random = new Random(1);
		for (let round = 0; round < 50; round++) {
			const text = Array.from({ length: random.below(1000) }, () => random.of(["a", '"', "\\", " ", ";"])).join("");
			const [, data = ""] = zoneLine(record("TXT", text)).split(" IN TXT ");
			const strings = [...data.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((match) =>
				(match[1] ?? "").replace(/\\(.)/g, "$1"),
			);
			equals(strings.join(""), text);
			equals(
				strings.every((string) => string.length <= 255),
				true,
				"no string is too long",
			);
		}
	},
};

export default tests;
