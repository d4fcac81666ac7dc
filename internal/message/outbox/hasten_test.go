package outbox_test

import (
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestMessagesAddedWhileAClockWasAheadAreDueWhenItIsRight(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for _, tt := range []struct {
			name     string
			source   outbox.Source
			due      time.Time
			rank     string
			hastened bool
		}{
			{name: "broadcast", source: outbox.FromBroadcast(id.New[id.Broadcast]()), due: noon.Add(2 * time.Hour), hastened: true},
			{name: "clocks that differ little", source: outbox.FromBroadcast(id.New[id.Broadcast]()), due: noon.Add(20 * time.Second)},
			{name: "planned", source: outbox.FromBroadcast(id.New[id.Broadcast]()), due: noon.Add(2 * time.Hour), rank: "a"},
			{name: "to be planned", source: outbox.FromBroadcast(id.New[id.Broadcast]()), due: outbox.Unplanned()},
			{name: "step that waits for its window", source: outbox.FromSequence(id.New[id.Sequence]()), due: noon.Add(2 * time.Hour)},
		} {
			tenant := idtest.Tenant()
			f := fixture{db: db, tenant: tenant, send: id.New[id.Send]()}
			err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
				s := outbox.Send{Tenant: tenant, ID: f.send, Source: tt.source}
				if err := outbox.Create(t.Context(), tx, s, outbox.Terms{}, noon); err != nil {
					return err
				}
				list := messages(30)
				for i := range list[10:] {
					list[10+i].DueAt, list[10+i].Rank = tt.due, tt.rank
				}
				if _, err := outbox.AddMessages(t.Context(), tx, tenant, f.send, list); err != nil {
					return err
				}
				return outbox.Start(t.Context(), tx, tenant, f.send, noon)
			})
			if err != nil {
				t.Fatal(err)
			}
			hasten := func(now time.Time) int {
				t.Helper()
				sends, err := outbox.HastenPostdated(t.Context(), db, now)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for _, s := range sends {
					if s.Send == f.send {
						n++
					}
				}
				return n
			}
			f.finish(t, 100)
			if p := progress(t, db, tenant, f.send); p.Delivered != 10 {
				t.Fatalf("%s: %d are due at first, want 10", tt.name, p.Delivered)
			}
			want := 0
			if tt.hastened {
				want = 1
			}
			if n := hasten(noon); n != want {
				t.Errorf("%s: hastened %d times, want %d", tt.name, n, want)
			}
			if n := hasten(noon); n != 0 {
				t.Errorf("%s: hastened again", tt.name)
			}
			if got := len(f.claim(t, f.node(t, "two"), 100)); got != 20*want {
				t.Errorf("%s: %d are due, want %d", tt.name, got, 20*want)
			}
		}
	})
}
