import type { BulkAnswer, RuleDefinition } from "../../api/schema";
import { reasonOf } from "../jobs/bulkResult";

/** Outcome is who entered a sequence, and who did not and why. */
export type Outcome = { entered: number; left: { name: string; reason: string }[] };

/** outcomeOf tells the answer of enrolling contacts, whose names are known by their ids. */
export function outcomeOf({ results = [], errors = [] }: BulkAnswer, names: Map<string, string>): Outcome {
	const named = (id: string, code: string) => ({ name: names.get(id) ?? id, reason: reasonOf(code) });
	const failed = new Set(errors.map((error) => error.contact_id));
	return {
		entered: results.filter((result) => result.status === "enrolled").length,
		left: [
			...results
				.filter((result) => result.status !== "enrolled" && !failed.has(result.contact_id))
				.map((result) => named(result.contact_id, result.status)),
			...errors.map((error) => named(error.contact_id, error.code)),
		],
	};
}

/** together joins outcomes. */
export const together = (a: Outcome, b: Outcome): Outcome => ({
	entered: a.entered + b.entered,
	left: [...a.left, ...b.left],
});

/** segmentRule is the rule that the members of a segment or a list satisfy. */
export const segmentRule = (key: string, type: string): RuleDefinition => ({
	logic: "and",
	conditions: [{ type: type === "static" ? "list" : "segment", operator: "in", segment_keys: [key] }],
});
