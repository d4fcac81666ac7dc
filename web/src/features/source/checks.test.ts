import type { PreviewAnswer, PreviewProblem } from "../../api/schema";
import { equals, type Tests } from "../../base/testing";
import { foundIn, hasPlace, positionOf } from "./checks";

const problem = (code: string, severity: "error" | "warning" = "warning"): PreviewProblem => ({
	severity,
	code,
	field: "content_mjml",
	message: code,
});

const answer = (codes: string[], rest: Partial<PreviewAnswer> = {}) =>
	({ problems: codes.map((code) => problem(code)), missing: [], ...rest }) as unknown as PreviewAnswer;

const shown = (list: ReturnType<typeof foundIn>) => list.map(({ kind, found }) => `${kind} ${found.length}`).join(", ");

const tests: Tests = {
	"what is found is told by what it concerns, errors first"() {
		const codes = [
			"UNKNOWN_NAME",
			"mjml",
			"LOW_CONTRAST",
			"PICTURE_WITHOUT_TEXT",
			"FOREIGN_PLACEHOLDER",
			"LOW_CONTRAST",
		];
		const one = answer(codes);
		one.problems.push(problem("PICTURE_WITHOUT_TEXT", "error"));
		equals(shown(foundIn(one, false)), "errors 1, pictures 1, contrast 2, names 2, others 1", "kinds");
	},

	"the size is no kind, and missing values count only for a contact"() {
		const one = answer(["MAIL_CLIPPED"], { missing: [{ path: "city" }, { path: "plan", field: "subject" }] });
		equals(shown(foundIn(one, false)), "", "without a contact");
		equals(shown(foundIn(one, true)), "missing 2", "for a contact");
		equals(
			foundIn(one, true)[0]?.found.map(({ field }) => field),
			["", "subject"],
			"fields",
		);
		equals(foundIn(one, true)[0]?.found.map(hasPlace), [false, true], "places");
	},

	"a place is a mark, or the first character of a line"() {
		equals(positionOf({ mark: 0, line: 3 }, "a"), 0, "a mark");
		equals(positionOf({ line: 2 }, "a\n\t <b>\nc"), 4, "a line");
		equals(positionOf({ line: 3 }, "a"), null, "no such line");
		equals(positionOf({}, "a"), null, "nowhere");
	},
};

export default tests;
