import { equals, holds, type Tests } from "../../base/testing";
import { criteria as all, nameOf, segmentName } from "./criteria";

const criteria = all();

const tests: Tests = {
	"criteria are called by different names"() {
		equals(new Set(criteria.map((criterion) => criterion.id)).size, criteria.length);
		equals(new Set(criteria.map((criterion) => criterion.label)).size, criteria.length);
		for (const criterion of criteria) equals(nameOf(criterion.id), criterion.label);
	},
	"a segment is called by the broadcast and what people did"() {
		for (const criterion of criteria) {
			const name = segmentName("May news", criterion.id);
			holds(name.startsWith("May news: ") && name.toLowerCase().endsWith(criterion.label.toLowerCase()), name);
		}
	},
};

export default tests;
