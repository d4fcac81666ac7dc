package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/mail/imapbox/dovecottest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A relay accepts all mail and sends its reports to a mailbox of Dovecot. The program is killed while it
// reads them; each report has its effect once.
func TestABounceMailboxIsReadThroughAKill(t *testing.T) {
	dbtest.Addresses(t, func(t *testing.T, address string) {
		dovecot := dovecottest.Start(t)
		p, ready, relay := startWith(t, &harness.Program{}, address)
		db := database(t, p)
		t.Cleanup(func() { _ = db.Close() })
		const n = 120
		if err := harness.Seed(t.Context(), db, ready.List, n, "x.test"); err != nil {
			t.Fatal(err)
		}
		lane, err := ready.LaneBy(t.Context(), "relay", relay.Address, 4, map[string]any{"tls": "none", "dkim_sign": false, "bounce_mailbox": map[string]any{
			"host": "localhost", "port": dovecot.Port, "tls": "none", "username": dovecottest.User, "password": dovecottest.Password,
		}})
		if err != nil {
			t.Fatal(err)
		}
		b, err := ready.Broadcast(t.Context(), lane, map[string]any{"subject": "News", "body_html": "<p>Hello {{ first_name }}</p>"})
		if err != nil {
			t.Fatal(err)
		}
		if err := ready.Schedule(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if _, err := ready.Await(t.Context(), b, "completed"); err != nil {
			t.Fatal(err)
		}
		messages, err := relay.Messages()
		if err != nil || len(messages) != n {
			t.Fatalf("%d messages, %v", len(messages), err)
		}
		for _, m := range messages {
			dovecot.Deliver(strings.ReplaceAll("Delivered-To: "+m.Mail+"\nFrom: MAILER-DAEMON@relay.test\nSubject: Undelivered Mail\nMIME-Version: 1.0\n"+
				"Content-Type: multipart/report; report-type=delivery-status; boundary=XX\n\n--XX\n\nSorry.\n--XX\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; relay.test\n\n"+
				"Final-Recipient: rfc822; "+m.Rcpt[0]+"\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 no such user\n\n--XX--\n", "\n", "\r\n"))
		}
		due := func() {
			t.Helper()
			if _, err := db.Exec(t.Context(), `/* all tenants: a test */ UPDATE bounce_mailbox SET next_read_at = 0`); err != nil {
				t.Fatal(err)
			}
		}
		bounced := func() float64 {
			t.Helper()
			report, err := ready.Key.Must(t.Context(), http.MethodGet, "/broadcasts/"+b+"/report", nil)
			if err != nil {
				t.Fatal(err)
			}
			return report["total_bounced"].(float64)
		}
		due()
		for bounced() == 0 {
			pause(t)
		}
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		due()
		for bounced() < n {
			pause(t)
		}
		for states(t, db) != "active 0, bounced 120, listed 120" {
			pause(t)
		}
		var entries int
		if err := db.QueryRow(t.Context(), `/* all tenants: a test */ SELECT COUNT(*) FROM journal WHERE type = 'email_bounced'`).Scan(&entries); err != nil || entries != n || bounced() != n {
			t.Errorf("%d entries, %v bounced, %v", entries, bounced(), err)
		}
	})
}
