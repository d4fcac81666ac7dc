package event_test

import (
	"testing"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// The event is recorded by a transaction that looked its contact up before it was anonymised.
func TestEventsRecordedWhileAContactIsAnonymisedAreErased(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db, "acme")
		a.record(noon, event.Input{Name: "x", Type: "signed_up", Contact: a.ann, Properties: map[string]any{"method": "phone"}})
		if _, err := contact.Anonymize(t.Context(), db, a.id, []id.Contact{a.ann}, nil, noon); err != nil {
			t.Fatal(err)
		}
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			return journal.Append(t.Context(), tx, journal.Entry{
				Tenant: a.id, Type: journal.CustomEvent, Name: "x", Contact: a.ann, At: noon, Data: journal.Event{Type: "signed_up", Properties: map[string]any{"method": "phone"}},
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		follow(t, db)
		list := a.timeline(a.ann)
		if len(list) != 2 {
			t.Fatalf("%d events, want 2", len(list))
		}
		for _, e := range list {
			if ev, err := e.Event(); err != nil || ev.Properties != nil || ev.Type != "signed_up" || e.Name != "x" {
				t.Errorf("the event is %+v, %v", ev, err)
			}
		}
		if r := a.record(noon, event.Input{Name: "x", Contact: a.ann})[0]; r.Err == nil {
			t.Error("an event of an anonymised contact was recorded")
		}
	})
}

func TestExpiredKeysAreDeleted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, other := newAccount(t, db, "acme"), newAccount(t, db, "other")
		for _, k := range []string{"k1", "k2", "k3"} {
			a.record(noon, event.Input{Name: "x", Contact: a.ann, Key: k})
		}
		other.record(noon, event.Input{Name: "x", Contact: other.ann, Key: "k1"})
		for _, tt := range []struct{ days, limit, want int }{{6, 10, 0}, {8, 2, 2}, {8, 2, 1}, {8, 2, 0}} {
			if n, err := event.Prune(t.Context(), db, a.id, noon.AddDate(0, 0, tt.days), tt.limit); err != nil || n != tt.want {
				t.Errorf("after %d days: %d deleted, %v; want %d", tt.days, n, err, tt.want)
			}
		}
	})
}
