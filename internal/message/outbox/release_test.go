package outbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Messages that were put back can be claimed while the rest of their claim is in flight.
func TestReleasedMessagesDoNotWaitForTheOthers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 4)
		n, other := f.node(t, "one"), f.node(t, "two")
		items := f.claim(t, n, 4)
		if _, err := n.Commit(t.Context(), nil, items[2:3], noon); err != nil { // it has begun, so it is not put back
			t.Fatal(err)
		}
		late := items[0]
		late.DueAt = noon.Add(time.Minute)
		if err := n.Delay(t.Context(), []outbox.Item{late}); err != nil {
			t.Fatal(err)
		}
		n.Release(items[1])
		if got := f.claim(t, other, 9); len(got) != 0 {
			t.Errorf("%d messages can be claimed before their release is written", len(got))
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
			t.Errorf("a minute later %d messages, %v; want the delayed one", len(got), err)
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

// A claim may be committed although it seemed to fail. It is released before the next one.
func TestAClaimThatSeemedToFailIsReleased(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 5)
		n := f.node(t, "me")
		known := f.claim(t, n, 2)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := n.Claim(gone, f.tenant, f.send, 2, noon); err == nil {
			t.Fatal("the claim succeeded")
		}
		if got := f.claim(t, n, 9); len(got) != 3 {
			t.Errorf("%d messages are claimed, want the 3 that are free", len(got))
		}
		if held := n.Claimed(); held != len(known)+3 {
			t.Errorf("the node has claimed %d", held)
		}
	})
}

// A claim contains all messages between its ends, and ends before the next claim.
func TestClaimsNeverOverlap(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 9)
		one, two := f.node(t, "one"), f.node(t, "two")
		first, second := f.claim(t, one, 3), f.claim(t, two, 3)
		one.Release(first...)
		got := f.claim(t, one, 9) // three before the other claim, three after it
		if len(got) != 3 || got[0].ID != first[0].ID {
			t.Errorf("%d messages from %s, want the three before the other claim", len(got), got[0].ID)
		}
		if rest := f.claim(t, one, 9); len(rest) != 3 {
			t.Errorf("%d messages, want the three after it", len(rest))
		}
		two.Release(second...)
		if all := f.claim(t, two, 9); len(all) != 3 {
			t.Errorf("%d messages, want the three that were put back", len(all))
		}
	})
}
