import { ApiError } from "../../api/client";
import { catalogue } from "./catalogue";
import { loadTexts } from "./language";

// Sentences about the codes of errors: what happened, and what to do next.

const words = catalogue("shell.errors", {
	OFFLINE: "The server could not be reached. Check the connection, then try again.",
	UNAUTHORIZED: "Your session has ended. Sign in again.",
	INVALID_CREDENTIALS: "The email address or password is incorrect.",
	WRONG_CURRENT_PASSWORD: "This is not your current password.",
	FORBIDDEN: "Your role does not allow this. Ask an owner or an admin.",
	CSRF_FAILED:
		"This page was opened under another address than the installation's own. Open it under the address of PACKETBOAT_BASE_URL, or change that setting.",
	NOT_FOUND: "This no longer exists.",
	NOT_UNDOABLE: "There is nothing to undo.",
	ALREADY_UNDONE: "This import is undone already, or is being undone.",
	UNDO_EXPIRED: "An import can be undone for seven days only.",
	CONTACT_NOT_FOUND: "This contact no longer exists.",
	TENANT_NOT_FOUND: "This workspace no longer exists. Choose another.",
	OUTAGE_NOT_FOUND: "This outage no longer exists.",
	REVISION_CONFLICT: "Somebody else has changed this in the meantime. Load it again, then repeat your change.",
	INTERNAL_ERROR:
		"Something went wrong on the server. Nothing was changed. Try again, and report the request if it happens again.",
	UNAVAILABLE: "The server is busy or starting. Try again in a moment.",
	PAYLOAD_TOO_LARGE: "This is too large. Send less at a time.",
	IDEMPOTENCY_IN_PROGRESS: "The same request is still in progress. Wait a moment, then try again.",
	RATE_LIMITED: "Too many requests were made in a short time. Wait a moment, then try again.",
	ENROLL_LIMIT: "This contact was added to the sequence too often within an hour. Try again later.",
	API_KEY_FORBIDDEN: "This is not possible with an API key. Sign in for it.",
	ACTION_NOT_AVAILABLE: "This is not possible with an API key. Sign in for it.",
	INSUFFICIENT_SCOPE: "The API key lacks the permission for this. Make a key that has it.",
	INVALID_SCOPE: "Choose at least one permission of the list.",
	SIGNUP_DISABLED: "Nobody can sign up here by themselves. Ask for an invitation.",
	ORIGIN_NOT_ALLOWED: "The form does not accept what is sent from this website. Add its address to the form.",
	INVALID_TOKEN: "This link is no longer valid. Ask for a new one.",
	METHOD_NOT_ALLOWED: "This page and the server do not fit together. Load the page again.",
	INVALID_JSON: "This page and the server do not fit together. Load the page again.",
	UNSUPPORTED_MEDIA_TYPE: "This page and the server do not fit together. Load the page again.",
	INVALID_CURSOR: "The list has changed. Load the page again.",
	INVALID_STATUS: "The list cannot be filtered by this state. Choose another.",
	INVALID_FILTERS: "These filters cannot be used. Change or clear them.",
	INVALID_METADATA_FILTER: "These filters cannot be used. Change or clear them.",
	INVALID_METADATA: "The metadata must be short texts, numbers, yes or no, or lists of them.",
	MISSING_IDENTIFIER: "Name the contact by the email address.",
	DUPLICATE_EXTERNAL_ID: "Another contact has this external id. Choose another.",
	DUPLICATE_DOMAIN: "This domain is in use already. Open it in the list of domains.",
	DUPLICATE_SLUG: "This short name is taken. Choose another.",
	DUPLICATE_FIELD_KEY: "A custom field with this key exists, or is still being deleted. Choose another key.",
	UNKNOWN_FIELD: "A custom field no longer exists. Load the page again.",
	INVALID_FIELD: "The custom field cannot be saved like this. Look at its kind and its choices.",
	INVALID_FIELD_VALUE: "A value does not fit its custom field.",
	FIELD_IN_USE: "The custom field is still in use. Remove it where it is used first.",
	INVALID_EMAIL_TYPE: "Choose an email type that is active.",
	INVALID_MTA_CONFIG: "The sending server no longer exists. Choose another.",
	INVALID_SEGMENT: "A list or segment no longer exists. Choose another.",
	INVALID_SENDING_IDENTITY: "The sender no longer exists. Choose another.",
	INVALID_TEMPLATE: "The template no longer exists. Choose another.",
	INVALID_STAGE: "The stage no longer exists. Choose another.",
	INVALID_DEFINITION: "The rule is not complete. Look at its conditions.",
	MISSING_DEFINITION: "A segment by rule needs at least one condition.",
	SEGMENT_CYCLE: "The segment would be built on itself. Take it out of its own rule.",
	SEGMENT_IN_USE: "The segment is still in use. Remove it where it is used first.",
	SYSTEM_SEGMENT_LOCKED: "A built-in segment cannot be changed or deleted. Copy it instead.",
	NOT_STATIC: "People are added to a list, not to a segment by rule. Choose a list.",
	INVALID_CRITERION: "No segment can be made of this figure. Choose another.",
	INVALID_BINDING: "Some values of the template are missing or do not fit. Look at the problems of the content.",
	INVALID_SCHEMA: "The schema of the template is not valid. Look at its problems.",
	UNRESOLVED_REFERENCE: "The code names something that is not declared. Declare it, or correct the name.",
	NOT_TEMPLATE_MODE: "This version was not made of a template.",
	NO_SEGMENT: "No audience is chosen. Choose a list or a segment.",
	NO_MTA: "No active sending server can send this. Activate one, or choose another.",
	NO_IDENTITY: "No sender can send this. One is needed that is active, on a verified domain, and has its email type.",
	INVALID_VARIANTS: "The versions are not complete. Look at each of them.",
	ADVANCED_SPLIT_TEST_UNSUPPORTED: "Tests with a holdout or a winner are not possible yet.",
	VARIANT_DELIVERY_OVERRIDE_UNSUPPORTED: "A version cannot have its own sender or sending server.",
	NOT_DRAFT: "This is no longer a draft. Load the page again.",
	NOT_SENDING: "This is possible only while it is being sent. Load the page again.",
	NO_SPREAD_PLAN: "This send is not spread over days.",
	INVALID_SKIP: "Only days to come can be skipped.",
	NOT_EDITABLE: "The flow can be changed only in a draft, or while the sequence is paused. Pause it first.",
	SEQUENCE_NOT_ENROLLABLE: "The sequence is not active. Activate it first.",
	NO_TRIGGER: "The sequence has no trigger. Choose one at its start.",
	TRIGGER_NOT_RECORDED:
		"Nothing has recorded who entered and left this segment. Activate the sequence to record it from now on.",
	PAUSE_CAUSE_ACTIVE: "The reason for the pause is still there. Remove it, then resume.",
	DOMAIN_NOT_VERIFIED: "The domain is not verified yet. Publish its DNS records, then verify it.",
	ROTATION_IN_PROGRESS: "A new DKIM key waits for its DNS record. Publish it, then verify the domain.",
	LARGE_CHANGE: "Fewer than half of the addresses would remain. Confirm that this is meant.",
	OUTAGE_DECIDED: "Somebody has decided about this outage already.",
	TOO_MANY: "At most 500 contacts can be suppressed at once. Choose fewer.",
	cycle: "The segment would be built on itself: {cycle}. Take it out of its own rule.",
	chain: "Too many segments would be built on each other: {chain}. Make the chain shorter.",
	deadline: "It took too long, so the server gave up. Try again, or ask for less.",
	interrupted:
		"The server stopped while it did this. Part of it may have been done: look, and do what is missing again.",
	unknown: "Something went wrong. Try again.",
	wait: "Too many requests were made in a short time. Try again in {seconds, number} s.",
});

