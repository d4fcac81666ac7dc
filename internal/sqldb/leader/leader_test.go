package leader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Whatever contenders do, however slow the database is and however wrong their clocks are, at most
// one considers itself the leader at any time; and after some time without failures, exactly one
// does.
func TestNeverTwoLeaders(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		rapid.Check(t, func(t *rapid.T) {
			sim := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
			slow := time.Duration(0) // passes whenever a clock is read
			name := id.NewText()
			all := make([]*contender, 3)
			for i := range all {
				skew := time.Duration(rapid.Int64Range(-3600, 3600).Draw(t, "skew")) * time.Second
				all[i] = &contender{db: db, name: name, owner: fmt.Sprint("p", i), terms: defaultTerms, now: func() time.Time {
					defer func() { sim = sim.Add(slow) }()
					return sim.Add(skew)
				}}
			}
			leading := func() (list []string) {
				defer func(d time.Duration) { slow = d }(slow)
				slow = 0
				for _, c := range all {
					if c.isLeader() {
						list = append(list, c.owner)
					}
				}
				return list
			}
			act := func(c *contender) {
				var err error
				if c.isLeader() {
					_, err = c.renew(ctx)
				} else {
					_, err = c.contend(ctx)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			pick := func(t *rapid.T) *contender { return rapid.SampledFrom(all).Draw(t, "who") }
			t.Repeat(map[string]func(*rapid.T){
				"act": func(t *rapid.T) { act(pick(t)) },
				"act slowly": func(t *rapid.T) {
					slow = time.Duration(rapid.Int64Range(0, 20_000).Draw(t, "ms")) * time.Millisecond
					act(pick(t))
					slow = 0
				},
				"time goes by": func(t *rapid.T) {
					sim = sim.Add(time.Duration(rapid.Int64Range(0, 20_000).Draw(t, "ms")) * time.Millisecond)
				},
				"release": func(t *rapid.T) {
					if err := pick(t).release(ctx); err != nil {
						t.Fatal(err)
					}
				},
				"": func(t *rapid.T) {
					if list := leading(); len(list) > 1 {
						t.Fatalf("%s lead at once", strings.Join(list, ", "))
					}
				},
			})
			for range 25 { // now all processes run
				for _, c := range all {
					act(c)
				}
				sim = sim.Add(time.Second)
			}
			if list := leading(); len(list) != 1 {
				t.Fatalf("%d lead in the end: %v", len(list), list)
			}
		})
	})
}

// short are terms that a test can wait for. Its assertions do not depend on their exact length.
var short = terms{
	lease: 1200 * time.Millisecond, lead: 500 * time.Millisecond, renew: 50 * time.Millisecond,
	poll: 20 * time.Millisecond, guard: 5 * time.Millisecond, timeout: 300 * time.Millisecond,
}

// long are terms that do not end while a test runs, unless a process releases its lease.
var long = terms{
	lease: time.Hour, lead: 30 * time.Minute, renew: 50 * time.Millisecond,
	poll: 20 * time.Millisecond, guard: 5 * time.Millisecond, timeout: time.Minute,
}

// process is one that contends in a test.
type process struct {
	begins, ends chan string
	stop         func()
	done         chan error
}

// crew are processes of which one works at a time.
type crew struct {
	t      *testing.T
	terms  terms
	atWork atomic.Int32
}

func (w *crew) join(db *sqldb.DB, owner string) *process {
	ctx, stop := context.WithCancel(w.t.Context())
	p := &process{begins: make(chan string, 10), ends: make(chan string, 10), stop: stop, done: make(chan error, 1)}
	c := &contender{db: db, name: "n", owner: owner, now: time.Now, terms: w.terms}
	go func() {
		p.done <- c.run(ctx, slog.New(slog.DiscardHandler), func(ctx context.Context) error {
			if w.atWork.Add(1) != 1 {
				w.t.Errorf("%s works while another does", owner)
			}
			p.begins <- owner
			<-ctx.Done()
			w.atWork.Add(-1)
			p.ends <- owner
			return ctx.Err()
		})
	}()
	return p
}

func await[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s: not within two minutes", what)
		panic("unreachable")
	}
}

func TestReleasedLeadershipIsAcquiredAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		t.Parallel()
		w := &crew{t: t, terms: long}
		first := w.join(db, "first")
		await(t, "first begins", first.begins)
		others := []*process{w.join(db, "second"), w.join(db, "third")}
		first.stop()
		await(t, "first ends", first.ends)
		if err := await(t, "first returns", first.done); !errors.Is(err, context.Canceled) {
			t.Errorf("run = %v, want what the work returned", err)
		}
		select {
		case <-others[0].begins:
		case <-others[1].begins:
		case <-time.After(2 * time.Minute):
			t.Error("no process began long before the released lease would have expired")
		}
		for _, p := range others {
			p.stop()
			<-p.done
		}
	})
}

func TestSuspensionAndOutagesEndLeadership(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		open := func() *sqldb.DB {
			db, err := sqldb.Open(t.Context(), address, sqldb.Options{MaxConns: 4})
			if err != nil {
				t.Fatal(err)
			}
			return db
		}
		mine, theirs := open(), open()
		defer theirs.Close()
		if _, err := theirs.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := &crew{t: t, terms: short}
		first := w.join(mine, "first")
		await(t, "first begins", first.begins)

		// The row is locked: no process can renew or acquire.
		err := theirs.InTx(t.Context(), func(tx *sqldb.DB) error {
			var epoch int64
			if err := tx.QueryRow(t.Context(), `SELECT epoch FROM leader WHERE name = 'n'`+tx.ForUpdate()).Scan(&epoch); err != nil {
				return err
			}
			await(t, "first ends when nothing is answered", first.ends)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		await(t, "first begins again", first.begins)

		second := w.join(theirs, "second")
		if err := mine.Close(); err != nil {
			t.Fatal(err)
		}
		await(t, "first ends when its database is gone", first.ends)
		await(t, "second begins", second.begins)
		first.stop()
		second.stop()
		await(t, "first returns", first.done)
		await(t, "second returns", second.done)
	})
}

// When work returns by itself, it is not called again, and the leadership is released.
func TestWorkThatReturns(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		broken := errors.New("broken")
		log := slog.New(slog.DiscardHandler)
		var times int
		for i, want := range []error{broken, nil} {
			err := Run(t.Context(), db, "n", fmt.Sprint(i), time.Now, log, func(context.Context) error {
				times++
				return want
			})
			if !errors.Is(err, want) || times != i+1 {
				t.Errorf("Run = %v after %d times; want %v after %d", err, times, want, i+1)
			}
		}
	})
}

// Names are independent, and a process may be the leader for several.
func TestNamesAreIndependent(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var all sync.WaitGroup
		var both sync.WaitGroup
		both.Add(2)
		for _, name := range []string{"a", "b"} {
			all.Go(func() {
				err := Run(t.Context(), db, name, "me", time.Now, slog.New(slog.DiscardHandler), func(context.Context) error {
					both.Done()
					both.Wait()
					return nil
				})
				if err != nil {
					t.Errorf("Run: %v", err)
				}
			})
		}
		all.Wait()
	})
}
