// Package public serves what everybody can reach without a credential of the API: the links of mails, the
// requests of websites' scripts and forms, the reports of relays and of Amazon SNS, images, the pages of the built-in
// mailbox, the reference of the API, and what certificate authorities and proxies ask about hosts. It is the code
// that strangers send bytes to, so it has rules of its own.
//
// A request proves what it may do in one of these ways:
//
//   - Links of mails (Recipient) and the URLs of Hooks hold a token that was signed for one message or MTA config and
//     for one purpose (package track). A GET of the links that mail programs and scanners may follow changes
//     nothing but what is counted; a change takes a POST, of a button or of one click (RFC 8058).
//   - Scripts and forms of websites (Site, Forms) name the tenant by a public key. Their answers do not depend
//     on whether an address is a contact's, and no cookie is read or set.
//   - Notifications of SNS are signed by Amazon, and their topic must be one of the MTA config's.
//   - The mailbox takes the session of a signed-in user, but none for the demo on a loopback address, and refuses changes
//     from pages of other sites. It shows untrusted mail, whose HTML is in a frame with an opaque origin.
//   - Images (Assets), the reference (Docs) and answers about hosts (Hosts) are public.
//
// Bodies are bounded before they are read, and requests of websites and forms are limited by address
// and by tenant in the database, so for all processes together. Pages run no script that is not needed, forbid
// everything else by their content security policy, and write values only by html/template.
//
// The package must never import base/secret, so that a process which serves recipients opens no DKIM key, nor
// campaign/broadcast or the API: whose a message is, it asks of outbox. internal/arch_test.go enforces this.
package public
