package outbox_test

import (
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// begin commits intents and returns those that may begin.
func (f fixture) begin(t *testing.T, n *outbox.Node, items ...outbox.Item) []id.Message {
	t.Helper()
	begun, err := n.Commit(t.Context(), nil, items, noon)
	if err != nil {
		t.Fatalf("Commit: %v", err)
	}
	var list []id.Message
	for m := range begun {
		list = append(list, m)
	}
	slices.SortFunc(list, id.Compare)
	return list
}

func (f fixture) inFlight(t *testing.T) []id.Message {
	t.Helper()
	list, err := outbox.InFlight(t.Context(), f.db, f.tenant, f.send)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func ids(items ...outbox.Item) []id.Message {
	var list []id.Message
	for _, it := range items {
		list = append(list, it.ID)
	}
	slices.SortFunc(list, id.Compare)
	return list
}

func TestAttemptsInFlight(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 6)
		n := f.node(t, "node")
		items := f.claim(t, n, 5)
		if got := f.begin(t, n, items[:4]...); !slices.Equal(got, ids(items[:4]...)) {
			t.Fatalf("%v began, want %v", got, ids(items[:4]...))
		}
		if got := f.inFlight(t); !slices.Equal(got, ids(items[:4]...)) {
			t.Errorf("in flight: %v, want %v", got, ids(items[:4]...))
		}
		// One is delivered, one is deferred, one is refused and two remain in flight.
		if _, err := n.Commit(t.Context(), []outbox.Result{
			{Item: items[0], State: outbox.Delivered, At: noon},
			{Item: items[1], State: outbox.Queued, At: noon, Due: noon.Add(time.Hour)},
			{Item: items[2], State: outbox.Bounced, BounceType: "hard", At: noon},
		}, items[4:], noon); err != nil {
			t.Fatal(err)
		}
		if got, want := f.inFlight(t), ids(items[3], items[4]); !slices.Equal(got, want) {
			t.Errorf("in flight: %v, want %v", got, want)
		}
		for i, want := range []int{1, 1, 1, 0, 0} {
			r, err := outbox.Find(t.Context(), db, f.tenant, items[i].ID)
			if err != nil || r.Attempts != want {
				t.Errorf("message %d has %d attempts stored (%v), want %d", i, r.Attempts, err, want)
			}
		}
		// The row is deleted later, when all of its attempts are settled.
		if _, err := n.Commit(t.Context(), []outbox.Result{{Item: items[3], State: outbox.Delivered, At: noon}, {Item: items[4], State: outbox.Delivered, At: noon}}, nil, noon); err != nil {
			t.Fatal(err)
		}
		if err := n.FlushReleased(t.Context()); err != nil {
			t.Fatal(err)
		}
		var left int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM outbox_attempt`).Scan(&left); err != nil || left != 0 {
			t.Errorf("%d rows of attempts are left (%v)", left, err)
		}
	})
}

// An attempt that was not made is not counted, and sets no date.
func TestUnsentAttemptsAreNotCounted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 1)
		n := f.node(t, "node")
		items := f.claim(t, n, 1)
		f.begin(t, n, items...)
		if _, err := n.Commit(t.Context(), []outbox.Result{{Item: items[0], State: outbox.Queued, At: noon, Due: noon, Unsent: true}}, nil, noon); err != nil {
			t.Fatal(err)
		}
		again := f.claim(t, n, 1)
		if len(again) != 1 || again[0].Attempts != 0 || again[0].FirstAt != nil {
			t.Errorf("claimed again: %+v; want one message that was never tried", again)
		}
	})
}

// The attempt after an uncertain one keeps its lane and date. Settled messages that began together
// with it stay as they are, though the row of attempts still contains them.
func TestReapCountsAttemptsInFlight(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 4)
		dead := f.node(t, "dead")
		items := f.claim(t, dead, 3)
		first := noon.Add(-time.Second)
		items[0].FirstAt, items[0].Lane = &first, idtest.Named[id.Lane]("another")
		f.begin(t, dead, items...)
		if _, err := dead.Commit(t.Context(), []outbox.Result{
			{Item: items[1], State: outbox.Queued, At: noon, Due: noon.Add(time.Second)},
			{Item: items[2], State: outbox.Delivered, At: noon},
		}, nil, noon); err != nil {
			t.Fatal(err)
		}
		alive := f.node(t, "alive")
		requeued, uncertain, err := alive.Reap(t.Context(), noon, true)
		if err != nil || requeued != 0 || uncertain != 1 {
			t.Fatalf("Reap = %d, %d, %v; want one uncertain", requeued, uncertain, err)
		}
		all, err := alive.Claim(t.Context(), f.tenant, f.send, 10, noon.Add(time.Minute))
		if err != nil || len(all) != 3 {
			t.Fatalf("Claim = %d messages, %v; want 3", len(all), err)
		}
		for _, it := range all {
			switch it.ID {
			case items[0].ID:
				if it.Attempts != 1 || it.Lane != idtest.Named[id.Lane]("another") || it.FirstAt == nil || !it.FirstAt.Equal(first) {
					t.Errorf("the uncertain message: %d attempts, lane %s, first at %v", it.Attempts, it.Lane, it.FirstAt)
				}
			case items[1].ID:
				if it.Attempts != 1 || !it.Deferred {
					t.Errorf("the deferred message: %d attempts, deferred %v", it.Attempts, it.Deferred)
				}
			default:
				if it.Attempts != 0 || it.FirstAt != nil {
					t.Errorf("the message that was not tried: %d attempts, first at %v", it.Attempts, it.FirstAt)
				}
			}
		}
	})
}

// A node whose claims were taken back begins no attempt under them, and does not insert them again
// when it releases messages.
func TestNoAttemptBeginsUnderALostClaim(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 6)
		slow := f.node(t, "slow")
		items := f.claim(t, slow, 4)
		alive := f.node(t, "alive")
		if _, _, err := alive.Reap(t.Context(), noon, true); err != nil {
			t.Fatal(err)
		}
		if err := slow.Renew(t.Context(), noon.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		slow.Release(items[0])
		if err := slow.FlushReleased(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := f.begin(t, slow, items...); len(got) != 0 {
			t.Errorf("%d attempts began under a claim that was taken back", len(got))
		}
		if got := f.claim(t, alive, 10); len(got) != 6 {
			t.Errorf("%d messages can be claimed, want all 6", len(got))
		}
	})
}

func TestDeletedContactsAreNotSentToUnderEarlierClaims(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := newCrowd(t, db, 4)
		n := &outbox.Node{DB: db, Owner: "node"}
		if err := n.Renew(t.Context(), noon.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		items, err := n.Claim(t.Context(), c.tenant, c.sends[0], 3, noon.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Commit(t.Context(), nil, items[:1], noon); err != nil { // in flight
			t.Fatal(err)
		}
		if err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			_, err := contact.Delete(t.Context(), tx, c.tenant, c.contacts[:2], noon)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		c.follow()
		begun, err := n.Commit(t.Context(), []outbox.Result{{Item: items[0], State: outbox.Delivered, At: noon}}, items[1:], noon)
		if err != nil || len(begun) != 0 {
			t.Errorf("%d attempts began (%v); the claim was revoked", len(begun), err)
		}
		n.Release(items[1:]...)
		left, err := n.Claim(t.Context(), c.tenant, c.sends[0], 10, noon.Add(time.Hour))
		if err != nil || len(left) != 2 {
			t.Errorf("%d messages can be claimed (%v), want the 2 of contacts that were not deleted", len(left), err)
		}
		c.sums(outbox.Sums{Total: 4, Waiting: 2, Sent: 1, Delivered: 1, Skipped: 1}, outbox.Sums{Total: 4, Waiting: 2, Skipped: 2})
	})
}

// A message whose claim was revoked while it was in flight is not claimed by another node.
func TestMessagesInFlightAreNotClaimed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 6)
		n, other := f.node(t, "node"), f.node(t, "other")
		items := f.claim(t, n, 6)
		f.begin(t, n, items[0], items[3])
		if err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			if _, err := tx.Exec(t.Context(), `UPDATE outbox SET rank = `+tx.UUIDText("id")+` WHERE tenant_id = $1`, f.tenant); err != nil {
				return err
			}
			if err := outbox.CreateSlots(t.Context(), tx, f.tenant, f.send, []outbox.Slot{{Lane: idtest.Named[id.Lane]("lane"), Due: noon.Add(-time.Hour), Day: "2026-03-01"}}); err != nil {
				return err
			}
			_, _, err := outbox.AssignDueTimes(t.Context(), tx, f.tenant, f.send, outbox.Batch{Scope: outbox.PlanScope{After: noon.Add(-time.Hour)}, Limit: 10}, noon)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		var got []id.Message
		for range 4 {
			for _, it := range f.claim(t, other, 10) {
				got = append(got, it.ID)
			}
		}
		slices.SortFunc(got, id.Compare)
		if want := ids(items[1], items[2], items[4], items[5]); !slices.Equal(got, want) {
			t.Errorf("claimed %v, want %v", got, want)
		}
		// The first node's results are stored.
		if _, err := n.Commit(t.Context(), []outbox.Result{
			{Item: items[0], State: outbox.Delivered, At: noon}, {Item: items[3], State: outbox.Delivered, At: noon},
		}, nil, noon); err != nil {
			t.Fatal(err)
		}
		if p := progress(t, db, f.tenant, f.send); p.Delivered != 2 || p.Waiting != 4 {
			t.Errorf("sums = %+v, want 2 delivered and 4 waiting", p.Sums)
		}
	})
}
