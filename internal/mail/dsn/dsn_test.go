package dsn_test

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/dsn"
	"github.com/packetboat/packetboat/internal/mail/reply"
)

// report builds a delivery status notification.
func report(from, text, fields string) string {
	return "Return-Path: <>\nFrom: " + from + "\nTo: b.token@bounce.y.example\nSubject: Undelivered Mail Returned to Sender\nAuto-Submitted: auto-replied\nMIME-Version: 1.0\n" +
		"Content-Type: multipart/report; report-type=delivery-status;\n\tboundary=\"XX/y.example\"\n\nThis is a MIME-encapsulated message.\n\n" +
		"--XX/y.example\nContent-Type: text/plain; charset=us-ascii\n\n" + text + "\n\n" +
		"--XX/y.example\nContent-Description: Delivery report\nContent-Type: message/delivery-status\n\n" + fields + "\n\n" +
		"--XX/y.example\nContent-Type: text/rfc822-headers\n\nFrom: news@y.example\nTo: ann@x.example\nMessage-ID: <0190.abcd@bounce.y.example>\nX-Entity-Ref-ID: 0190\nSubject: News\n\n--XX/y.example--\n"
}

// bounce builds a bounce in the format of a server that does not follow RFC 3464.
func bounce(from, subject, text string) string {
	return "Return-Path: <>\nFrom: " + from + "\nTo: b.token@bounce.y.example\nSubject: " + subject + "\nDate: Mon, 23 Nov 2026 10:00:00 +0000\n\n" + text
}

const quoted = "\n--- Below this line is a copy of the message.\n\nReturn-Path: <b.token@bounce.y.example>\nMessage-ID: <0190.abcd@bounce.y.example>\nX-Entity-Ref-ID: 0190\nTo: ann@x.example\nSubject: no such user, spam, mailbox full\n\nHello\n"

