package outbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// What is put back can be claimed by anybody while the rest of its claim is still
// under way.
func TestReleasedMessagesDoNotWaitForTheOthers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 4)
		n, other := f.node(t, "one"), f.node(t, "two")
		items := f.claim(t, n, 4)
		if _, err := n.Commit(t.Context(), nil, items[2:3], noon); err != nil { // it has begun, so it stays
			t.Fatal(err)
		}
		late := items[0]
		late.DueAt = noon.Add(time.Minute)
		if err := n.Delay(t.Context(), []outbox.Item{late}); err != nil {
			t.Fatal(err)
		}
		n.Release(items[1])
		if got := f.claim(t, other, 9); len(got) != 0 {
			t.Errorf("%d messages can be claimed before it is written that they were put back", len(got))
		}
		if err := n.FlushReleased(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := f.claim(t, other, 9)
		if len(got) != 1 || got[0].ID != items[1].ID {
			t.Errorf("%d messages can be claimed, want the one that was put back", len(got))
		}
		got, err := other.Claim(t.Context(), f.tenant, f.send, 9, noon.Add(time.Minute))
		if err != nil || len(got) != 1 || got[0].ID != late.ID {
			t.Errorf("a minute later %d messages, %v; want the one that was put off", len(got), err)
		}
		result := outbox.Result{Item: items[2], State: outbox.Delivered, At: noon}
		if _, err := n.Commit(t.Context(), []outbox.Result{result}, nil, noon); err != nil {
			t.Fatal(err)
		}
		if p := progress(t, db, f.tenant, f.send); p.Delivered != 1 {
			t.Errorf("%d messages are delivered, want the one that had begun", p.Delivered)
		}
	})
}

// A claim may be made although it seemed to fail. It is given up before the next.
func TestAClaimThatSeemedToFailIsGivenUp(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 5)
		n := f.node(t, "me")
		known := f.claim(t, n, 2)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := n.Claim(gone, f.tenant, f.send, 2, noon); err == nil {
			t.Fatal("a claim for nobody was made")
		}
		if got := f.claim(t, n, 9); len(got) != 3 {
			t.Errorf("%d messages are claimed, want the 3 that nobody has", len(got))
		}
		if held := n.Held(); held != len(known)+3 {
			t.Errorf("the node holds %d", held)
		}
	})
}

// A claim has to itself what lies between its ends: it never reaches over
// another's.
func TestClaimsNeverOverlap(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 9)
		one, two := f.node(t, "one"), f.node(t, "two")
		first, second := f.claim(t, one, 3), f.claim(t, two, 3)
		one.Release(first...)
		got := f.claim(t, one, 9) // three before what the other holds, three behind
		if len(got) != 3 || got[0].ID != first[0].ID {
			t.Errorf("%d messages from %s, want the three before the other claim", len(got), got[0].ID)
		}
		if rest := f.claim(t, one, 9); len(rest) != 3 {
			t.Errorf("%d messages, want the three behind it", len(rest))
		}
		two.Release(second...)
		if all := f.claim(t, two, 9); len(all) != 3 {
			t.Errorf("%d messages, want the three that were put back", len(all))
		}
	})
}
