// Package sender keeps who a tenant's mail comes from, and as what kind of mail.
//
// An email type is a kind of mail that a contact may leave (newsletter, product
// news); a category groups types that are left together. A sending domain
// carries the DKIM key and the host of tracked links; a sending identity is an
// address on such a domain. An identity may send while it is active and its
// domain is verified, not paused, and its tracking host live:
//
//	domain    pending ── operator or DNS ──▶ verified      (identities may be activated)
//	tracking  pending ── operator or DNS ──▶ live          (identities become candidates)
//
// Private keys are sealed under the installation's key and opened only to sign.
// Who else still needs a record is asked of a usage.Finder before it goes.
package sender
