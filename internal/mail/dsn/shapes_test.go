package dsn_test

import (
	"testing"

	"github.com/packetboat/packetboat/internal/mail/dsn"
	"github.com/packetboat/packetboat/internal/mail/reply"
)

// What is said about a recipient decides, wherever other addresses, replies and explanations stand.
func TestShapesOfReports(t *testing.T) {
	t.Parallel()
	const (
		status  = "Reporting-MTA: dns; y.example\n\nFinal-Recipient: rfc822; ann@x.example\nAction: failed\nStatus: "
		postfix = "This is the mail system at host y.example.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients.\n\n                   The mail system\n\n"
		exim    = "A message that you sent could not be delivered to one or more of its\nrecipients. The account may be disabled. The following address(es) failed:\n\n"
	)
	from := "MAILER-DAEMON@y.example"
	for _, c := range []struct {
		name, mail string
		address    string
		reason     reply.Reason
		hard       bool
	}{
		{"the address of a function", bounce(from, "Undelivered Mail Returned to Sender", postfix+"<support@x.example>: host mx.x.example said: 550 No such recipient here\n    (in reply to RCPT TO command)\n"), "support@x.example", reply.InvalidRecipient, true},
		{"the sender in the reply", bounce(from, "Undelivered Mail Returned to Sender", postfix+"<ann@x.example>: host mx.x.example said: 550 5.1.1\n    <b.token@y.example>: unauthorized sender (in reply to RCPT TO command)\n"), "ann@x.example", reply.SenderRejected, false},
		{"commands after the refusal", bounce(from, "Returned mail: see transcript for details", "   ----- The following addresses had permanent fatal errors -----\n<ann@x.example>\n\n   ----- Transcript of session follows -----\n... while talking to mx.x.example.:\n>>> DATA\n<<< 550-5.1.1 The email account that you tried to reach does not exist.\n<<< 503-5.5.1 RCPT first\n<<< 503 5.5.1 RCPT first\n"), "ann@x.example", reply.InvalidRecipient, true},
		{"the client's own words after a refusal", bounce(from, "Returned mail: see transcript for details", "   ----- The following addresses had permanent fatal errors -----\n<ann@x.example>\n\n   ----- Transcript of session follows -----\n... while talking to mx.x.example.:\n>>> RCPT To:<ann@x.example>\n<<< 550-Postmaster verification failed while checking <b@y.example>\n<<< 550-Response: 550 <postmaster@y.example>: User unknown\n<<< 550 Sender verify failed\n550 5.1.1 <ann@x.example>... User unknown\n<<< 503 valid RCPT command must precede DATA\n"), "ann@x.example", reply.SenderRejected, false},
		{"a reply only in the text", report(from, exim+"  ann@x.example\n    host mx.x.example [192.0.2.1]\n    SMTP error from remote mail server after MAIL FROM:<b@y.example> SIZE=2868:\n    550 Bad SPF records for [y.example:192.0.2.1], see http://spf.x.example/\n", status+"5.0.0"), "ann@x.example", reply.AuthFailure, false},
		{"no record of the destination", report(from, "The reason for the problem:\n5.1.2 - Bad destination host 'DNS Hard Error looking up x.example (A):  domain has no A record'\n", status+"5.0.0\nDiagnostic-Code: smtp; 5.1.2 - Bad destination host 'DNS Hard Error looking up x.example (A):  domain has no A record' (delivery attempts: 0)"), "ann@x.example", reply.InvalidDomain, true},
		{"a value that goes on without a space", report(from, "", status+"5.0.0\nDiagnostic-Code: smtp; 550 'ann@x.example' is not a\nregistered gateway user\nRemote-MTA: dns; mx.x.example"), "ann@x.example", reply.InvalidRecipient, true},
		{"an explanation before the reason", report(from, exim+"  ann@x.example\n    mailbox is full: retry timeout exceeded\n", status+"5.0.0"), "ann@x.example", reply.MailboxFull, false},
		{"a quoted reply about the sender", bounce(from, "Undelivered Mail Returned to Sender", "<ann@x.example>: host mx.x.example said: 550 5.1.7\n    <b.x@y.example>: Sender address rejected: undeliverable address:\n    host mx.z.example[192.0.2.1] said: 550 <b.x@y.example> recipient rejected (in\n    reply to RCPT TO command)\n"), "ann@x.example", reply.SenderRejected, false},
		{"a quoted reply about the recipient", bounce(from, "Undelivered Mail Returned to Sender", "<ann@x.example>: host mx.x.example said: 550 5.1.1\n    <ann@x.example>: Recipient address rejected: undeliverable address:\n    host mda.x.example[192.0.2.1] said: 550 unknown user (in reply to RCPT TO\n    command) (in reply to RCPT TO command)\n"), "ann@x.example", reply.InvalidRecipient, true},
		{"no such domain", report(from, "", status+"4.0.0\nDiagnostic-Code: smtp; DNS Error: 1 DNS type 'mx' lookup of x.example responded with code NXDOMAIN Domain name not found: x.example"), "ann@x.example", reply.InvalidDomain, true},
		{"an access list", report(from, "", status+"5.7.1\nDiagnostic-Code: smtp; 554 5.7.1 <ann@x.example>: Recipient address rejected: Access denied"), "ann@x.example", reply.RefusedByPolicy, false},
		{"a number of unknown recipients", report(from, "", status+"5.7.1\nDiagnostic-Code: smtp; 550 5.7.1 Error: exceeded unknown recipient count limit"), "ann@x.example", reply.RateLimited, false},
		{"a text with the type of a status", "From: " + from + "\nSubject: Mail System Error - Returned Mail\nContent-Type: multipart/report; report-type=delivery-status; boundary=BB\n\n--BB\nContent-Type: message/delivery-status\n\nThis message was undeliverable due to the following reason:\n\n<ann@x.example> has restricted SMS e-mail\n\n--BB\nContent-Type: message/delivery-status\n\n" + status + "5.3.0\n\n--BB--\n", "ann@x.example", reply.RefusedByPolicy, false},
		{"forwarded by a person", bounce("Bob <bob@z.example>", "Fwd: Delivery Status Notification (Failure)", "fyi\n\n---------- Forwarded message ----------\nFrom: Mail Delivery Subsystem <mailer-daemon@googlemail.com>\nTo: bob@z.example\n\nDelivery to the following recipient failed permanently:\n\n     ann@x.example\n\nThe error that the other server returned was:\n550 5.1.1 <ann@x.example> Recipient not found.\n\n----- Original message -----\n\nSubject: quota\n"), "ann@x.example", reply.InvalidRecipient, true},
	} {
		r := dsn.Parse([]byte(c.mail))
		if len(r.Recipients) != 1 {
			t.Errorf("%s: %s %+v", c.name, r.Kind, r.Recipients)
			continue
		}
		got := r.Recipients[0]
		if got.Address != c.address || got.Verdict.Reason != c.reason || (got.Verdict.Class == reply.Hard) != c.hard {
			t.Errorf("%s: %s is %s, %s by %s (%q)", c.name, got.Address, got.Verdict.Reason, got.Verdict.Class, got.Verdict.Rule, got.Diagnostic)
		}
	}
	for name, c := range map[string]struct {
		mail string
		kind dsn.Kind
	}{
		"about nobody":                    {"From: <a@x.example>\nSubject: Delivery Status Notification (Failure)\nContent-Type: multipart/report; report-type=delivery-status; boundary=BB\n\n--BB\n\n--BB--\n", dsn.Bounce},
		"a letter of a postmaster":        {"From: Ann <postmaster@x.example>\nTo: b@y.example\nSubject: Dear supplier\n\nPlease send me a quotation for your product to bob@z.example.\n", dsn.None},
		"the first mail of a mail folder": {bounce("Mail System Internal Data <MAILER-DAEMON@x.example>", "DON'T DELETE THIS MESSAGE -- FOLDER INTERNAL DATA", "This text is part of the internal format of your mail folder, and is not\na real message. ann@x.example\n"), dsn.None},
	} {
		if r := dsn.Parse([]byte(c.mail)); r.Kind != c.kind {
			t.Errorf("%s: %s", name, r.Kind)
		}
	}
}
