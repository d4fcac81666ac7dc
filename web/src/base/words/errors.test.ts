import { ApiError } from "../../api/client";
import { equals, holds, type Tests } from "../testing";
import { explain, fieldSentenceOf, hasWords } from "./errors";

const sentenceOf = (code: string, message = "", details: { [key: string]: unknown } = {}, status = 400) =>
	explain(new ApiError(status, code, message, details));

const tests: Tests = {
	"a code with words of ours is told by them, whatever the server says"() {
		for (const code of ["OFFLINE", "FORBIDDEN", "NOT_FOUND", "REVISION_CONFLICT", "INTERNAL_ERROR"]) {
			holds(hasWords(code), `${code} has no words`);
			holds(sentenceOf(code, "of the server") !== "of the server", `${code} is told by the server's words`);
			equals(sentenceOf(code), sentenceOf(code, "of the server"), code);
		}
	},
	"a server that stopped or gave up says so, whatever its code"() {
		const interrupted = sentenceOf("UNAVAILABLE", "", { reason: "interrupted" });
		const late = sentenceOf("UNAVAILABLE", "", { reason: "deadline" });
		equals(new Set([interrupted, late, sentenceOf("UNAVAILABLE")]).size, 3, "the number of different sentences");
		equals(sentenceOf("INTERNAL_ERROR", "", { reason: "interrupted" }), interrupted);
		equals(sentenceOf("TIMEOUT", "x", { reason: "deadline" }), late);
		equals(sentenceOf("UNAVAILABLE", "", { reason: "another" }), sentenceOf("UNAVAILABLE"));
	},
	"a circle of segments, and a chain that is too long, are named"() {
		holds(sentenceOf("SEGMENT_CYCLE", "x", { cycle: ["a", "b"] }).includes("on itself: a → b → a."), "a circle");
		const chain = ["a", "b", "c", "d", "e", "f"];
		holds(
			sentenceOf("SEGMENT_CYCLE", "x", { cycle: [], chain }).includes("each other: a → b → c → d → e → f."),
			"a chain",
		);
		const field = { path: "definition", message: "x" };
		const error = new ApiError(400, "SEGMENT_CYCLE", "x", { cycle: ["a"], ...field });
		holds(fieldSentenceOf(error, field).includes("a → a."), "a circle of one");
		holds(explain(error).includes("a → a."), "a circle of one, of no form");
	},
	"errors of other kinds say what they know"() {
		equals(explain(new Error("Nothing to send.")), "Nothing to send.");
		for (const other of [new Error(""), "text", null, undefined, 7, {}]) equals(explain(other), explain(undefined));
		holds(explain(undefined) !== "", "an unknown error says nothing");
	},
};

export default tests;
