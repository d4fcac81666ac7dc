import { ApiError } from "../api/client";
import { explain, loadProblems } from "../base/words/errors";
import { equals, type Tests } from "../base/testing";
import { problemsOf, isInside } from "./problems";

/** errorResponse is an answer that names problems of fields. */
const errorResponse = (...fields: { path?: string; message: string }[]) =>
	new ApiError(422, "VALIDATION_FAILED", "Something is wrong.", { fields });

const tests: Tests = {
	async "a problem stands at its field, or at the one that it is in"() {
		await loadProblems();
		const error = errorResponse(
			{ path: "name", message: "required" },
			{ path: "tags[2]", message: "at most 9 characters" },
			{ path: "address.city", message: "required" },
		);
		const { byPath, general } = problemsOf(error, ["name", "tags", "address"]);
		equals(
			{ byPath, general },
			{
				byPath: {
					name: "Name must be filled in.",
					tags: "Tags 3 can have at most 9 characters.",
					"tags[2]": "Tags 3 can have at most 9 characters.",
					address: "City must be filled in.",
					"address.city": "City must be filled in.",
				},
				general: [],
			},
		);
	},
	async "a field of the form itself comes before the one that it is in"() {
		await loadProblems();
		const { byPath } = problemsOf(errorResponse({ path: "address.city", message: "required" }), [
			"address",
			"address.city",
		]);
		equals(byPath, { "address.city": "City must be filled in." });
	},
	async "the first problem of a field is told"() {
		await loadProblems();
		const error = errorResponse(
			{ path: "tags[0]", message: "required" },
			{ path: "tags[1]", message: "is there twice" },
		);
		equals(problemsOf(error, ["tags"]).byPath, {
			tags: "Tags 1 must be filled in.",
			"tags[0]": "Tags 1 must be filled in.",
			"tags[1]": "Tags 2 must be different from the others.",
		});
	},
	async "problems of fields that the form does not have are told with their name"() {
		await loadProblems();
		const error = errorResponse({ path: "names", message: "is unknown" }, { message: "is wrong" });
		const { general, answered } = problemsOf(error, ["name"]);
		equals(general, ["Names was not accepted.", "This value was not accepted."]);
		equals(answered?.[0], { path: "names", message: "is unknown" });
	},
	"an error that names no field is told once"() {
		for (const error of [
			new ApiError(403, "FORBIDDEN", "No.", {}),
			new ApiError(422, "VALIDATION_FAILED", "Wrong.", { fields: [] }),
			new Error("Broken"),
			"text",
			null,
		])
			equals(problemsOf(error, ["name"]), { byPath: {}, general: [explain(error)] });
	},
	"a path is within a field if it is that of the field, a member or an element"() {
		const paths: [path: string, field: string, want: boolean][] = [
			["name", "name", true],
			["name.first", "name", true],
			["names", "name", false],
			["name", "name.first", false],
			["tags[0]", "tags", true],
			["tags[0].x", "tags", true],
			["tagsx[0]", "tags", false],
			["", "name", false],
		];
		for (const [path, field, expected] of paths) equals(isInside(path, field), expected, `${path} in ${field}`);
	},
};

export default tests;
