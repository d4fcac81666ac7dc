import type { EnrollmentStep, SequenceSimulation } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { dateTime } from "../../base/words/formats";
import { hasWords, sentenceFor } from "../../base/words/errors";
import { exitReason } from "./exitReasons";
import { type Graph, type StepType, stepOf } from "./graph";
import { labelOf, type Names, ruleWords, stepWords, titleOf } from "./steps";

// The steps that somebody took, in sentences.

const words = catalogue("sequences.stepLog", {
	removed: "{type} (removed since)",
	unknown: "A step that was removed since",
	why: {
		carried_out: "Done.",
		not_carried_out: "Not done.",
		mail_queued: "The email was queued.",
		mail_refused: "No email: this person may not get it.",
		mail_unavailable: "No email: it could not be sent to anybody.",
		waited: "The wait was over.",
		met: "It happened.",
		timed_out: "It did not happen in time.",
		condition_met: "The rule matched.",
		condition_not_met: "The rule did not match.",
		split: "Chosen by share.",
		goal_met: "The rule of the goal matched.",
		goal_not_met: "The rule of the goal did not match.",
		goal_reached: "Jumped to a goal, whose rule matched.",
		exited: "Left the sequence.",
		waiting: "Is waiting.",
		paused: "The sequence is paused.",
		pending: "Is next in line.",
	},
	mailDue: "The email was queued, to be sent by {at}.",
	waitingUntil: "Is waiting until {at} at the latest.",
	matched: "The rule matched: {rule}.",
	exitedFor: "Left the sequence: {reason}.",
	refused: {
		pending: "No email: the contact has not confirmed.",
		not_active: "No email: the contact is no longer active.",
		do_not_contact: "No email: the contact is marked as not to be contacted.",
		suppressed_address: "No email: the address is on the suppression list.",
		unsubscribed_category: "No email: unsubscribed from its category.",
		unsubscribed_type: "No email: unsubscribed from its email type.",
		invalid_email: "No email: the address is not valid.",
	},
	notDone: {
		list_deleted: "Not done: the list was deleted.",
		sequence_not_active: "Not done: the other sequence was not active.",
		enroll_limit: "Not done: the contact was added to sequences too often within an hour.",
		duplicate: "Not done: the contact is or was in the other sequence.",
		headers_unreadable: "Not done: the headers could not be read.",
		invalid_body: "Not done: the body could not be written.",
		body_too_large: "Not done: the body was too large.",
		too_many_mails: "Not done: too many mails to members were waiting.",
	},
	because: "{what} {why}",
	way: "Path: {label}.",
});

/** nameOfStep is what a step of the log is called: as it is now, or its kind if it is gone. */
export function nameOfStep(step: EnrollmentStep, graph: Graph, names: Names): string {
	const now = stepOf(graph, step.node_id);
	if (now) return titleOf(now, names, graph);
	const type = step.type && stepWords.types[step.type as StepType];
	return type ? words.removed({ type }) : words.unknown;
}

/** reasonOfStep says what decided how somebody left a step, or what happens there. */
export function reasonOfStep({ why }: EnrollmentStep, names: Names): string {
	const { code, reason_code: reason, until } = why;
	const known = (texts: { [code: string]: string }) => (reason ? texts[reason] : undefined);
	switch (code) {
		case "mail_queued":
			return until ? words.mailDue({ at: dateTime(until) }) : words.why.mail_queued;
		case "waiting":
			return until ? words.waitingUntil({ at: dateTime(until) }) : words.why.waiting;
		case "condition_met":
			return why.definition ? words.matched({ rule: ruleWords(why.definition, names) }) : words.why.condition_met;
		case "exited": {
			const left = exitReason(reason);
			return left ? words.exitedFor({ reason: left }) : words.why.exited;
		}
		case "mail_refused":
			return known(words.refused) ?? words.why.mail_refused;
		case "not_carried_out":
		case "mail_unavailable":
			return (
				known(words.notDone) ??
				(reason && hasWords(reason)
					? words.because({ what: words.why[code], why: sentenceFor(reason, "") })
					: words.why[code])
			);
		default:
			return words.why[code] ?? "";
	}
}

/** wayOfStep says which path somebody took from a step; empty if it has one only. */
export function wayOfStep(step: EnrollmentStep, graph: Graph): string {
	const now = stepOf(graph, step.node_id);
	if (step.branch_label === null) return "";
	return words.way({ label: now ? labelOf(now, step.branch_label) : step.branch_label });
}

/** Passed is how often somebody was at each step, and which edges led on, by the key of edgeKey. */
export type Passed = { steps: Map<string, number>; edges: Set<string> };

/** edgeKey names an edge by where it begins; the edge to the first step begins nowhere. */
export const edgeKey = (from: string | null, label: string | null) => `${from ?? ""} ${label ?? ""}`;

/** passedOf returns the way that the steps of the log took through a graph. */
export function passedOf(log: EnrollmentStep[], graph: Graph): Passed {
	const passed: Passed = { steps: new Map(), edges: new Set() };
	for (const step of log) {
		passed.steps.set(step.node_id, (passed.steps.get(step.node_id) ?? 0) + 1);
		const jumped = step.why.code === "goal_reached" || step.why.code === "exited";
		if (step.left_at !== null && !jumped) passed.edges.add(edgeKey(step.node_id, step.branch_label));
	}
	if (log[0]?.number === 1 && log[0].node_id === graph.entry) passed.edges.add(edgeKey(null, null));
	return passed;
}

/** takenOf returns how many would have taken each edge, by its key. */
export const takenOf = (simulation: SequenceSimulation) =>
	new Map([
		[edgeKey(null, null), simulation.enrolled],
		...simulation.edges.map((edge): [string, number] => [edgeKey(edge.from_node, edge.branch_label), edge.taken]),
	]);
