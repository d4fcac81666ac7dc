package outbox_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is a send of n messages of one tenant, and the same of another tenant.
type fixture struct {
	db     *sqldb.DB
	tenant id.Tenant
	other  id.Tenant
	send   id.Send
}

func setup(t *testing.T, db *sqldb.DB, n int) fixture {
	t.Helper()
	f := fixture{db, idtest.Tenant(), idtest.Tenant(), id.New[id.Send]()}
	for _, tenant := range []id.Tenant{f.tenant, f.other} {
		if err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			if err := outbox.Create(t.Context(), tx, outbox.Send{Tenant: tenant, ID: f.send, Source: outbox.FromBroadcast(id.New[id.Broadcast]())}, outbox.Terms{}, noon); err != nil {
				return err
			}
			if _, err := outbox.AddMessages(t.Context(), tx, tenant, f.send, messages(n)); err != nil {
				return err
			}
			return outbox.Start(t.Context(), tx, tenant, f.send, noon)
		}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { // no test changes the other tenant's rows
		p := progress(t, db, f.other, f.send)
		if want := (outbox.Sums{Total: n, Waiting: n}); p.Sums != want || p.Phase != outbox.Open {
			t.Errorf("the other tenant's send is %+v in phase %s, want %+v, open", p.Sums, p.Phase, want)
		}
	})
	return f
}

func messages(n int) []outbox.Message {
	list := make([]outbox.Message, n)
	for i := range list {
		list[i] = outbox.Message{
			Contact: idtest.Named[id.Contact](fmt.Sprintf("c%05d", i)), Email: fmt.Sprintf("c%d@example.org", i), Content: idtest.Named[id.Content]("content"),
			ContentVersion: 1, Identity: idtest.Named[id.Identity]("identity"), Lane: idtest.Named[id.Lane]("lane"), DueAt: noon,
		}
	}
	return list
}

func progress(t *testing.T, db *sqldb.DB, tenant id.Tenant, send id.Send) outbox.Progress {
	t.Helper()
	// The test's own context is cancelled before its cleanup runs.
	p, err := outbox.Load(context.WithoutCancel(t.Context()), db, tenant, send)
	if err != nil {
		t.Errorf("Load: %v", err)
	}
	return p
}

func (f fixture) node(t *testing.T, owner string) *outbox.Node {
	t.Helper()
	n := &outbox.Node{DB: f.db, Owner: owner}
	if err := n.Renew(t.Context(), noon.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return n
}

func (f fixture) claim(t *testing.T, n *outbox.Node, limit int) []outbox.Item {
	t.Helper()
	items, err := n.Claim(t.Context(), f.tenant, f.send, limit, noon)
	if err != nil {
		t.Fatalf("Claim: %v", err)
	}
	return items
}

func TestPutTwiceAddsOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 3)
		added, err := outbox.AddMessages(t.Context(), db, f.tenant, f.send, messages(5))
		if err != nil || added != 2 {
			t.Fatalf("AddMessages of 5 over 3 = %d, %v; want 2 added", added, err)
		}
		if p := progress(t, db, f.tenant, f.send); p.Total != 5 || p.Waiting != 5 {
			t.Errorf("sums = %+v, want 5 in all, 5 waiting", p.Sums)
		}
	})
}

