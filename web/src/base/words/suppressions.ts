import { catalogue } from "./catalogue";

const reasons = catalogue("shell.suppressions", {
	hard_bounce: "Hard bounce",
	complaint: "Spam complaint",
	manual: "Added manually",
	unsubscribe: "Unsubscribed",
	import: "Imported",
	anonymized: "Anonymised",
});

/** suppressionReason says why an address is on the suppression list. Who added it by hand may have written why. */
export const suppressionReason = (reason: string | null) =>
	reason ? ((reasons as { [reason: string]: string })[reason] ?? reason.replaceAll("_", " ")) : null;

/** suppressionReasons are the reasons that the list can be filtered by. */
export const suppressionReasons = ["hard_bounce", "complaint", "manual", "unsubscribe", "import", "anonymized"];
