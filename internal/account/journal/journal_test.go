package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// recordingFollower is a follower that records what it saw. It does so in the database, since memory would be
// wrong after a transaction is retried.
func recordingFollower(name string) journal.Follower {
	return journal.Follower{Name: name, Follow: func(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
		for _, e := range entries {
			if _, err := tx.Exec(ctx, `INSERT INTO seen (follower, id, grp, pos) VALUES ($1, $2, $3, $4)`, name, e.ID, e.Tenant.Group(), e.Position); err != nil {
				return err
			}
		}
		return nil
	}}
}

func withSeen(t *testing.T, db *sqldb.DB) {
	t.Helper()
	if _, err := db.Exec(t.Context(), `CREATE TABLE seen (follower TEXT, id UUID, grp INTEGER, pos BIGINT, PRIMARY KEY (follower, id), UNIQUE (follower, grp, pos))`); err != nil {
		t.Fatal(err)
	}
}

func seen(t *testing.T, db *sqldb.DB, follower string) []string {
	t.Helper()
	rows, err := db.Query(t.Context(), `SELECT id FROM seen WHERE follower = $1 ORDER BY grp, pos`, follower)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s string, err error) {
		var e id.Entry
		err = scan(&e)
		return e.String(), err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// seenIn is seen for one group.
func seenIn(t *testing.T, db *sqldb.DB, follower string, group int32) []string {
	t.Helper()
	rows, err := db.Query(t.Context(), `SELECT id FROM seen WHERE follower = $1 AND grp = $2 ORDER BY pos`, follower, group)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s string, err error) {
		var e id.Entry
		err = scan(&e)
		return e.String(), err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// inGroups returns tenants of different groups.
func inGroups(n int) []id.Tenant {
	var list []id.Tenant
	have := map[int32]bool{}
	for t := id.Tenant(1); len(list) < n; t++ {
		if !have[t.Group()] {
			have[t.Group()] = true
			list = append(list, t)
		}
	}
	return list
}

func TestFollowersSeeEachEntryOnceAndInCommitOrder(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withSeen(t, db)
		const writers, rounds, followers = 6, 25, 2
		ctx := t.Context()
		engines := make([]*journal.Engine, 3) // like three processes
		for i := range engines {
			engines[i] = &journal.Engine{DB: db, Log: slog.New(slog.DiscardHandler)}
			for f := range followers {
				engines[i].Followers = append(engines[i].Followers, recordingFollower(fmt.Sprint("f", f)))
			}
		}
		done := make(chan struct{})
		var ticking, writing sync.WaitGroup
		for _, e := range engines {
			ticking.Go(func() {
				for {
					if _, err := e.Tick(ctx); err != nil {
						t.Errorf("Tick: %v", err)
						return
					}
					select {
					case <-done:
						return
					default:
					}
				}
			})
		}
		order := make([][]string, writers) // a writer's own commits are in order
		for w := range writers {
			writing.Go(func() {
				tenant := idtest.Tenant()
				for r := range rounds {
					var made []string
					err := db.InTx(ctx, func(tx *sqldb.DB) error {
						made = nil
						for n := range 1 + r%3 {
							e := journal.Entry{Tenant: tenant, ID: id.New[id.Entry](), Type: journal.ContactCreated, At: noon, Data: map[string]int{"n": n}}
							made = append(made, e.ID.String())
							if err := journal.Append(ctx, tx, e); err != nil {
								return err
							}
						}
						if r%7 == 3 {
							return errRolledBack
						}
						return nil
					})
					if errors.Is(err, errRolledBack) {
						continue
					}
					if err != nil {
						t.Errorf("append: %v", err)
						return
					}
					order[w] = append(order[w], made...)
				}
			})
		}
		writing.Wait()
		close(done)
		ticking.Wait()
		if err := engines[0].Drain(ctx); err != nil {
			t.Fatal(err)
		}
		first := seen(t, db, "f0")
		if other := seen(t, db, "f1"); !slices.Equal(first, other) {
			t.Error("two followers saw different orders")
		}
		at := map[string]int{}
		for i, e := range first {
			at[e] = i
		}
		total := 0
		for w, list := range order {
			total += len(list)
			for i, e := range list {
				if _, ok := at[e]; !ok {
					t.Fatalf("an entry of writer %d was never seen", w)
				}
				if i > 0 && at[e] < at[list[i-1]] {
					t.Errorf("writer %d: entry %d was seen before the one committed before it", w, i)
				}
			}
		}
		if len(first) != total {
			t.Errorf("%d entries were seen, %d committed", len(first), total)
		}
		if lag, err := journal.Lag(ctx, db); err != nil || lag != 0 {
			t.Errorf("Lag = %d, %v; want 0", lag, err)
		}
	})
}

