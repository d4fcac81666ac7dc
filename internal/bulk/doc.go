// Package bulk does one thing to many contacts at once.
//
// Contacts that are named by id, 1000 at most, are dealt with at once and in
// one transaction. Those that a selector means are dealt with by a job, page
// after page in the order of their ids. The selector is asked anew for every
// page, but only behind the last id: so an action that makes a contact cease
// to match, or begin to, still meets everybody once. Relative dates are those
// of the moment the job was asked for, and whoever was created after it is left
// alone.
//
//	Read ──▶ Request ──ids──────▶ Apply ──▶ Result
//	                 └─selector─▶ job ──step──▶ Apply, tally and the last id, one commit
//
// Every contact that is meant is either affected, which is to say changed, or
// skipped: because nothing was left to change, or for a reason that errors
// name. Doing the same twice affects nobody the second time.
package bulk
