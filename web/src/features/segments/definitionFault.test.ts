import { ApiError } from "../../api/client";
import { equals, type Tests } from "../../base/testing";
import { explain } from "../../base/words/errors";
import { definitionFault } from "./definitionFault";

const refused = (details: object, status = 400) =>
	new ApiError(status, "INVALID_DEFINITION", "The rule is wrong.", details as { [key: string]: unknown });

const tests: Tests = {
	"the first problem of a rule is told, with the others behind it"() {
		const [a, b] = [
			{ path: "conditions[0].value", message: "is missing" },
			{ path: "conditions[1]", message: "is too deep" },
		];
		equals(definitionFault(refused({ issues: [a, b] })), { ...a, others: [b] });
	},
	"a problem of the whole rule has its path, or none"() {
		equals(definitionFault(refused({ path: "conditions[2]" })), {
			path: "conditions[2]",
			message: "The rule is wrong.",
			others: [],
		});
		equals(definitionFault(refused({ fields: [], path: "conditions[2]" })), {
			path: "conditions[2]",
			message: explain(refused({})),
			others: [],
		});
		equals(definitionFault(refused({ path: 3 }))?.path, "");
	},
	"other errors are not about the rule"() {
		for (const error of [refused({}, 409), refused({}, 500), new Error("x"), null, undefined])
			equals(definitionFault(error), null);
	},
};

export default tests;
