package dispatch_test

import (
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Another process continues the planning of a process that dies.
func TestAnotherProcessContinuesPlanning(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "a", 20)
		b := a.Schedule(overDays(3))
		at := now
		one, two := engine(db, "one", &at), engine(db, "two", &at)
		for i := range 60 {
			at = at.Add(2 * time.Second)
			e := one
			if i%2 == 1 {
				e = two
			}
			if _, err := e.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := days(t, a, b.ID), "03-02 0/7 03-03 0/7 03-04 0/6 "; got != want {
			t.Errorf("days %s, want %s", got, want)
		}
		messages(t, a, b.ID)
		if p := progress(t, a, b.ID).Phase; p != outbox.Open {
			t.Errorf("the send is %s", p)
		}
		var wrong, slots int
		if err := db.QueryRow(t.Context(), `
			SELECT (SELECT COUNT(*) FROM outbox AS x JOIN outbox AS y ON y.tenant_id = x.tenant_id AND y.send_id = x.send_id
					WHERE x.tenant_id = $1 AND x.rank < y.rank AND x.due_at > y.due_at),
				(SELECT COUNT(*) FROM outbox_slot WHERE tenant_id = $1)`, a.Tenant).Scan(&wrong, &slots); err != nil {
			t.Fatal(err)
		}
		if wrong > 0 || slots > 0 {
			t.Errorf("%d pairs of messages leave in the wrong order; %d slots of the plan remain", wrong, slots)
		}
	})
}

// A send that is cancelled during planning leaves no slots.
func TestCancellingDuringPlanning(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "a", 8)
		b := a.Schedule(overDays(3))
		at := now
		e := engine(db, "one", &at)
		slots := func() (n int) {
			if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM outbox_slot WHERE tenant_id = $1`, a.Tenant).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		for range 20 {
			if slots() > 0 {
				break
			}
			if _, err := e.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if slots() == 0 {
			t.Fatal("the send is never divided")
		}
		if err := broadcast.Cancel(t.Context(), db, a.Tenant, b.ID, at); err != nil {
			t.Fatal(err)
		}
		settle(t, e)
		if p := progress(t, a, b.ID); p.Cancelled != 8 || p.Waiting != 0 || slots() != 0 {
			t.Errorf("the send is %+v, with %d slots", p, slots())
		}
	})
}