func TestReports(t *testing.T) {
	for name, tt := range map[string]struct {
		mail    string
		kind    dsn.Kind
		address string
		reason  reply.Reason // empty: not failed
	}{
		"postfix": {report("MAILER-DAEMON@mail.y.example (Mail Delivery System)",
			"<ann@x.example>: host mx.x.example[192.0.2.1] said: 550 5.1.1 <ann@x.example>:\n    Recipient address rejected: User unknown in virtual mailbox table (in reply\n    to RCPT TO command)",
			"Reporting-MTA: dns; mail.y.example\nX-Postfix-Queue-ID: 4F\nArrival-Date: Mon, 23 Nov 2026 10:00:00 +0000\n\nFinal-Recipient: rfc822; ann@x.example\nOriginal-Recipient: rfc822;ann@x.example\nAction: failed\nStatus: 5.1.1\nRemote-MTA: dns; mx.x.example\nDiagnostic-Code: smtp; 550 5.1.1 <ann@x.example>: Recipient address rejected:\n    User unknown in virtual mailbox table"),
			dsn.DSN, "ann@x.example", reply.InvalidRecipient},
		"postfix, host not found": {report("MAILER-DAEMON@mail.y.example",
			"<ann@nosuch.example>: Host or domain name not found. Name service error for\n    name=nosuch.example type=A: Host not found",
			"Reporting-MTA: dns; mail.y.example\n\nFinal-Recipient: rfc822; ann@nosuch.example\nAction: failed\nStatus: 5.4.4\nDiagnostic-Code: X-Postfix; Host or domain name not found. Name service error for\n    name=nosuch.example type=A: Host not found"),
			dsn.DSN, "ann@nosuch.example", reply.InvalidDomain},
		"postfix, expired": {report("MAILER-DAEMON@mail.y.example", "<ann@x.example>: connect to mx.x.example[192.0.2.1]:25: Connection timed out",
			"Reporting-MTA: dns; mail.y.example\n\nFinal-Recipient: rfc822; ann@x.example\nAction: failed\nStatus: 4.4.1\nDiagnostic-Code: X-Postfix; connect to mx.x.example[192.0.2.1]:25: Connection timed out"),
			dsn.DSN, "ann@x.example", reply.Timeout},
		"postfix, policy at the end of data": {report("MAILER-DAEMON@mail.y.example", "<ann@x.example>: host gmail-smtp-in.l.google.com said: 550-5.7.26 This mail has been blocked because the sender is unauthenticated. (in reply to end of DATA command)",
			"Reporting-MTA: dns; mail.y.example\n\nFinal-Recipient: rfc822; ann@x.example\nAction: failed\nStatus: 5.7.26\nDiagnostic-Code: smtp; 550-5.7.26 This mail has been blocked because the sender is unauthenticated."),
			dsn.DSN, "ann@x.example", reply.AuthFailure},
		"a full mailbox with the code of an unknown user": {report("MAILER-DAEMON@x.example", "Over quota", "Reporting-MTA: dns; x.example\n\nFinal-Recipient: RFC822; ann@x.example\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: SMTP; 550 5.1.1 The user's mailbox is over quota"),
			dsn.DSN, "ann@x.example", reply.MailboxFull},
		"status without information": {report("postmaster@x.example", "Your message did not reach ann@x.example:\n  550 5.1.1 no such user", "Reporting-MTA: dns; x.example\n\nFinal-Recipient: rfc822;ann@x.example\nAction: failed\nStatus: 5.0.0"),
			dsn.DSN, "ann@x.example", reply.InvalidRecipient},
		"delayed": {report("MAILER-DAEMON@mail.y.example", "This is a warning message only.", "Reporting-MTA: dns; y.example\n\nFinal-Recipient: rfc822; ann@x.example\nAction: delayed\nStatus: 4.4.1\nDiagnostic-Code: X-Postfix; timed out\nWill-Retry-Until: Wed, 25 Nov 2026 10:00:00 +0000"),
			dsn.DSN, "ann@x.example", ""},
		"delivered": {report("MAILER-DAEMON@mail.y.example", "Delivered", "Reporting-MTA: dns; y.example\n\nFinal-Recipient: rfc822; ann@x.example\nAction: delivered\nStatus: 2.0.0"),
			dsn.DSN, "ann@x.example", ""},
		"exchange online": {report("postmaster@x.example", "Delivery has failed to these recipients or groups:\n\nann@x.example\nThe email address you entered couldn't be found.",
			"Reporting-MTA: dns;AM6PR01MB.eurprd01.prod.exchangelabs.com\nReceived-From-MTA: dns;mail.y.example\n\nFinal-Recipient: rfc822;ann@x.example\nAction: failed\nStatus: 5.1.10\nDiagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup"),
			dsn.DSN, "ann@x.example", reply.InvalidRecipient},
		"exchange, quota": {report("postmaster@x.example", "ann@x.example\nThe recipient's mailbox is full and can't accept messages now.",
			"Reporting-MTA: dns;x\n\nFinal-Recipient: rfc822;ann@x.example\nAction: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp;554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException"),
			dsn.DSN, "ann@x.example", reply.MailboxFull},
		"gmail": {report("Mail Delivery Subsystem <mailer-daemon@googlemail.com>", "** Address not found **\n\nYour message wasn't delivered to ann@x.example because the address couldn't be found, or is unable to receive mail.",
			"Reporting-MTA: dns; googlemail.com\nReceived-From-MTA: dns; news@y.example\n\nFinal-Recipient: rfc822; ann@x.example\nAction: failed\nStatus: 5.1.1\nRemote-MTA: dns; gmail-smtp-in.l.google.com\nDiagnostic-Code: smtp; 550-5.1.1 The email account that you tried to reach does not exist. Please try\n 550-5.1.1 double-checking the recipient's email address for typos"),
			dsn.DSN, "ann@x.example", reply.InvalidRecipient},
		"domino": {report("Postmaster@x.example", "Your message was not delivered because: User ann (ann@x.example) not listed in Domino Directory",
			"Reporting-MTA: dns;notes.x.example\n\nFinal-Recipient: rfc822;ann@x.example\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: X-Notes; User ann not listed in Domino Directory"),
			dsn.DSN, "ann@x.example", reply.InvalidRecipient},
		"exim": {bounce("Mail Delivery System <Mailer-Daemon@mail.y.example>", "Mail delivery failed: returning message to sender",
			"This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  ann@x.example\n    host mx.x.example [192.0.2.1]\n    SMTP error from remote mail server after RCPT TO:<ann@x.example>:\n    550 5.1.1 <ann@x.example>: Recipient address rejected: User unknown\n\n------ This is a copy of the message, including all the headers. ------\n\nMessage-ID: <0190.abcd@bounce.y.example>\nX-Entity-Ref-ID: 0190\nTo: ann@x.example\nSubject: mailbox full\n"),
			dsn.Bounce, "ann@x.example", reply.InvalidRecipient},
		"exim, unroutable": {bounce("Mail Delivery System <Mailer-Daemon@mail.y.example>", "Mail delivery failed: returning message to sender",
			"The following address(es) failed:\n\n  ann@nosuch.example\n    Unrouteable address\n"+quoted), dsn.Bounce, "ann@nosuch.example", reply.InvalidRecipient},
		"exim, retry timeout": {bounce("Mail Delivery System <Mailer-Daemon@mail.y.example>", "Mail delivery failed: returning message to sender",
			"The following address(es) failed:\n\n  ann@x.example\n    retry timeout exceeded\n"+quoted), dsn.Bounce, "ann@x.example", reply.ExpiredQueue},
		"exim, delayed": {bounce("Mail Delivery System <Mailer-Daemon@mail.y.example>", "Warning: message 1abc delayed 24 hours",
			"The message identifier is: 1abc\nThe address to which the message has not yet been delivered is:\n\n  ann@x.example\n    Delay reason: connection timed out\n\nNo action is required on your part. Delivery attempts will continue for\nsome time.\n"), dsn.Bounce, "ann@x.example", ""},
		"qmail": {bounce("MAILER-DAEMON@mail.x.example", "failure notice",
			"Hi. This is the qmail-send program at mail.x.example.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n<ann@x.example>:\nSorry, no mailbox here by that name. (#5.1.1)\n"+quoted), dsn.Bounce, "ann@x.example", reply.InvalidRecipient},
		"qmail, remote": {bounce("MAILER-DAEMON@mail.x.example", "failure notice",
			"Hi. This is the qmail-send program.\n\n<ann@x.example>:\n192.0.2.9 failed after I sent the message.\nRemote host said: 554 5.7.1 This message has been blocked because it contains SPAM\n"+quoted), dsn.Bounce, "ann@x.example", reply.SpamContent},
		"qmail, queue": {bounce("MAILER-DAEMON@mail.x.example", "failure notice",
			"<ann@x.example>:\nCNAME lookup failed temporarily. (#4.4.3)\nI'm not going to try again; this message has been in the queue too long.\n"+quoted), dsn.Bounce, "ann@x.example", reply.ExpiredQueue},
		"yahoo": {bounce("MAILER-DAEMON@yahoo.com", "Failure Notice", "Sorry, we were unable to deliver your message to the following address.\n\n<ann@x.example>:\n554: delivery error: dd This user doesn't have a x.example account (ann@x.example) [0]\n"+quoted), dsn.Bounce, "ann@x.example", reply.InvalidRecipient},
		"sendmail": {bounce("Mail Delivery Subsystem <MAILER-DAEMON@mail.x.example>", "Returned mail: see transcript for details",
			"The original message was received at Mon, 23 Nov 2026\n\n   ----- The following addresses had permanent fatal errors -----\n<ann@x.example>\n    (reason: 550 5.1.1 <ann@x.example>... User unknown)\n\n   ----- Transcript of session follows -----\n... while talking to mx.x.example.:\n>>> DATA\n<<< 550 5.1.1 <ann@x.example>... User unknown\n550 5.1.1 <ann@x.example>... User unknown\n<<< 503 5.0.0 Need RCPT (recipient)\n"), dsn.Bounce, "ann@x.example", reply.InvalidRecipient},
		"old exchange": {bounce("System Administrator <postmaster@x.example>", "Undeliverable: News",
			"Your message did not reach some or all of the intended recipients.\n\nThe following recipient(s) could not be reached:\n\n      ann@x.example on 11/23/2026 10:00 AM\n            The e-mail account does not exist at the organization this message was sent to.\n            <mail.x.example #5.1.1>\n"), dsn.Bounce, "ann@x.example", reply.InvalidRecipient},
		"german": {bounce("Mailer-Daemon@t-online.de", "Unzustellbare Nachricht", "Ihre Nachricht konnte nicht zugestellt werden:\n\n<ann@x.example>:\nDer Empfänger ist unbekannt.\n"), dsn.Bounce, "ann@x.example", reply.InvalidRecipient},
		"qq":     {bounce("PostMaster@qq.com", "=?gb18030?B?z7XNs83L0MU=?=/Systems bounce", "Sorry, your message could not be delivered to ann@x.example.\nReason: 550 Mailbox not found. http://service.mail.qq.com/cgi-bin/help?subtype=1\n"), dsn.Bounce, "ann@x.example", reply.InvalidRecipient},
		"html only": {"Return-Path: <>\nFrom: postmaster@x.example\nTo: b.token@y.example\nSubject: Undeliverable: News\nContent-Type: text/html; charset=utf-8\n\n<html><head><style>p{}</style></head><body><p>Your message to <b>ann@x.example</b> couldn't be delivered.</p><p>550 5.7.1 Message rejected due to local policy.</p></body></html>\n",
			dsn.Bounce, "ann@x.example", reply.RefusedByPolicy},
	} {
		t.Run(name, func(t *testing.T) {
			for form, mail := range map[string]string{
				"LF": tt.mail, "CRLF": strings.ReplaceAll(tt.mail, "\n", "\r\n"), "CR": strings.ReplaceAll(tt.mail, "\n", "\r"),
				"mbox": "From MAILER-DAEMON Mon Nov 23 10:00:00 2026\n" + tt.mail,
			} {
				r := dsn.Parse([]byte(mail))
				if r.Kind != tt.kind || len(r.Recipients) != 1 {
					t.Fatalf("%s: kind %s, recipients %+v; want one of a %s", form, r.Kind, r.Recipients, tt.kind)
				}
				got := r.Recipients[0]
				if got.Address != tt.address || got.Verdict.Reason != tt.reason {
					t.Errorf("%s: %q %s (%s, %s, %d %q); want %q %s", form, got.Address, got.Verdict.Reason, got.Verdict.Rule, got.Status, got.SMTPCode, got.Diagnostic, tt.address, tt.reason)
				}
				if strings.Contains(mail, "Message-ID:") && (r.Original.MessageID != "<0190.abcd@bounce.y.example>" || r.Original.Ref != "0190") {
					t.Errorf("%s: original %+v", form, r.Original)
				}
			}
		})
	}
}

