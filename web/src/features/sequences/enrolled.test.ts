import { equals, type Tests } from "../../base/testing";
import { outcomeOf, together } from "./enrolled";

const names = new Map([
	["1", "ann@example.org"],
	["2", "bob@example.org"],
	["3", "eve@example.org"],
]);

const tests: Tests = {
	"who did not enter is named, with the reason"() {
		const results = [
			{ contact_id: "1", enrollment_id: "e1", status: "enrolled" },
			{ contact_id: "2", enrollment_id: "e2", status: "duplicate" },
			{ contact_id: "3", enrollment_id: null, status: "enroll_limit" },
		];
		equals(outcomeOf({ results, errors: [{ contact_id: "3", code: "ENROLL_LIMIT" }] }, names), {
			entered: 1,
			left: [
				{ name: "bob@example.org", reason: "already in it" },
				{ name: "eve@example.org", reason: "added too often within an hour" },
			],
		});
		equals(outcomeOf({ errors: [{ contact_id: "4", code: "CONTACT_NOT_FOUND" }] }, names), {
			entered: 0,
			left: [{ name: "4", reason: "not found" }],
		});
	},
	"outcomes add up"() {
		const left = { name: "ann@example.org", reason: "not found" };
		equals(together({ entered: 2, left: [left] }, { entered: 1, left: [] }), { entered: 3, left: [left] });
	},
};

export default tests;
