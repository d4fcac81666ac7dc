import { equals, holds, type Tests } from "../../base/testing";
import { criteria as all, nameOf, segmentName } from "./criteria";

const criteria = all();

const tests: Tests = {
	"criteria are called by different names"() {
		equals(new Set(criteria.map((c) => c.id)).size, criteria.length);
		equals(new Set(criteria.map((c) => c.label)).size, criteria.length);
		for (const c of criteria) equals(nameOf(c.id), c.label);
	},
	"a segment is called by the broadcast and what people did"() {
		for (const c of criteria) {
			const name = segmentName("May news", c.id);
			holds(name.startsWith("May news: ") && name.toLowerCase().endsWith(c.label.toLowerCase()), name);
		}
	},
};

export default tests;
