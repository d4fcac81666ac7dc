import { catalogue } from "../../base/words/catalogue";
import { sentences } from "../../base/words/forms";
import { knows, stateOf } from "../../base/words/status";

// Sentences for why a contact gets no mail.

const words = catalogue("contacts.eligibilityTexts", {
	type: "For {name}.",
	late: "The audience was read when the send started, and the contact was not in it or was excluded.",
	skipped: "The contact was skipped.",
	message: "The status of the contact's email is “{state}”.",
	noSegment: "The contact is in no list or segment of the audience.",
	excluded: "The contact is in an excluded list or segment: {key}.",
	included: "The contact is in this list or segment: {key}.",
	pending: "The contact has not confirmed, and nobody has vouched for the contact.",
	status: "The status of the contact is “{state}”.",
	deleted: "The contact is deleted.",
	anonymized: "The contact is anonymised.",
	unsubscribed: "The contact has unsubscribed from all email.",
	unsubscribedType: "The contact has unsubscribed from {name}.",
	marked: "The contact is marked as not to be contacted.",
	suppressed: "The address is on the suppression list.",
	invalid: "The address is not valid.",
});

/** eligibilityText returns the sentence for why a check failed, or null if there is none. */
export const eligibilityText = sentences(
	words,
	{
		type: "for {name}",
		late: "the audience was read when the send began, and the contact was not in it or was excluded",
		skipped: "the contact's message was skipped: {reason}",
		message: "the contact's message is {state*}",
		noSegment: "the contact is in no segment that the broadcast includes",
		excluded: "the contact is in the excluded segment {key}",
		included: "the contact is in the segment {key}",
		pending: "the contact is pending: it has not confirmed, and no program has vouched for it",
		status: "the contact's status is {state*}",
		deleted: "the contact is deleted",
		anonymized: "the contact was anonymised",
		unsubscribed: "the contact has unsubscribed from all mail",
		unsubscribedType: "the contact has unsubscribed from {name}",
		marked: "the contact is marked as not to be contacted",
		suppressed: "the address is on the suppression list",
		invalid: "the address is not valid",
	},
	stateWord,
);

/** stateWord returns the word for the state of a contact or of a message. */
function stateWord(state: string): string {
	const key = state.replaceAll(" ", "_");
	return stateOf(knows("contact", key) ? "contact" : "recipient", key).word;
}
