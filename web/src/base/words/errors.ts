import { ApiError } from "../../api/client";
import { catalogue } from "./catalogue";

// Our words for codes of errors. A code that is not here is shown with the server's own message, which is
// written for people.

const words = catalogue("shell.errors", {
	OFFLINE: "The server could not be reached. Check the connection, then try again.",
	UNAUTHORIZED: "Your session has ended. Sign in again.",
	INVALID_CREDENTIALS: "The address or the password is wrong.",
	FORBIDDEN: "Your role does not allow this.",
	CSRF_FAILED:
		"This page was opened under another address than the installation's own. Open it under the address of PACKETBOAT_BASE_URL, or change that setting.",
	NOT_FOUND: "It does not exist any more.",
	REVISION_CONFLICT: "Somebody else has changed it meanwhile.",
	INTERNAL_ERROR: "The server made a mistake. Nothing was changed.",
	UNAVAILABLE: "The server is busy or starting. Try again in a moment.",
	PAYLOAD_TOO_LARGE: "This is larger than the server accepts.",
	IDEMPOTENCY_IN_PROGRESS: "The same request is still under way. Wait a moment, then try again.",
	deadline: "It took too long, so the server gave up.",
	interrupted:
		"The server stopped while it did this. Part of it may have been done: look, and do what is missing again.",
	unknown: "Something went wrong.",
});

/** explain returns a sentence about an error. */
export function explain(error: unknown): string {
	if (error instanceof ApiError) {
		if (error.details.reason === "interrupted") return words.interrupted;
		if (error.details.reason === "deadline") return words.deadline;
		return (words as { [code: string]: string })[error.code] ?? (error.message || words.unknown);
	}
	return error instanceof Error && error.message ? error.message : words.unknown;
}

/** hasWords reports whether a code has words of ours. */
export const hasWords = (code: string) => Object.hasOwn(words, code);
