import { catalogue } from "../../base/words/catalogue";
import { and } from "../../base/words/formats";

const words = catalogue("jobs.bulkResult", {
	done: "{count, plural, one {# contact changed} other {# contacts changed}}",
	skipped: "{count, plural, one {# contact changed} other {# contacts changed}}, {skipped, number} skipped",
	skippedFor:
		"{count, plural, one {# contact changed} other {# contacts changed}}, {skipped, number} skipped ({reasons})",
	reason: "{count, number} {reason}",
	among: "including {reasons}",
	codes: {
		UNSUBSCRIBED: "unsubscribed",
		INVALID_TRANSITION: "with a status that does not allow this",
		LIMIT_EXCEEDED: "because of a workspace limit",
		CONTACT_NOT_FOUND: "not found",
		duplicate: "already in it",
		UNCHANGED: "unchanged",
		SEQUENCE_NOT_ENROLLABLE: "while the sequence was not active",
		ENROLL_LIMIT: "added too often within an hour",
	},
});

/** reasonOf returns words for the code of a contact that an action left as it was. */
export const reasonOf = (code: string) =>
	(words.codes as { [code: string]: string })[code] ?? code.replaceAll("_", " ").toLowerCase();

type Result = {
	affected?: number;
	skipped?: number;
	errors?: { code: string }[];
	/** Of enrolling. */
	results?: { status: string }[];
	/** Of a job, which keeps the first errors only. */
	errors_truncated?: boolean;
};

/** resultText says how many contacts an action changed, and how many it left as they were, by reason. */
export function resultText({
	affected = 0,
	skipped = 0,
	errors = [],
	results = [],
	errors_truncated: truncated,
}: Result): string {
	if (skipped === 0) return words.done({ count: affected });
	const counts = new Map<string, number>();
	for (const code of [
		...errors.map((error) => error.code),
		...results.map((result) => result.status).filter((status) => status === "duplicate"),
	])
		counts.set(code, (counts.get(code) ?? 0) + 1);
	const unexplained = skipped - [...counts.values()].reduce((sum, count) => sum + count, 0);
	if (unexplained > 0 && !truncated) counts.set("UNCHANGED", unexplained);
	const reasons = and([...counts].map(([code, count]) => words.reason({ count, reason: reasonOf(code) })));
	if (!reasons) return words.skipped({ count: affected, skipped });
	const shown = unexplained > 0 && truncated ? words.among({ reasons }) : reasons;
	return words.skippedFor({ count: affected, skipped, reasons: shown });
}
