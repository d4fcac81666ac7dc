// Package contact stores the contacts of tenants: their fields, status, subscriptions,
// stage and activity.
//
// A contact is found by its address, which is unique per tenant. A request about an
// existing contact is merged into it: custom fields and subscriptions key by key, tags as a
// union; what the request omits does not change.
//
//	pending ──(created or updated again)──▶ active
//	active ──▶ unsubscribed ──▶ bounced ──▶ complained ──▶ suppressed (soft delete)
//
// A status is only replaced by one further right, except by Restore, ResetStatus and
// Subscribe. Status suppressed means a deleted contact; the suppression list is a separate
// thing, see package suppression. Anonymisation is final: it removes personal data here and
// in the packages above (PersonalData).
//
// What changes with each mail (counters, bounces, deliverability) is stored in
// contact_activity and written by the Follower of the journal, so that a send does not
// update the contact's own row.
//
// The free-text search compares search_text; package contactsearch is its index, which
// finds candidates.
package contact