func TestEightClaimersNeverShareAMessage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 200)
		var mu sync.Mutex
		seen := map[id.Message]int{}
		var wg sync.WaitGroup
		for i := range 8 {
			n := f.node(t, fmt.Sprint("node", i))
			wg.Go(func() {
				for {
					items, err := n.Claim(t.Context(), f.tenant, f.send, 7, noon)
					if err != nil {
						t.Errorf("Claim: %v", err)
						return
					}
					if len(items) == 0 {
						return
					}
					mu.Lock()
					for _, it := range items {
						seen[it.ID]++
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if len(seen) != 200 {
			t.Errorf("%d messages were claimed, want 200", len(seen))
		}
		for m, n := range seen {
			if n != 1 {
				t.Errorf("message %s was claimed %d times", m, n)
			}
		}
	})
}

func TestResultsChangeRowsSumsAndJournalTogether(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 5)
		n := f.node(t, "node")
		items := f.claim(t, n, 5)
		begun, err := n.Commit(t.Context(), nil, items, noon)
		if err != nil || len(begun) != 5 {
			t.Fatalf("intents: %d begun, %v; want 5", len(begun), err)
		}
		at := noon.Add(time.Second)
		results := []outbox.Result{
			{Item: items[0], State: outbox.Delivered, At: at},
			{Item: items[1], State: outbox.Bounced, BounceType: "hard", Category: "mailbox", Code: 550, Enhanced: "5.1.1", Error: "no such user", At: at, Answered: true},
			{Item: items[2], State: outbox.Queued, Due: noon.Add(time.Hour), At: at, Answered: true},
			{Item: items[3], State: outbox.Failed, Error: "render_error", At: at},
			{Item: items[4], State: outbox.Skipped, SkipReason: "pending", At: at},
		}
		for range 2 { // the second time no message is claimed any more, so nothing changes
			if _, err := n.Commit(t.Context(), results, nil, at); err != nil {
				t.Fatalf("Commit: %v", err)
			}
		}
		p := progress(t, db, f.tenant, f.send)
		want := outbox.Sums{Total: 5, Waiting: 1, Deferred: 1, Sent: 2, Delivered: 1, Bounced: 1, Failed: 1, Skipped: 1}
		if p.Sums != want {
			t.Errorf("sums = %+v, want %+v", p.Sums, want)
		}
		if p.LastSendAt == nil || !p.LastSendAt.Equal(at) {
			t.Errorf("last send = %v, want %v", p.LastSendAt, at)
		}
		types := map[journal.Type]int{}
		follow := journal.Engine{DB: db, Followers: []journal.Follower{{Name: "test", Follow: collect(types)}}}
		if err := follow.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if types[journal.EmailDelivered] != 1 || types[journal.EmailBounced] != 1 || types[journal.EmailFailed] != 1 || types[journal.EmailDeferred] != 1 || len(types) != 4 {
			t.Errorf("journal = %v, want one delivered, one bounced, one failed, one deferred", types)
		}
		if again := f.claim(t, n, 5); len(again) != 0 {
			t.Errorf("%d messages are due before their time", len(again))
		}
		later, err := n.Claim(t.Context(), f.tenant, f.send, 5, noon.Add(2*time.Hour))
		if err != nil || len(later) != 1 || later[0].Attempts != 1 || !later[0].Deferred || !later[0].Answered {
			t.Fatalf("after an hour: %+v, %v; want the deferred message after its first attempt", later, err)
		}
		if _, err := n.Commit(t.Context(), []outbox.Result{{Item: later[0], State: outbox.Delivered, At: at}}, nil, at); err != nil {
			t.Fatal(err)
		}
		want.Waiting, want.Deferred, want.Sent, want.Delivered = 0, 0, 3, 2
		if p := progress(t, db, f.tenant, f.send); p.Sums != want {
			t.Errorf("sums after the second attempt = %+v, want %+v", p.Sums, want)
		}
	})
}

func TestAPausedSendBeginsNoAttempts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 4)
		n := f.node(t, "node")
		items := f.claim(t, n, 2)
		if err := outbox.Pause(t.Context(), db, f.tenant, f.send); err != nil {
			t.Fatal(err)
		}
		if begun, err := n.Commit(t.Context(), nil, items, noon); err != nil || len(begun) != 0 {
			t.Errorf("%d attempts began in a paused send (%v)", len(begun), err)
		}
		if more := f.claim(t, n, 2); len(more) != 0 {
			t.Errorf("%d messages of a paused send were claimed", len(more))
		}
		n.Release(items...)
		if err := outbox.Start(t.Context(), db, f.tenant, f.send, noon); err != nil {
			t.Fatal(err)
		}
		if all := f.claim(t, n, 10); len(all) != 4 {
			t.Errorf("%d messages after the pause, want all 4", len(all))
		}
	})
}

