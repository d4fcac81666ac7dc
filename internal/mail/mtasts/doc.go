// Package mtasts implements SMTP MTA Strict Transport Security (RFC 8461) for senders of mail: it finds
// and fetches the policy of a recipient's domain, by which the domain tells which mail servers it has and
// that mail must reach them over TLS with valid certificates.
//
// A Fetcher does not store policies. Its caller keeps them for as long as they allow, so that a later
// attack on the DNS or on the server of the policy does not disable them.
package mtasts
