import { ApiError } from "../../api/client";
import { equals, type Tests } from "../../base/testing";
import { loadProblems } from "../../base/words/errors";
import { definitionFault } from "./definitionFault";

const refused = (details: object, status = 400) =>
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
		equals(definitionFault(refused({ issues })), {
			path: "conditions[0].value",
			message: "Value must be filled in.",
			full: "Condition 1, value must be filled in.",
			others: [
				{
					path: "conditions[1].field",
					message: "Field must be filled in.",
					full: "Condition 2, field must be filled in.",
				},
			],
		});
	},
	"a problem of the whole rule has its path, or none"() {
		const whole = "The segment “Readers” is built on this one, and would have too many conditions.";
		const told = { path: "conditions[2]", message: whole, full: whole, others: [] };
		equals(definitionFault(refused({ path: "conditions[2]" })), told);
		equals(definitionFault(refused({ path: 3 }))?.path, "");
	},
	"other errors are not about the rule"() {
		for (const error of [refused({}, 409), refused({}, 500), new Error("x"), null, undefined])
			equals(definitionFault(error), null);
	},
};

export default tests;
