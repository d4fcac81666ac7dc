import { equals, type Tests } from "../../base/testing";
import { startPhase } from "./startPhase";

const now = Date.parse("2026-11-29T05:30:00Z");

const tests: Tests = {
	"a start begins the send, or is over"() {
		const starts: [string | null, string][] = [
			[null, "sent"],
			["2026-11-01T05:30:00Z", "over"],
			["2026-11-29T05:29:59Z", "over"],
			["2026-11-29T05:30:00Z", "sent"],
			["2026-11-29T05:31:00Z", "sent"],
			["2026-11-29T05:31:01Z", "later"],
			["2026-12-01T05:30:00Z", "later"],
			["2026-11-29T06:29:00+01:00", "over"],
		];
		for (const [start, expected] of starts) equals(startPhase(start, now), expected, String(start));
	},
};
export default tests;
