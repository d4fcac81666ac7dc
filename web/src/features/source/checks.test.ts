import type { PreviewAnswer, PreviewProblem } from "../../api/schema";
import { equals, type Tests } from "../../base/testing";
import { type Found, foundIn, hasPlace, placeIn } from "./checks";

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
		const place = (found: Partial<Found>, text: string) => placeIn({ field: "content_mjml", ...found }, text);
		equals(place({ mark: 0, line: 3 }, "a"), { at: 3, position: 0 }, "a mark with a line");
		equals(place({ mark: 2 }, "a\nb"), { at: 2, position: 2 }, "a mark alone");
		equals(place({ line: 2 }, "a\n\t <b>\nc"), { at: 2, position: 4 }, "a line");
		equals(place({ line: 3 }, "a"), { at: 3 }, "no such line");
		equals(place({}, "a"), null, "nowhere");
		equals(place({ mark: 0, line: 1, severity: "error" }, "a"), { at: 1 }, "an error");
	},
};

export default tests;