var errRolledBack = errors.New("rolled back")

func TestAFailingFollowerIsRetriedAndHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withSeen(t, db)
		ctx := t.Context()
		broken := true
		whole := recordingFollower("broken")
		fails := journal.Follower{Name: "broken", Follow: func(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
			if err := whole.Follow(ctx, tx, entries[:1]); err != nil {
				return err
			}
			if broken {
				return errors.New("out of order")
			}
			return whole.Follow(ctx, tx, entries[1:])
		}}
		e := &journal.Engine{DB: db, Followers: []journal.Follower{fails, recordingFollower("sound")}}
		for range 2 {
			if err := journal.Append(ctx, db, journal.Entry{Tenant: idtest.TenantNamed("t"), Type: journal.EmailSent, At: noon}, journal.Entry{Tenant: idtest.TenantNamed("t"), Type: journal.EmailSent, At: noon}); err != nil {
				t.Fatal(err)
			}
			more, err := e.Tick(ctx)
			if err == nil || more {
				t.Errorf("Tick = %v, %v; want an error and no more", more, err)
			}
		}
		if n := len(seen(t, db, "sound")); n != 4 {
			t.Errorf("the other follower saw %d entries, want 4", n)
		}
		if n := len(seen(t, db, "broken")); n != 0 {
			t.Errorf("the failing follower left %d effects behind", n)
		}
		if lag, err := journal.Lag(ctx, db); err != nil || lag != 4 {
			t.Errorf("Lag = %d, %v; want 4", lag, err)
		}
		broken = false
		if err := e.Drain(ctx); err != nil {
			t.Fatal(err)
		}
		if n := len(seen(t, db, "broken")); n != 4 {
			t.Errorf("the repaired follower saw %d entries, want 4", n)
		}
	})
}

// While one follower fails, Run continues to call the others at full speed.
func TestRunContinuesWhileAFollowerFails(t *testing.T) {
	t.Parallel()
	db := dbtest.SQLite(t)
	ctx, cancel := context.WithCancel(t.Context())
	const entries = 2500 // more than two batches
	list := make([]journal.Entry, entries)
	for i := range list {
		list[i] = journal.Entry{Tenant: idtest.TenantNamed("t"), Type: journal.EmailSent, At: noon}
	}
	if err := journal.Append(ctx, db, list...); err != nil {
		t.Fatal(err)
	}
	tries, read := 0, 0
	e := &journal.Engine{DB: db, Log: slog.New(slog.DiscardHandler), Every: time.Hour, Followers: []journal.Follower{
		{Name: "broken", Follow: func(context.Context, *sqldb.DB, []journal.Entry) error { tries++; return errors.New("no") }},
		{Name: "sound", Follow: func(_ context.Context, _ *sqldb.DB, e []journal.Entry) error {
			if read += len(e); read == entries {
				cancel()
			}
			return nil
		}},
	}}
	if err := e.Run(ctx); err != nil || read != entries {
		t.Errorf("Run = %v after %d entries", err, read)
	}
	if tries != 1 {
		t.Errorf("the failing follower was tried %d times without a pause", tries)
	}
}

