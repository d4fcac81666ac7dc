package mail

import (
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/mail/imapbox/dovecottest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A relay accepts all mail and sends its reports to a mailbox of Dovecot. The program is killed while it
// reads them; each report has its effect once.
func TestAKilledProcessAppliesEachReportOfAMailboxOnce(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		dovecot := dovecottest.Start(t)
		p, ready, relay := e2etest.StartWith(t, &harness.Program{}, address)
		db := e2etest.Database(t, p)
		t.Cleanup(func() { _ = db.Close() })
		const n = 120
		if err := harness.Seed(t.Context(), db, ready.List, n, "x.test"); err != nil {
			t.Fatal(err)
		}
		lane, err := ready.LaneBy(t.Context(), "relay", relay.Address, 4, withMailbox(dovecot))
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
		bounced := func() float64 {
			t.Helper()
			report, err := ready.Key.Must(t.Context(), http.MethodGet, "/broadcasts/"+b+"/report", nil)
			if err != nil {
				t.Fatal(err)
			}
			return report["total_bounced"].(float64)
		}
		readNow(t, db)
		for bounced() == 0 {
			e2etest.Pause(t)
		}
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		readNow(t, db)
		for bounced() < n {
			e2etest.Pause(t)
		}
		for states(t, db) != "active 0, bounced 120, listed 120" {
			e2etest.Pause(t)
		}
		var entries int
		if err := db.QueryRow(t.Context(), `/* all tenants: a test */ SELECT COUNT(*) FROM journal WHERE type = 'email_bounced'`).Scan(&entries); err != nil || entries != n || bounced() != n {
			t.Errorf("%d entries, %v bounced, %v", entries, bounced(), err)
		}
	})
}

// withMailbox are settings of a lane whose reports are in a mailbox of Dovecot.
func withMailbox(s *dovecottest.Server) map[string]any {
	return map[string]any{"tls": "none", "dkim_sign": false, "bounce_mailbox": map[string]any{
		"host": "localhost", "port": s.Port, "tls": "none", "username": dovecottest.User, "password": dovecottest.Password,
	}}
}

// readNow makes the mailboxes due, which are read every minute.
func readNow(t *testing.T, db *sqldb.DB) {
	t.Helper()
	if _, err := db.Exec(t.Context(), `/* all tenants: a test */ UPDATE bounce_mailbox SET next_read_at = 0`); err != nil {
		t.Fatal(err)
	}
}

// Postfix accepts all mail, bounces some of it and delivers its reports into a mailbox of Dovecot, which the
// program reads. A report that has lost the return path is identified by the mail that it returns.
func TestReportsInAMailboxMarkContacts(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string][]string{
		"to the return path":    nil,
		"to the relay's sender": {"sender_canonical_maps = static:bounces@" + returnHost, "sender_canonical_classes = envelope_sender"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Addresses(t, func(t *testing.T, address string) {
				t.Parallel()
				dovecot := dovecottest.Start(t)
				p, ready, next := e2etest.StartWith(t, &harness.Program{}, address, refusals...)
				relay := startPostfix(t, append(settings,
					"default_transport = "+postfixRoute(next.Address), "transport_maps = inline:{ "+postfixRefusal+" {"+returnHost+" = virtual} }",
					"virtual_mailbox_base = "+dovecot.Dir, "virtual_mailbox_domains =", "virtual_mailbox_maps = static:mail/", "virtual_minimum_uid = 1", "virtual_uid_maps = static:8", "virtual_gid_maps = static:8",
				)...)
				db := e2etest.Database(t, p)
				t.Cleanup(func() { _ = db.Close() })
				lane, err := ready.LaneBy(t.Context(), "relay", relay, 2, withMailbox(dovecot))
				if err != nil {
					t.Fatal(err)
				}
				sendToRefused(t, ready, db, lane, func() { readNow(t, db) })
			})
		})
	}
}
