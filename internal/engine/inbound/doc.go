// Package inbound receives mail that comes back: bounces, abuse reports, requests to unsubscribe and
// automatic replies.
//
// Server accepts mail by SMTP, for the addresses that Packetboat itself has written into its messages
// and for those of the operator; every other recipient is refused, so that it relays nothing. It
// never sends an answer by mail. Mailboxes reads the mailboxes of lanes by IMAP, and package public
// serves the hooks of providers. All use one Receiver, which identifies the message that a report is
// about, and one Recorder, which applies the effects.
//
// Anyone can write a report. It is acted upon only if it came to an address with a valid token of
// package track, or contains a Message-ID with its secret part. Both are in the headers of one
// message, so a report can affect only the contact to whom that message was sent.
package inbound
