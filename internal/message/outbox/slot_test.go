package outbox_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Each message is assigned the time of its slot, whatever the order of the send, its slots and the
// batches. Messages in flight or out of scope do not count.
func TestMessagesAreAssignedTheTimesOfTheirSlots(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const n = 40
		lanes := []id.Lane{idtest.Named[id.Lane]("one"), idtest.Named[id.Lane]("two")}
		for seed := range uint64(6) {
			chance := rand.New(rand.NewPCG(seed, 1))
			f := setup(t, db, 0)
			list := messages(n)
			for i := range list {
				list[i].ID = id.New[id.Message]()
				list[i].Lane = lanes[chance.IntN(2)]
				list[i].Rank = fmt.Sprintf("%02x", chance.IntN(n/2)) // some are equal
				list[i].DueAt = outbox.Unplanned()
				if seed%2 == 1 && chance.IntN(4) == 0 {
					list[i].DueAt = noon // out of scope
				}
			}
			put := func(tx *sqldb.DB) error {
				_, err := outbox.AddMessages(t.Context(), tx, f.tenant, f.send, list)
				return err
			}
			if err := db.InTx(t.Context(), put); err != nil {
				t.Fatal(err)
			}
			scope := outbox.PlanScope{}
			if seed%2 == 1 {
				scope.After = noon
			}
			want := map[id.Message]string{}
			var slots []outbox.Slot
			for _, lane := range lanes {
				var order []outbox.Message
				for _, m := range list {
					switch {
					case m.Lane != lane:
					case m.DueAt.Equal(noon):
						want[m.ID] = "queued " + noon.String()
					default:
						order = append(order, m)
					}
				}
				slices.SortFunc(order, func(a, b outbox.Message) int {
					return cmp.Or(cmp.Compare(a.Rank, b.Rank), id.Compare(a.ID, b.ID))
				})
				var numbers []int
				for at := 1 + chance.IntN(5); at < len(order); at += 1 + chance.IntN(9) {
					numbers = append(numbers, at)
				}
				places, err := outbox.Boundaries(t.Context(), db, f.tenant, f.send, lane, scope, append(numbers, n+1))
				if err != nil || len(places) != len(numbers) {
					t.Fatalf("%d boundaries for the numbers %v of %d messages: %v", len(places), numbers, len(order), err)
				}
				from := 0
				for i, end := range append(numbers, len(order)) {
					s := outbox.Slot{Lane: lane, Due: noon.Add(time.Duration(i+1) * time.Hour), Day: "2026-03-02"}
					if i > 0 {
						s.After = places[i-1]
					}
					is := "queued " + s.Due.String()
					if i == len(numbers) && lane == idtest.Named[id.Lane]("two") {
						s.Day, is = "", "held_back "+outbox.Unplanned().String()
					}
					slots = append(slots, s)
					for _, m := range order[from:end] {
						want[m.ID] = is
					}
					from = end
				}
			}
			if err := outbox.CreateSlots(t.Context(), db, f.tenant, f.send, append(slots, outbox.Slot{Lane: idtest.Named[id.Lane]("gone"), Day: "2026-03-02"})); err != nil {
				t.Fatal(err)
			}
			if err := outbox.CreateSlots(t.Context(), db, f.tenant, f.send, slots); err != nil { // again
				t.Fatal(err)
			}
			var after id.Contact
			for more := true; more; {
				if err := db.InTx(t.Context(), func(tx *sqldb.DB) (err error) {
					after, more, err = outbox.AssignDueTimes(t.Context(), tx, f.tenant, f.send, outbox.Batch{Scope: scope, After: after, Limit: 1 + chance.IntN(n/2)}, noon)
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			got, heldBack := assigned(t, f), 0
			for m, is := range want {
				if got[m] != is {
					t.Errorf("seed %d: a message is %s, want %s", seed, got[m], is)
				}
				if is[0] == 'h' {
					heldBack++
				}
			}
			if p := progress(t, db, f.tenant, f.send); len(got) != n || p.HeldBack != heldBack || p.Waiting != n-heldBack {
				t.Errorf("seed %d: of %d messages, %d, the sums are %+v, want %d held back", seed, n, len(got), p.Sums, heldBack)
			}
		}
	})
}

// assigned returns the state and the time of each message of a fixture's send.
func assigned(t *testing.T, f fixture) map[id.Message]string {
	t.Helper()
	list, err := outbox.First(t.Context(), f.db, f.tenant, f.send, 1000)
	if err != nil {
		t.Fatal(err)
	}
	all := map[id.Message]string{}
	for _, m := range list {
		all[m.ID] = string(m.State) + " " + m.DueAt.String()
		if planned := m.Day != ""; planned != (m.State == outbox.Queued && m.DueAt.After(noon)) {
			t.Errorf("a message that is %s has the day %q", all[m.ID], m.Day)
		}
	}
	return all
}

// A message of a lane without slots keeps its time.
func TestMessagesOfLanesWithoutSlotsKeepTheirTimes(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 3)
		if _, err := db.Exec(t.Context(), `UPDATE outbox SET rank = `+db.UUIDText("id")+` WHERE tenant_id = $1`, f.tenant); err != nil {
			t.Fatal(err)
		}
		if err := outbox.CreateSlots(t.Context(), db, f.tenant, f.send, []outbox.Slot{{Lane: idtest.Named[id.Lane]("another"), Due: noon.Add(time.Hour), Day: "2026-03-02"}}); err != nil {
			t.Fatal(err)
		}
		if err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			_, more, err := outbox.AssignDueTimes(t.Context(), tx, f.tenant, f.send, outbox.Batch{Limit: 10}, noon)
			if more {
				t.Error("there is more after the last message")
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for m, is := range assigned(t, f) {
			if is != "queued "+noon.String() {
				t.Errorf("message %s is %s", m, is)
			}
		}
	})
}