func TestACancelledSendKeepsMessagesInFlight(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 4)
		n := f.node(t, "node")
		items := f.claim(t, n, 1)
		if _, err := n.Commit(t.Context(), nil, items, noon); err != nil {
			t.Fatal(err)
		}
		if err := outbox.Cancel(t.Context(), db, f.tenant, f.send, noon); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Commit(t.Context(), []outbox.Result{{Item: items[0], State: outbox.Delivered, At: noon}}, nil, noon); err != nil {
			t.Fatal(err)
		}
		want := outbox.Sums{Total: 4, Sent: 1, Delivered: 1, Cancelled: 3}
		if p := progress(t, db, f.tenant, f.send); p.Sums != want {
			t.Errorf("sums = %+v, want %+v", p.Sums, want)
		}
	})
}

func TestADeadNodesMessagesAreSentByAnother(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 3)
		dead := f.node(t, "dead")
		items := f.claim(t, dead, 2)
		if _, err := dead.Commit(t.Context(), nil, items[:1], noon); err != nil {
			t.Fatal(err)
		}
		alive := f.node(t, "alive")
		if a, b, err := alive.Reap(t.Context(), noon, false); err != nil || a+b != 0 {
			t.Fatalf("Reap within the lease = %d, %d, %v; want nothing", a, b, err)
		}
		requeued, uncertain, err := alive.Reap(t.Context(), noon.Add(30*time.Second), true)
		if err != nil || requeued != 1 || uncertain != 1 {
			t.Fatalf("Reap alone = %d, %d, %v; want one requeued, one uncertain", requeued, uncertain, err)
		}
		// The dead node continues and stores results too late.
		if _, err := dead.Commit(t.Context(), []outbox.Result{{Item: items[0], State: outbox.Delivered, At: noon}}, items[1:], noon); err != nil {
			t.Fatal(err)
		}
		all := f.claim(t, alive, 10)
		if len(all) != 3 {
			t.Fatalf("%d messages after Reap, want 3", len(all))
		}
		attempts := map[id.Message]int{}
		for _, it := range all {
			attempts[it.ID] = it.Attempts
		}
		if attempts[items[0].ID] != 1 || attempts[items[1].ID] != 0 {
			t.Errorf("attempts = %d and %d, want 1 for the uncertain message and 0 for the other", attempts[items[0].ID], attempts[items[1].ID])
		}
	})
}

func TestBacklogCountsOpenSends(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		if b, err := outbox.LoadBacklog(t.Context(), db, noon); err != nil || b != (outbox.Backlog{}) {
			t.Errorf("LoadBacklog without sends = %+v, %v; want nothing", b, err)
		}
		f := setup(t, db, 3)
		b, err := outbox.LoadBacklog(t.Context(), db, noon.Add(time.Minute))
		if want := (outbox.Backlog{Waiting: 6, Overdue: time.Minute}); err != nil || b != want {
			t.Errorf("LoadBacklog = %+v, %v; want %+v, of both tenants", b, err, want)
		}
		if err := outbox.Pause(t.Context(), db, f.tenant, f.send); err != nil {
			t.Fatal(err)
		}
		b, err = outbox.LoadBacklog(t.Context(), db, noon.Add(-time.Minute))
		if want := (outbox.Backlog{Waiting: 3}); err != nil || b != want {
			t.Errorf("LoadBacklog with one send paused, before anything is due = %+v, %v; want %+v", b, err, want)
		}
	})
}

// collect returns a follower that counts entries by type.
func collect(types map[journal.Type]int) func(context.Context, *sqldb.DB, []journal.Entry) error {
	return func(_ context.Context, _ *sqldb.DB, entries []journal.Entry) error {
		for _, e := range entries {
			types[e.Type]++
		}
		return nil
	}
}