func TestOtherMail(t *testing.T) {
	for name, tt := range map[string]struct {
		mail string
		kind dsn.Kind
	}{
		"absence":               {"From: Ann <ann@x.example>\nSubject: Automatic reply: News\nAuto-Submitted: auto-replied\n\nI am out of the office.\n", dsn.AutoReply},
		"german absence":        {"From: ann@x.example\nSubject: Abwesenheitsnotiz: News\n\nIch bin nicht im Haus.\n", dsn.AutoReply},
		"by header":             {"From: ann@x.example\nSubject: Re: News\nX-Autoreply: yes\n\nThank you.\n", dsn.AutoReply},
		"absence of postmaster": {"From: postmaster@x.example\nSubject: Out of office: News\n\nAway. Write to bob@x.example.\n", dsn.AutoReply},
		"challenge":             {"From: ann@x.example\nSubject: Please verify your message\n\nClick here to release your message.\n", dsn.Challenge},
		"unsubscribe":           {"From: ann@x.example\nTo: u.x@y.example\nSubject: unsubscribe\n\n", dsn.Unsubscribe},
		"dmarc":                 {"From: noreply-dmarc@google.com\nSubject: Report domain: y.example Submitter: google.com Report-ID: 1\nContent-Type: application/zip\n\nUEsDB\n", dsn.None},
		"person":                {"From: ann@x.example\nSubject: Re: News\n\nPlease call me. My colleague bob@x.example is unknown to you.\n", dsn.None},
		"person about delivery": {"From: ann@x.example\nSubject: my parcel\n\nIt could not be delivered.\n", dsn.None},
		"nothing":               {"", dsn.None},
		"no header":             {"hello", dsn.None},
	} {
		if r := dsn.Parse([]byte(tt.mail)); r.Kind != tt.kind {
			t.Errorf("%s: %s, want %s", name, r.Kind, tt.kind)
		}
	}
}

