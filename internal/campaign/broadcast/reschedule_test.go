package broadcast_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// spreadOver begins a send to six contacts over three days, and returns a function that runs the
// dispatcher until nothing is left to do.
func spreadOver(t *testing.T, a *broadcasttest.Account) (bid id.Broadcast, settle func()) {
	t.Helper()
	a.AddContacts(a.List.ID, "a", 6)
	b := a.Schedule(func(ch *broadcast.Change) {
		ch.Delivery = &broadcast.DeliveryChange{Mode: new(broadcast.OverDays), WindowDays: new(new(3))}
	})
	e := &dispatch.Engine{DB: a.DB, Owner: "engine", Now: func() time.Time { return broadcasttest.Now }, Log: slog.New(slog.DiscardHandler)}
	settle = func() {
		t.Helper()
		for range 20 {
			if more, err := e.Tick(t.Context()); err != nil {
				t.Fatal(err)
			} else if !more {
				return
			}
		}
		t.Fatal("the dispatcher does not come to rest")
	}
	settle()
	return b.ID, settle
}

func reserved(t *testing.T, a *broadcasttest.Account, bid id.Broadcast) (text string) {
	t.Helper()
	days, err := outbox.Days(t.Context(), a.DB, a.Tenant, a.SendOf(bid))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range days {
		text += fmt.Sprintf("%s %d ", d.Day[5:], d.Planned)
	}
	return text
}

// A plan that a call has no time for can be made by an engine at once.
func TestAnEngineMakesAPlanThatTakesTooLong(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		bid, settle := spreadOver(t, a)
		if err := broadcast.RescheduleWithin(t.Context(), db, a.Tenant, bid, []string{"2026-03-03"}, broadcasttest.Now, 0); err != nil {
			t.Fatal(err)
		}
		if got, want := reserved(t, a, bid), "03-02 2 03-03 2 03-04 2 "; got != want {
			t.Errorf("reserved are %s, want %s", got, want)
		}
		settle()
		if got, want := reserved(t, a, bid), "03-02 3 03-04 3 "; got != want {
			t.Errorf("reserved are %s, want %s", got, want)
		}
	})
}

// Of concurrent calls the last one's days take effect, and when all have returned there is a plan
// for them.
func TestCallsToRescheduleAtTheSameTime(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		bid, settle := spreadOver(t, a)
		plans := map[string]string{"2026-03-03": "03-02 3 03-04 3 ", "2026-03-04": "03-02 3 03-03 3 "}
		ended := make(chan error)
		for day := range plans {
			go func() {
				ended <- broadcast.Reschedule(t.Context(), db, a.Tenant, bid, []string{day}, broadcasttest.Now)
			}()
		}
		for range plans {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		want := plans[string(a.Load(bid).Delivery.Skipped[0])]
		for range 2 {
			if got := reserved(t, a, bid); got != want {
				t.Errorf("reserved are %s, want %s", got, want)
			}
			settle()
		}
	})
}
