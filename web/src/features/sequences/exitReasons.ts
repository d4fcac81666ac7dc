import { catalogue } from "../../base/words/catalogue";

const words = catalogue("sequences.exitReasons", {
	reasons: {
		exit_condition: "Exit condition",
		goal_reached: "Reached the goal",
		exit_node: "Reached an exit",
		unsubscribed: "Unsubscribed",
		contact_suppressed: "On the suppression list",
		contact_deleted: "Deleted",
		do_not_contact: "Do not contact",
		sequence_archived: "Sequence archived",
		node_removed: "Step removed",
		manual: "Removed manually",
		error: "Error",
	},
});

/** exitReason says why somebody left a sequence; null if nothing is known. */
export const exitReason = (reason: string | null) =>
	reason ? ((words.reasons as { [key: string]: string })[reason] ?? reason.replaceAll("_", " ")) : null;