/** Codes with several reasons. The server's sentence says which; these are shown if it cannot be shown. */
const reasons = catalogue("shell.errorReasons", {
	INVALID_INPUT: "Something that was entered was not accepted. Look at what is marked.",
	INVALID_TRANSITION: "Its state does not allow this. Load the page again.",
	INVALID_GRAPH: "The flow has problems. Look at the steps that are marked.",
	INVALID_RECIPIENTS: "A test goes to 1 to 10 addresses. Correct them.",
	INVALID_FILE: "The file cannot be read. Save the table as CSV (UTF-8).",
	IN_USE: "It is still in use. Remove it where it is used first.",
	LIMIT_EXCEEDED: "This is more than is allowed. Delete some first.",
	DUPLICATE_EMAIL: "This address is in use already. Choose another.",
	DUPLICATE_NAME: "This name is taken. Choose another.",
	UNSUBSCRIBED: "The contact has unsubscribed. Only the person can take that back.",
	NO_CONTENT: "The content is not complete. Add what is missing.",
	LIQUID_INVALID: "A placeholder of the content is not valid. Look at the problems of the content.",
	MJML_INVALID: "The content is not valid MJML. Look at the problems of the content.",
	MJML_UNKNOWN_ELEMENT: "The content has an element that MJML does not know. Look at the problems of the content.",
	MJML_COMPILE_FAILED: "The MJML makes an empty mail. Add some content.",
	RENDER_FAILED: "The content could not be made for any recipient. Correct it, then copy the broadcast.",
	ALL_FAILED: "No mail could be sent. Look at why they failed.",
	EMAIL_TYPE_DELETED: "The email type was deleted. Choose another.",
	MTA_CONFIG_DELETED: "The sending server was deleted. Choose another.",
});