const arf = `Return-Path: <>
From: feedback@arf.mail.yahoo.com
To: fbl@y.example
Subject: FW: News
Content-Type: multipart/report; boundary="BB"; report-type=feedback-report

--BB
Content-Type: text/plain

This is an email abuse report.

--BB
Content-Type: message/feedback-report

Feedback-Type: abuse
User-Agent: Yahoo!-Mail-Feedback/2.0
Version: 0.1
Original-Mail-From: <b.token@bounce.y.example>
Original-Rcpt-To: ann@x.example
Reported-Domain: y.example
Source-IP: 192.0.2.7

--BB
Content-Type: message/rfc822

From: news@y.example
To: ann@x.example
Message-ID: <0190.abcd@bounce.y.example>
Subject: News

Hello
--BB--
`

func TestAbuseReports(t *testing.T) {
	r := dsn.Parse([]byte(arf))
	want := dsn.Feedback{Type: "abuse", SourceIP: "192.0.2.7", UserAgent: "Yahoo!-Mail-Feedback/2.0", OriginalRcpt: "ann@x.example", ReportedDomain: "y.example"}
	if r.Kind != dsn.ARF || r.Feedback != want || r.Original.MessageID != "<0190.abcd@bounce.y.example>" || !r.Feedback.Complaint() {
		t.Errorf("%+v", r)
	}
	for kind, complaint := range map[string]bool{"abuse": true, "fraud": true, "not-spam": false, "auth-failure": false, "opt-out": false} {
		f := dsn.Parse([]byte(strings.Replace(arf, "Feedback-Type: abuse", "Feedback-Type: "+kind, 1))).Feedback
		if f.Complaint() != complaint || f.OptOut() != (kind == "opt-out") {
			t.Errorf("%s: complaint %v, opt-out %v", kind, f.Complaint(), f.OptOut())
		}
	}
}

