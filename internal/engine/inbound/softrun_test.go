package inbound_test

import (
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

const week = 7 * 24 * time.Hour

// weekly adds messages to the contact of a fixture with one, a week apart.
func (f *fixture) weekly(n int) []outbox.Message {
	f.t.Helper()
	var list []outbox.Message
	for i := range n {
		m := f.Messages[0]
		m.ID, m.Visit = id.New[id.Message](), i+1
		list = append(list, m)
	}
	if _, err := outbox.AddMessages(f.t.Context(), f.DB, f.Tenant, f.Send, list); err != nil {
		f.t.Fatal(err)
	}
	for i, m := range list {
		f.exec(`UPDATE outbox SET sent_at = $3 WHERE tenant_id = $1 AND id = $2`, f.Tenant, m.ID, f.week(i).UnixMicro())
	}
	f.exec(`UPDATE send SET last_send_at = $2 WHERE tenant_id = $1`, f.Tenant, f.week(n).UnixMicro())
	return list
}

func (f *fixture) week(i int) time.Time { return broadcasttest.Now.Add(time.Duration(i+1) * week) }

// arrives makes a relay accept a message.
func (f *fixture) arrives(m outbox.Message, at time.Time) {
	f.t.Helper()
	f.exec(`UPDATE outbox SET state = 'delivered' WHERE tenant_id = $1 AND id = $2`, f.Tenant, m.ID)
	err := f.DB.InTx(f.t.Context(), func(tx *sqldb.DB) error {
		return journal.Append(f.t.Context(), tx, journal.Entry{Tenant: f.Tenant, Type: journal.EmailDelivered, Contact: m.Contact, Send: f.Send, Message: m.ID, At: at})
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// reports records the report about a message, an hour after its acceptance.
func (f *fixture) reports(m outbox.Message, class string, at time.Time) {
	f.t.Helper()
	if n, err := outbox.RecordBounces(f.t.Context(), f.DB, f.Tenant, []outbox.Bounce{{Message: m.ID, At: at.Add(time.Hour), Refusal: outbox.Refusal{Class: class}}}); err != nil || len(n) != 1 {
		f.t.Fatalf("RecordBounces = %d, %v", n, err)
	}
	f.Follow()
}

// A relay accepts each mail and reports later that the mailbox is full: the acceptances between do not
// hide that the reports are about messages in a row.
func TestSoftBouncesInARowThroughARelay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setUp(t, db, 1)
		list := f.weekly(8)
		for i, m := range list[:6] {
			f.arrives(m, f.week(i))
			f.Follow()
			class := "soft"
			if i == 2 {
				class = "block" // neither counts nor ends the run
			}
			f.reports(m, class, f.week(i))
			want := contact.Active
			if i == 5 {
				want = contact.Bounced
			}
			if c := f.Contact(0); c.Status != want || c.BounceType != contact.BounceSoft {
				t.Fatalf("after report %d: %s, bounce type %q; want %s", i+1, c.Status, c.BounceType, want)
			}
		}
		// Bounces before the contact was made active again do not count.
		if _, err := contact.ResetStatus(t.Context(), db, f.Tenant, []id.Contact{f.People[0].ID}, f.week(6)); err != nil {
			t.Fatal(err)
		}
		f.arrives(list[6], f.week(6))
		f.reports(list[6], "soft", f.week(6))
		if c := f.Contact(0); c.Status != contact.Active || c.BounceType != contact.BounceSoft {
			t.Errorf("after a report about one message since the reset: %s, %q", c.Status, c.BounceType)
		}
		f.arrives(list[7], f.week(7))
		f.Follow()
		if c := f.Contact(0); c.BounceType != "" {
			t.Errorf("after a delivery: %q", c.BounceType)
		}
	})
}

// Reports may arrive in any order, and after the acceptance of later messages.
func TestSoftBouncesReportedTogether(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setUp(t, db, 1)
		list := f.weekly(7)
		for i, m := range list {
			f.arrives(m, f.week(i))
		}
		f.Follow()
		f.reports(list[0], "soft", f.week(0))
		if c := f.Contact(0); c.BounceType != "" {
			t.Errorf("a report about a message before accepted ones: %q", c.BounceType)
		}
		for i, m := range slices.Backward(list[2:]) {
			if c := f.Contact(0); c.Status != contact.Active {
				t.Fatalf("before report %d: %s", i, c.Status)
			}
			f.reports(m, "soft", f.week(i+2))
		}
		if c := f.Contact(0); c.Status != contact.Bounced {
			t.Errorf("after five in a row: %s", c.Status)
		}
	})
}