let problems: typeof import("./problems") | null = null;

/**
 * loadProblems loads the sentences about problems of fields, which are too many for the first page. Requests that fail wait
 * for it; without it, as after a connection was lost, problems are explained in general.
 */
export async function loadProblems(): Promise<void> {
	if (problems) return;
	const loaded = await import("./problems");
	await loadTexts();
	problems = loaded;
}

/** circleSentence names the segments of a circle, or of a chain that is too long, by their keys. */
function circleSentence(details: ApiError["details"]): string {
	const { cycle, chain } = details as { cycle: string[]; chain?: string[] };
	if (chain) return words.chain({ chain: chain.join(" → ") });
	return words.cycle({ cycle: [...cycle, cycle[0]].join(" → ") });
}

/** answerSentence returns a sentence about what the server answered. */
const answerSentence = (error: ApiError) =>
	error.code === "SEGMENT_CYCLE" ? circleSentence(error.details) : sentenceFor(error.code, error.message);

/** sentenceFor returns a sentence about a code, for which the server has a message. */
export function sentenceFor(code: string, message: string): string {
	if (Object.hasOwn(words, code)) return (words as unknown as { [code: string]: string })[code] ?? words.unknown;
	return problems?.clauseSentence(message) ?? (reasons as { [code: string]: string })[code] ?? words.unknown;
}

/** fieldSentenceOf says what is wrong with a field of a request. name is what the page calls the field, if it is known. */
export function fieldSentenceOf(error: ApiError, field: { path: string; message: string }, name?: string): string {
	if (field.message === error.message && Object.hasOwn(words, error.code)) return answerSentence(error);
	return problems ? problems.fieldSentence(field, name, error.requestId) : reasons.INVALID_INPUT;
}

/** withProblemTexts loads a module together with the sentences about problems, for pages that show what the server finds wrong. */
export const withProblemTexts = <M>(load: () => Promise<M>): Promise<M> =>
	Promise.all([load(), loadProblems().catch(() => undefined)]).then(([module]) => module);

/** fieldSentence is that of problems.ts. */
export const fieldSentence = (field: { path: string; message: string }, name?: string, request?: string | null) =>
	problems ? problems.fieldSentence(field, name, request) : reasons.INVALID_INPUT;

/** clauseSentence is that of problems.ts. */
export const clauseSentence = (message: string) => problems?.clauseSentence(message) ?? null;

/** mailProblem says what is wrong with a part of a mail. Queries of such problems wait for loadProblems. */
export const mailProblem = (problem: { field: string; message: string }) =>
	problems ? problems.mailProblem(problem) : reasons.INVALID_INPUT;

/** mailFix says how such a problem is solved. */
export const mailFix = (fix: string) => problems?.mailFix(fix) ?? "";

/** explain returns a sentence about an error. */
export function explain(error: unknown): string {
	if (error instanceof ApiError) {
		if (error.details.reason === "interrupted") return words.interrupted;
		if (error.details.reason === "deadline") return words.deadline;
		if (error.code === "RATE_LIMITED" && error.retryAfter) return words.wait({ seconds: error.retryAfter });
		const fields = error.fields.filter((field) => field.path !== "" || field.message !== error.message);
		if (fields.length > 0)
			return [...new Set(fields.slice(0, 3).map((field) => fieldSentenceOf(error, field)))].join(" ");
		return answerSentence(error);
	}
	return error instanceof Error && error.message ? error.message : words.unknown;
}

/** hasWords reports whether a code has a sentence. */
export const hasWords = (code: string) => Object.hasOwn(words, code) || Object.hasOwn(reasons, code);