func TestAnEntryIsReadAsItWasAppended(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		want := journal.Entry{
			Tenant: idtest.Tenant(), ID: id.New[id.Entry](), Type: journal.EmailClicked, Contact: id.New[id.Contact](),
			Send: id.New[id.Send](), Message: id.New[id.Message](), At: noon.Add(123456 * time.Microsecond), Data: map[string]string{"a": "ü\u2028\"'"},
		}
		raw := journal.Entry{Tenant: want.Tenant, Type: journal.ContactUpdated, At: noon, Data: json.RawMessage(`{"b": 1}`)}
		bare := journal.Entry{Tenant: want.Tenant, Type: journal.ContactCreated, At: noon}
		if err := journal.Append(ctx, db, want, raw, bare); err != nil {
			t.Fatal(err)
		}
		if err := journal.Append(ctx, db); err != nil {
			t.Errorf("Append of nothing: %v", err)
		}
		var got []journal.Entry
		e := &journal.Engine{DB: db, Followers: []journal.Follower{{Name: "f", Follow: func(_ context.Context, _ *sqldb.DB, list []journal.Entry) error {
			got = append(got, list...)
			return nil
		}}}}
		if err := e.Drain(ctx); err != nil {
			t.Fatal(err)
		}
		if len(got) != 3 {
			t.Fatalf("%d entries came, want 3", len(got))
		}
		var a struct{ A string }
		if err := got[0].Decode(&a); err != nil || a.A != "ü\u2028\"'" {
			t.Errorf("Decode = %q, %v", a.A, err)
		}
		var b struct{ B int }
		if err := got[1].Decode(&b); err != nil || b.B != 1 {
			t.Errorf("Decode of raw data = %d, %v", b.B, err)
		}
		g := got[0]
		g.Data, g.Position, want.Data = nil, 0, nil
		if g != want {
			t.Errorf("got %+v, want %+v", g, want)
		}
		for i, e := range got {
			if e.Position != int64(i+1) {
				t.Errorf("entry %d has position %d", i, e.Position)
			}
		}
	})
}

// logged is a log that passes its records on.
type logged struct {
	slog.Handler
	records chan slog.Record
}

func (l logged) Enabled(context.Context, slog.Level) bool { return true }

func (l logged) Handle(_ context.Context, r slog.Record) error {
	l.records <- r
	return nil
}

// After a failure nothing is tried again before the next tick, however often the loop is woken.
func TestRunPausesWhileTheDatabaseFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, broken string // a statement that makes others fail
		types        []journal.Type
		asleep       bool // all fails, so that the loop is not woken either
	}{
		{"cursors cannot be written, and nothing is wanted", `CREATE TRIGGER broken BEFORE UPDATE ON journal_cursor ` + full, []journal.Type{"none"}, false},
		{"cursors cannot be written, and all is wanted", `CREATE TRIGGER broken BEFORE UPDATE ON journal_cursor ` + full, nil, false},
		{"effects cannot be written", `CREATE TRIGGER broken BEFORE INSERT ON seen ` + full, nil, false},
		{"nothing can be read", `ALTER TABLE journal RENAME TO damaged`, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.SQLite(t)
			withSeen(t, db)
			list := make([]journal.Entry, 2500) // more than two batches
			for i := range list {
				list[i] = journal.Entry{Tenant: idtest.TenantNamed("t"), Type: journal.EmailSent, At: noon}
			}
			if err := journal.Append(t.Context(), db, list...); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(t.Context(), tt.broken); err != nil {
				t.Fatal(err)
			}
			follower := recordingFollower("f")
			follower.Types = tt.types
			run := func(every time.Duration, wake chan struct{}, watch func(failures chan slog.Record)) {
				log := logged{records: make(chan slog.Record)}
				e := &journal.Engine{DB: db, Log: slog.New(log), Every: every, Followers: []journal.Follower{follower}, Wake: wake}
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- e.Run(ctx) }()
				watch(log.records)
				stop()
				for {
					select {
					case <-log.records: // of the round in which it was stopped
					case err := <-ended:
						if err != nil {
							t.Error(err)
						}
						return
					}
				}
			}
			wake := make(chan struct{})
			run(time.Hour, wake, func(failures chan slog.Record) {
				<-failures
				if tt.asleep {
					select {
					case <-failures:
						t.Error("it fails again at once")
					case wake <- struct{}{}:
						t.Error("it is woken while the database fails")
					case <-time.After(200 * time.Millisecond):
					}
					return
				}
				for range 3 {
					select {
					case <-failures:
						t.Error("it fails again before the next tick")
						return
					case <-time.After(time.Minute):
						t.Error("it is not woken for other work")
						return
					case wake <- struct{}{}:
					}
				}
			})
			run(time.Millisecond, nil, func(failures chan slog.Record) {
				for range 3 { // it is tried again at ticks
					<-failures
				}
			})
		})
	}
}

// full fails a statement as a full disk does.
const full = `BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`