func TestAReportOfADelayIsNoneOfAFailure(t *testing.T) {
	const late = "Final-Recipient: rfc822; ann@x.example\nAction: delayed\nStatus: 4.4.1"
	const failed = "Final-Recipient: rfc822; bob@x.example\nAction: failed\nStatus: 5.1.1"
	const arrived = "Final-Recipient: rfc822; eve@x.example\nAction: delivered\nStatus: 2.0.0"
	for _, tt := range []struct {
		groups  []string
		delayed bool
	}{
		{[]string{late}, true}, {[]string{late, arrived}, true}, {[]string{failed}, false}, {[]string{late, failed}, false}, {[]string{arrived}, false}, {nil, false},
	} {
		r := dsn.Parse([]byte(report("MAILER-DAEMON@x.example", "", "Reporting-MTA: dns; x\n\n"+strings.Join(tt.groups, "\n\n"))))
		if r.Delayed() != tt.delayed {
			t.Errorf("%q: Delayed = %v; %+v", tt.groups, r.Delayed(), r.Recipients)
		}
	}
}

func TestAForwardedReportIsFound(t *testing.T) {
	inner := report("MAILER-DAEMON@x.example", "no such user", "Reporting-MTA: dns; x\n\nFinal-Recipient: rfc822; ann@x.example\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 no such user")
	mail := "From: help@y.example\nSubject: Fwd\nContent-Type: multipart/mixed; boundary=OO\n\n--OO\nContent-Type: text/plain\n\nsee below\n--OO\nContent-Type: message/rfc822\n\n" + inner + "\n--OO--\n"
	r := dsn.Parse([]byte(mail))
	if r.Kind != dsn.DSN || len(r.Recipients) != 1 || r.Recipients[0].Verdict.Class != reply.Hard {
		t.Errorf("%+v", r)
	}
}

