// Package sender stores the senders of a tenant's mail: domains, identities, email types and
// categories.
//
// An email type is a kind of mail that a contact can unsubscribe from (newsletter, product news); a
// category groups types that are unsubscribed from together. A sending domain has the DKIM key and
// the host of tracked links; a sending identity is an address on such a domain. An identity may
// send if it is active, its domain is verified and not paused, and its tracking host is live:
//
//	domain    pending ── operator or DNS ──▶ verified      (identities may be activated)
//	tracking  pending ── operator or DNS ──▶ live          (identities become candidates)
//
// Private keys are sealed with the installation's key and opened only to sign. Before a record is
// deleted, a usage.Finder is asked whether it is in use.
package sender
