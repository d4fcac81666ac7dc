package inboundtest

import "strings"

// Failure is a report that a message could not be delivered. diagnostic is a reply with an enhanced code, such
// as "550 5.1.1 no such user".
func Failure(to, diagnostic string) string {
	return Status(to, "failed", diagnostic[4:9], diagnostic)
}

// Status is a report about the delivery of a message (RFC 3464). diagnostic may be empty.
func Status(to, action, status, diagnostic string) string {
	if diagnostic != "" {
		diagnostic = "\nDiagnostic-Code: smtp; " + diagnostic
	}
	return "From: MAILER-DAEMON@relay.example\nTo: x@y.example\nSubject: Undelivered Mail Returned to Sender\nMIME-Version: 1.0\n" +
		"Content-Type: multipart/report; report-type=delivery-status; boundary=\"XX\"\n\n--XX\nContent-Type: text/plain\n\nSorry.\n\n" +
		"--XX\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; relay.example\n\nFinal-Recipient: rfc822; " + to +
		"\nAction: " + action + "\nStatus: " + status + diagnostic + "\n\n--XX--\n"
}

// Complaint is a report about a message (RFC 5965), such as one of the type "abuse".
func Complaint(kind, messageID string) string {
	return "From: fbl@provider.example\nSubject: complaint\nContent-Type: multipart/report; report-type=feedback-report; boundary=XX\n\n--XX\nContent-Type: text/plain\n\nA complaint.\n" +
		"--XX\nContent-Type: message/feedback-report\n\nFeedback-Type: " + kind + "\nUser-Agent: P/1\nVersion: 1\n\n--XX\nContent-Type: message/rfc822\n\nMessage-ID: " + messageID + "\nSubject: Hi\n\nHi\n--XX--\n"
}

// AutoReply is the notice of a recipient who is absent (RFC 3834).
func AutoReply(from string) string {
	return "From: " + from + "\nSubject: Out of office\nAuto-Submitted: auto-replied\n\n550 5.1.1 no such user\n"
}

// Delivered is a mail as it stands in a mailbox, with the address that it was delivered to.
func Delivered(to, mail string) string {
	return strings.ReplaceAll("Return-Path: <>\nDelivered-To: "+to+"\n"+mail, "\n", "\r\n")
}
