package outbox_test

import (
	"context"
	"slices"
	"testing"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// ends returns the sends of a tenant for which the journal has a SendEnded entry.
func ends(t *testing.T, db *sqldb.DB, tenant id.Tenant) []id.Send {
	t.Helper()
	var ended []id.Send
	e := journal.Engine{DB: db, Followers: []journal.Follower{{Name: id.NewText(), Types: []journal.Type{journal.SendEnded}, Follow: func(_ context.Context, _ *sqldb.DB, entries []journal.Entry) error {
		for _, e := range entries {
			var of outbox.Ended
			if err := e.Decode(&of); err != nil {
				return err
			}
			if e.Tenant == tenant && of.Kind == outbox.KindBroadcast && !of.Source.IsZero() && e.At.Equal(noon) {
				ended = append(ended, e.Send)
			}
		}
		return nil
	}}}}
	if err := e.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	return ended
}

// finish delivers up to n messages of a send.
func (f fixture) finish(t *testing.T, n int) {
	t.Helper()
	node := f.node(t, id.NewText())
	var results []outbox.Result
	for _, it := range f.claim(t, node, n) {
		results = append(results, outbox.Result{Item: it, State: outbox.Delivered, At: noon})
	}
	if _, err := node.Commit(t.Context(), results, nil, noon); err != nil {
		t.Fatal(err)
	}
}

// A send ends in the transaction after which no message waits and none will be added, and only
// then.
func TestASendEndsOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		type step = func(t *testing.T, f fixture)
		must := func(t *testing.T, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		start := func(t *testing.T, f fixture) { must(t, outbox.Start(t.Context(), db, f.tenant, f.send, noon)) }
		pause := func(t *testing.T, f fixture) { must(t, outbox.Pause(t.Context(), db, f.tenant, f.send)) }
		seal := func(t *testing.T, f fixture) { must(t, outbox.Seal(t.Context(), db, f.tenant, f.send, noon)) }
		cancel := func(t *testing.T, f fixture) { must(t, outbox.Cancel(t.Context(), db, f.tenant, f.send, noon)) }
		deliver := func(t *testing.T, f fixture) { f.finish(t, 5) }
		one := func(t *testing.T, f fixture) { f.finish(t, 1) }
		put := func(t *testing.T, f fixture) {
			_, err := outbox.AddMessages(t.Context(), db, f.tenant, f.send, messages(6)[5:])
			must(t, err)
		}
		for _, tt := range []struct {
			name  string
			n     int // messages in the beginning
			steps []step
			phase outbox.Phase
		}{
			{"an open send that may get more", 5, []step{deliver}, outbox.Open},
			{"with the last result", 5, []step{seal, one, deliver}, outbox.Done},
			{"when it is sealed", 5, []step{deliver, seal}, outbox.Done},
			{"sealed twice", 5, []step{deliver, seal, seal, start}, outbox.Done},
			{"with messages left", 5, []step{seal, one}, outbox.Open},
			{"no recipients", 0, []step{seal}, outbox.Done},
			{"while it is paused", 0, []step{pause, seal}, outbox.Paused},
			{"when it goes on", 0, []step{pause, seal, start}, outbox.Done},
			{"cancelled with messages waiting", 5, []step{one, cancel}, outbox.Done},
			{"cancelled with none", 5, []step{deliver, cancel}, outbox.Done},
			{"a send without an end", 5, []step{deliver, put, deliver}, outbox.Open},
			{"of which the last message came late", 5, []step{deliver, put, seal, deliver}, outbox.Done},
		} {
			f := setup(t, db, tt.n)
			for _, do := range tt.steps {
				do(t, f)
			}
			if p := progress(t, db, f.tenant, f.send); p.Phase != tt.phase {
				t.Errorf("%s: the send is %s, want %s", tt.name, p.Phase, tt.phase)
			}
			var want []id.Send
			if tt.phase == outbox.Done {
				want = []id.Send{f.send}
			}
			if got := ends(t, db, f.tenant); !slices.Equal(got, want) {
				t.Errorf("%s: ends of %v in the journal, want %v", tt.name, got, want)
			}
		}
	})
}

// Attempts in flight when a send is cancelled finish, and the send ends with the last of them.
func TestACancelledSendEndsWithItsLastAttempt(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 3)
		node := f.node(t, "a")
		items := f.claim(t, node, 1)
		if _, err := node.Commit(t.Context(), nil, items, noon); err != nil {
			t.Fatal(err)
		}
		if err := outbox.Cancel(t.Context(), db, f.tenant, f.send, noon); err != nil {
			t.Fatal(err)
		}
		if p := progress(t, db, f.tenant, f.send); p.Phase != outbox.Cancelled || p.Waiting != 1 || len(ends(t, db, f.tenant)) != 0 {
			t.Errorf("with an attempt in flight the send is %s, and %d wait", p.Phase, p.Waiting)
		}
		if _, err := node.Commit(t.Context(), []outbox.Result{{Item: items[0], State: outbox.Delivered, At: noon}}, nil, noon); err != nil {
			t.Fatal(err)
		}
		if p := progress(t, db, f.tenant, f.send); p.Phase != outbox.Done || p.Delivered != 1 || p.Cancelled != 2 || !slices.Equal(ends(t, db, f.tenant), []id.Send{f.send}) {
			t.Errorf("when the attempt has ended the send is %s with %+v", p.Phase, p.Sums)
		}
	})
}
