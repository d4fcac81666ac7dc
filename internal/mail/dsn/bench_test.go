package dsn_test

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/dsn"
)

// BenchmarkParse reads reports of Postfix with the returned message, each of another reason.
func BenchmarkParse(b *testing.B) {
	var mails [][]byte
	for _, line := range []string{
		"550 5.1.1 <ann@x.example>: Recipient address rejected: User unknown in virtual mailbox table", "550-5.1.1 The email account that you tried to reach does not exist",
		"550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup", "550 5.2.1 This account is disabled", "552 5.2.2 Mailbox over quota",
		"554 5.7.1 Service unavailable; blocked using zen.spamhaus.org", "550 5.7.26 This mail is unauthenticated",
	} {
		mail := report("MAILER-DAEMON@relay.example", "This is the mail system at host relay.example.\n\n<ann@x.example>: host mx.x.example said: "+line+"\n    (in reply to RCPT TO command)",
			"Reporting-MTA: dns; relay.example\n\nFinal-Recipient: rfc822; ann@x.example\nAction: failed\nStatus: 5.0.0\nRemote-MTA: dns; mx.x.example\nDiagnostic-Code: smtp; "+line)
		mails = append(mails, []byte(strings.ReplaceAll(mail, "\n", "\r\n")))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if r := dsn.Parse(mails[i%len(mails)]); r.Kind != dsn.DSN {
			b.Fatal(r.Kind)
		}
	}
}
