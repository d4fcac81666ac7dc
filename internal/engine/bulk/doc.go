// Package bulk applies one action to many contacts.
//
// Contacts given by id, at most 1000, are changed within the request, in one transaction. Contacts
// chosen by a selector are changed by a job, page by page in the order of their ids. The selector
// is evaluated again for each page, but only for ids greater than the last one processed. An action
// that changes which contacts match therefore still processes each contact once. Relative dates are
// evaluated at the time the job was created, and contacts created later are not included.
//
//	Read ──▶ Request ──ids──────▶ Apply ──▶ Result
//	                 └─selector─▶ job ──step──▶ Apply, tally and the last id, one commit
//
// Each contact is either affected, which means changed, or skipped: because no change was needed,
// or for a reason listed in errors. Repeating an action affects no contact.
package bulk