func TestDamagedReportsAreRead(t *testing.T) {
	whole := report("MAILER-DAEMON@x.example", "no such user", "Reporting-MTA: dns; x\n\nFinal-Recipient: rfc822; ann@x.example\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 no such user")
	for name, mail := range map[string]string{
		"boundary not named":          strings.Replace(whole, "\tboundary=\"XX/y.example\"\n", "\tcharset=x\n", 1),
		"cut off":                     whole[:strings.Index(whole, "Content-Type: text/rfc822-headers")],
		"groups joined":               strings.Replace(whole, "dns; x\n\nFinal", "dns; x\nFinal", 1),
		"status in the wrong type":    strings.Replace(whole, "message/delivery-status", "text/plain", 1),
		"boundary without quotes":     strings.Replace(whole, "\"XX/y.example\"", "XX/y.example", 1),
		"status in base64 of another": strings.Replace(whole, "Action: failed\n", "", 1),
	} {
		r := dsn.Parse([]byte(mail))
		if len(r.Recipients) != 1 || r.Recipients[0].Address != "ann@x.example" || r.Recipients[0].Verdict.Reason != reply.InvalidRecipient {
			t.Errorf("%s: %s %+v", name, r.Kind, r.Recipients)
		}
	}
}

func TestDeepAndWideMailIsBounded(t *testing.T) {
	deep := strings.Repeat("Content-Type: multipart/mixed; boundary=a\n\n--a\n", 20000)
	wide := "Content-Type: multipart/mixed; boundary=a\n\n" + strings.Repeat("--a\nContent-Type: text/plain\n\nx\n", 30000)
	status := "Content-Type: message/delivery-status\n\n" + strings.Repeat("Final-Recipient: rfc822;a@b.example\n\n", 25000)
	for _, mail := range []string{deep, wide, status, strings.Repeat("a@b.example: 550 5.1.1 x\n", 40000), strings.Repeat("<", 1<<20)} {
		if r := dsn.Parse([]byte("From: mailer-daemon@x.example\nSubject: failure notice\n" + mail)); len(r.Recipients) > 100 {
			t.Errorf("%d recipients", len(r.Recipients))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(arf))
	f.Add([]byte(report("MAILER-DAEMON@x.example", "x", "Reporting-MTA: dns; x\n\nFinal-Recipient: rfc822; ann@x.example\nAction: failed\nStatus: 5.1.1")))
	f.Add([]byte(bounce("MAILER-DAEMON@x.example", "failure notice", "<ann@x.example>:\nSorry, no mailbox here by that name. (#5.1.1)\n"+quoted)))
	f.Add([]byte("Subject: =?utf-8?q?=?=\nContent-Type: text/html\n\n<p"))
	f.Fuzz(func(t *testing.T, mail []byte) {
		r := dsn.Parse(mail)
		for _, x := range r.Recipients {
			if x.Verdict.Class != "" && x.Action != "failed" && x.Action != "failure" && x.Action != "fail" {
				t.Errorf("%+v has a verdict", x)
			}
			if len(x.Diagnostic) > reply.MaxText {
				t.Errorf("a diagnostic of %d bytes", len(x.Diagnostic))
			}
		}
	})
}
