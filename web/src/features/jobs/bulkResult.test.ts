import { equals, holds, type Tests } from "../../base/testing";
import { resultText, reasonOf } from "./bulkResult";

const errors = (...codes: string[]) => codes.map((code) => ({ code }));

const tests: Tests = {
	"an action says how many contacts it changed, and why not others"() {
		equals(resultText({ affected: 3 }), "3 contacts changed");
		equals(resultText({ affected: 1, skipped: 0 }), "1 contact changed");
		equals(
			resultText({ affected: 3, skipped: 2, errors: errors("UNSUBSCRIBED", "UNSUBSCRIBED") }),
			"3 contacts changed, 2 skipped (2 unsubscribed)",
		);
		equals(
			resultText({ affected: 0, skipped: 3, errors: errors("CONTACT_NOT_FOUND", "ENROLL_LIMIT") }),
			"0 contacts changed, 3 skipped (1 not found, 1 added too often within an hour, and 1 unchanged)",
		);
	},
	"contacts that were in a sequence already are told"() {
		const results = [{ status: "enrolled" }, { status: "duplicate" }, { status: "duplicate" }];
		equals(resultText({ affected: 1, skipped: 2, results }), "1 contact changed, 2 skipped (2 already in it)");
	},
	"of a job, whose errors are not all known, the reasons are some among them"() {
		const text = resultText({ affected: 0, skipped: 10, errors: errors("UNSUBSCRIBED"), errors_truncated: true });
		equals(text, "0 contacts changed, 10 skipped (including 1 unsubscribed)");
		equals(
			resultText({ affected: 0, skipped: 10, errors_truncated: true }),
			"0 contacts changed, 10 skipped",
			"without any known error",
		);
		holds(
			!resultText({ affected: 0, skipped: 1, errors: errors("UNSUBSCRIBED"), errors_truncated: true }).includes(
				"among",
			),
			"all are known",
		);
	},
	"a reason without words is told by its code"() {
		equals([reasonOf("UNSUBSCRIBED"), reasonOf("NO_SUCH_STAGE")], ["unsubscribed", "no such stage"]);
	},
};

export default tests;
