import { ApiError } from "../../api/client";
import { equals, type Tests } from "../../base/testing";
import { loadProblems } from "../../base/words/errors";
import { definitionFault } from "./definitionFault";

const errorResponse = (details: object, status = 400) =>
	new ApiError(
		status,
		"INVALID_DEFINITION",
		"with it, the segment Readers, which is built on it, has too many conditions",
		details as { [key: string]: unknown },
	);

const tests: Tests = {
	async "the first problem of a rule is told, with the others behind it"() {
		await loadProblems();
		const issues = [
			{ path: "conditions[0].value", message: "required" },
			{ path: "conditions[1].field", message: "required" },
		];
		equals(definitionFault(errorResponse({ issues })), {
			path: "conditions[0].value",
			message: "Value must be filled in.",
			fullMessage: "Condition 1, value must be filled in.",
			others: [
				{
					path: "conditions[1].field",
					message: "Field must be filled in.",
					fullMessage: "Condition 2, field must be filled in.",
				},
			],
		});
	},
	"a problem of the whole rule has its path, or none"() {
		const whole = "The segment “Readers” is built on this one, and would have too many conditions.";
		const problem = { path: "conditions[2]", message: whole, fullMessage: whole, others: [] };
		equals(definitionFault(errorResponse({ path: "conditions[2]" })), problem);
		equals(definitionFault(errorResponse({ path: 3 }))?.path, "");
	},
	"other errors are not about the rule"() {
		for (const error of [errorResponse({}, 409), errorResponse({}, 500), new Error("x"), null, undefined])
			equals(definitionFault(error), null);
	},
};

export default tests;
