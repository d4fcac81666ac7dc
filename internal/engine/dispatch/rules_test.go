package dispatch_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// The rules of an audience are evaluated when the send is prepared, not when its segments were
// counted, even if processes crash meanwhile.
func TestRulesAreEvaluatedWhenTheSendIsPrepared(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		people := a.AddContacts(a.List.ID, "a", 11)
		move := func(c contact.Contact, country string) {
			t.Helper()
			ch := contact.Change{Texts: map[contact.Text]*string{contact.Country: &country}}
			if _, _, err := contact.Upsert(t.Context(), db, a.Tenant, c.Email, ch, contact.Rules{}, now); err != nil {
				t.Fatal(err)
			}
		}
		for i, c := range people {
			move(c, map[bool]string{true: "DE", false: "FR"}[i%3 != 0])
		}
		definition := json.RawMessage(`{"logic": "and", "conditions": [{"field": "country", "operator": "equals", "value": "DE"}]}`)
		germans, err := segment.Create(t.Context(), db, a.Tenant, segment.Change{Name: new("Germans"), Definition: definition}, now)
		if err != nil {
			t.Fatal(err)
		}
		out := a.AddList("Out")
		if _, err := segment.Add(t.Context(), db, a.Tenant, out.ID, segment.People{IDs: []id.Contact{people[1].ID}}, now); err != nil {
			t.Fatal(err)
		}
		if _, err := segment.Recount(t.Context(), db, a.Tenant, germans.ID, now); err != nil {
			t.Fatal(err)
		}
		move(people[0], "DE")
		move(people[2], "FR")
		want := map[id.Contact]int{}
		for _, i := range []int{0, 4, 5, 7, 8, 10} {
			want[people[i].ID] = 1
		}
		for ticks := range 4 {
			b := a.Schedule(func(ch *broadcast.Change) {
				ch.Include, ch.Exclude = &[]id.Segment{germans.ID}, &[]id.Segment{out.ID}
			})
			at := now
			first, second := engine(db, "first", &at), engine(db, "second", &at)
			for range ticks {
				if _, err := first.Tick(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for _, e := range []*dispatch.Engine{second, first, second} { // they alternate
				if _, err := e.Tick(t.Context()); err != nil {
					t.Fatal(err)
				}
				at = at.Add(time.Second)
			}
			settle(t, first)
			if got := recipients(t, a, b.ID); !maps.Equal(got, want) {
				t.Errorf("taken over after %d ticks: recipients %v, want %v", ticks, got, want)
			}
			if p := progress(t, a, b.ID); !p.Sealed || p.Total != 6 {
				t.Errorf("taken over after %d ticks: the send is %s", ticks, fmt.Sprint(p))
			}
			if err := broadcast.Cancel(t.Context(), db, a.Tenant, b.ID, at); err != nil {
				t.Fatal(err)
			}
			settle(t, first)
		}
	})
}
