package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// nodeLease is how long a worker of these tests may fail to renew before others take
// over its messages.
const nodeLease = 6 * time.Second

// nodes are the processes of an installation: one that answers requests, and
// workers, which come and go.
type nodes struct {
	t       *testing.T
	front   *harness.Program
	workers []*harness.Program // that run
	all     []*harness.Program // that ever ran
}

// worker starts one more.
func (n *nodes) worker() *harness.Program {
	n.t.Helper()
	dir := filepath.Join(n.front.Dir, fmt.Sprint("worker", len(n.all)+1))
	if err := os.Mkdir(dir, 0o700); err != nil {
		n.t.Fatal(err)
	}
	w := n.front.NewNode(dir, "--roles", "worker")
	if err := w.Start(n.t.Context()); err != nil {
		n.t.Fatal(err)
	}
	n.workers, n.all = append(n.workers, w), append(n.all, w)
	n.t.Cleanup(func() { _ = w.Kill() }) // unless it has ended
	return w
}

// oldest removes the worker that has run longest.
func (n *nodes) oldest() *harness.Program {
	w := n.workers[0]
	n.workers = n.workers[1:]
	return w
}

// TestWorkersAddedAndKilledDuringASendLoseNoMail sends with several processes on one database, which are
// killed, frozen, drained and added while they send. Every recipient gets the mail;
// repeated mails are at most those in flight at a kill, with the same
// Message-ID; and only one process starts the broadcast.
func TestWorkersAddedAndKilledDuringASendLoseNoMail(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		if _, sqlite := e2etest.SQLiteDir(address); sqlite {
			t.Skip("SQLite is served by one process")
		}
		t.Parallel()
		const recipients, connections, delay = 2500, 12, 40 * time.Millisecond
		ctx := t.Context()
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 1))
		moment := func() { e2etest.Wait(t, time.Duration(200+random.IntN(600))*time.Millisecond) }

		front, ready, s := e2etest.StartWith(t, &harness.Program{
			Args: []string{"--roles", "api,app,track"}, Env: []string{"PACKETBOAT_NODE_LEASE=" + nodeLease.String()},
		}, address, "-delay", delay.String())
		n := &nodes{t: t, front: front}
		db := e2etest.Database(t, front)
		defer db.Close()
		if err := harness.Seed(ctx, db, ready.List, recipients, "example.org"); err != nil {
			t.Fatal(err)
		}
		lane, err := ready.Lane(ctx, "Sink", s.Address, connections, false)
		if err != nil {
			t.Fatal(err)
		}
		broadcast := func(subject string, at time.Time) string {
			id, err := ready.BroadcastAt(ctx, lane, at, map[string]any{"subject": subject, "body_html": "<p>Hello {{ first_name }}</p>"})
			if err == nil {
				err = ready.Schedule(ctx, id)
			}
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		first := broadcast("Now", time.Now())
		for range 3 {
			n.worker()
		}
		e2etest.Eventually(t, func() (bool, bool) {
			taken, err := s.Messages()
			return true, err == nil && len(taken) > 0
		})
		e2etest.Wait(t, 4*time.Second) // the first gives the others their part of the connections
		second := broadcast("Later", time.Now().Add(4*time.Second))

		open := 0 // connections that killed or frozen workers may have had
		for range 2 {
			moment()
			if err := n.oldest().Kill(); err != nil {
				t.Fatal(err)
			}
			open += connections / 2 // three or more share them by now
			n.worker()
		}
		moment()
		frozen := n.oldest()
		if err := frozen.Freeze(); err != nil {
			t.Fatal(err)
		}
		open += connections / 2 // three or more share them by now
		n.worker()
		moment()
		if err := n.oldest().Stop(); err != nil { // drained: nothing is pending
			t.Error(err)
		}
		e2etest.Wait(t, nodeLease+3*time.Second) // by now others have the messages of the frozen one
		if err := frozen.Thaw(); err != nil {
			t.Fatal(err)
		}
		n.workers = append(n.workers, frozen)

		within, cancel := context.WithTimeout(ctx, e2etest.Patience)
		defer cancel()
		for _, id := range []string{first, second} {
			if _, err := ready.Await(within, id, "completed"); err != nil {
				t.Fatal(err)
			}
		}
		for _, w := range n.workers { // ends well, frozen or not
			if err := w.Stop(); err != nil {
				t.Error(err)
			}
		}
		n.worker() // takes back the messages of dead workers
		taken, err := s.Messages()
		if err != nil {
			t.Fatal(err)
		}
		repeats := 0
		for _, id := range []string{first, second} {
			f, err := harness.Account(within, db, ready, taken, id, harness.Expected{People: people(0, recipients, "example.org"), MayRepeat: open - repeats, Calm: true})
			if err != nil {
				t.Error(err)
			}
			repeats += f.Repeats
			t.Log(f)
			if err := harness.Followed(within, db, id); err != nil {
				t.Error(err)
			}
			started := 0
			for _, w := range n.all {
				k, err := w.CountLines("broadcast started", id)
				if err != nil {
					t.Fatal(err)
				}
				started += k
			}
			if started != 1 {
				t.Errorf("%d processes started a broadcast, want one", started)
			}
		}
		t.Logf("%d mails were repeated, %d may be", repeats, open)
		if a, err := ready.Key.Do(ctx, http.MethodGet, "/broadcasts?limit=10", nil); err != nil || a.Status != http.StatusOK {
			t.Errorf("the front answers %d, %v", a.Status, err)
		}
	})
}
