// Package contact keeps the people a tenant writes to.
//
// A contact is found by its address, which is unique per tenant. What is said
// about it in the same request is merged: custom fields and subscriptions key by
// key, tags as a union; what is not mentioned stays.
//
//	pending ──(anyone vouches for it)──▶ active
//	active ──▶ unsubscribed ──▶ bounced ──▶ complained ──▶ suppressed (soft delete)
//
// A status further right is never replaced by one further left, except by the
// moves that say so (Restore, ResetStatus, Subscribe by the person). Status
// suppressed is a deleted contact; the suppression list is another thing, see
// package suppression. A contact that is anonymised is deleted for good, and
// nothing says any more who it was: not here, and not in the holdings of the
// packages above (PersonalData).
//
// What every mail touches (counters, bounces, deliverability) lives in
// contact_activity and is written by the Follower from the journal, so that a
// send never rewrites a contact's own row.
//
// The free-text search looks in search_text; package contactsearch knows whose is
// worth looking at.
package contact
