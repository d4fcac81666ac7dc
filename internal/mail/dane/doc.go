// Package dane implements DANE for SMTP (RFC 7672): the keys and certificates of mail servers are
// published in TLSA records, which DNSSEC protects.
//
// Signatures of DNSSEC are verified by the name server that a Client asks, which reports the result in
// the AD bit of its answers (RFC 4035 section 3.2.3). Nothing protects this bit on the way, so the server must be
// on the same machine.
package dane
