import { ApiError } from "../api/client";
import { explain } from "../base/words/errors";
import { equals, type Tests } from "../base/testing";
import { problemsOf, within } from "./problems";

/** refused is an answer that names problems of fields. */
const refused = (...fields: { path?: string; message: string }[]) =>
	new ApiError(422, "VALIDATION_FAILED", "Something is wrong.", { fields });

const tests: Tests = {
	"a problem stands at its field, or at the one that it is in"() {
		const error = refused(
			{ path: "name", message: "is empty" },
			{ path: "tags[2]", message: "is too long" },
			{ path: "address.city", message: "is missing" },
		);
		equals(problemsOf(error, ["name", "tags", "address"]), {
			byPath: {
				name: "is empty",
				tags: "is too long",
				"tags[2]": "is too long",
				address: "is missing",
				"address.city": "is missing",
			},
			general: [],
		});
	},
	"a field of the form itself comes before the one that it is in"() {
		const { byPath } = problemsOf(refused({ path: "address.city", message: "is missing" }), [
			"address",
			"address.city",
		]);
		equals(byPath, { "address.city": "is missing" });
	},
	"the first problem of a field is told"() {
		const error = refused({ path: "tags[0]", message: "first" }, { path: "tags[1]", message: "second" });
		equals(problemsOf(error, ["tags"]).byPath, { tags: "first", "tags[0]": "first", "tags[1]": "second" });
	},
	"problems of fields that the form does not have are told with their path"() {
		const error = refused({ path: "names", message: "is unknown" }, { message: "is wrong" });
		equals(problemsOf(error, ["name"]), { byPath: {}, general: ["names: is unknown", "is wrong"] });
		equals(problemsOf(refused({ path: "x", message: "y" }), []), { byPath: {}, general: ["x: y"] });
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
		for (const [path, field, want] of paths) equals(within(path, field), want, `${path} in ${field}`);
	},
};

export default tests;
