package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// emit appends n entries of a tenant and returns their ids.
func emit(t *testing.T, on *sqldb.DB, tenant id.Tenant, typ journal.Type, n int) (made []string) {
	t.Helper()
	list := make([]journal.Entry, n)
	for i := range list {
		list[i] = journal.Entry{Tenant: tenant, ID: id.New[id.Entry](), Type: typ, At: noon}
		made = append(made, list[i].ID.String())
	}
	if err := journal.Append(t.Context(), on, list...); err != nil {
		t.Fatal(err)
	}
	return made
}

func wantSeen(t *testing.T, db *sqldb.DB, follower string, tenant id.Tenant, want ...string) {
	t.Helper()
	if got := seenIn(t, db, follower, tenant.Group()); !slices.Equal(got, want) {
		t.Errorf("%s saw %v of group %d, want %v", follower, got, tenant.Group(), want)
	}
}

func tick(t *testing.T, e *journal.Engine) (more bool) {
	t.Helper()
	more, err := e.Tick(t.Context())
	if err != nil {
		t.Error(err)
	}
	return more
}

func drain(t *testing.T, e *journal.Engine) {
	t.Helper()
	if err := e.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A slow transaction holds up its own group only.
func TestGroupsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	tenants := inGroups(2)
	tx, end := s.open()
	slow := emit(t, tx, tenants[0], journal.EmailSent, 1)
	behind := emit(t, s.db, tenants[0], journal.EmailSent, 1)
	free := emit(t, s.db, tenants[1], journal.EmailSent, 1)
	for range 2 {
		tick(t, s.e)
	}
	wantSeen(t, s.db, "f", tenants[0])
	wantSeen(t, s.db, "f", tenants[1], free...)
	if err := end(nil); err != nil {
		t.Fatal(err)
	}
	drain(t, s.e)
	wantSeen(t, s.db, "f", tenants[0], slow[0], behind[0])
}

// While one process is working on a group, another processes the next one; each entry takes effect
// once. Drain waits for the other process.
func TestTwoProcessesFollowTwoGroupsAtOnce(t *testing.T) {
	t.Parallel()
	db := dbtest.Postgres(t)
	withSeen(t, db)
	tenants := inGroups(2)
	plain := recordingFollower("f")
	entered, leave := make(chan struct{}), make(chan struct{})
	slow := plain
	slow.Follow = func(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
		entered <- struct{}{}
		<-leave
		return plain.Follow(ctx, tx, entries)
	}
	first := &journal.Engine{DB: db, Followers: []journal.Follower{slow}}
	second := &journal.Engine{DB: db, Followers: []journal.Follower{plain}}
	a := emit(t, db, tenants[0], journal.EmailSent, 2)
	over := make(chan struct{})
	go func() {
		defer close(over)
		tick(t, first)
	}()
	<-entered
	b := emit(t, db, tenants[1], journal.EmailSent, 2)
	tick(t, second)
	wantSeen(t, db, "f", tenants[0])
	wantSeen(t, db, "f", tenants[1], b...)
	impatient, stop := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer stop()
	if err := second.Drain(impatient); err == nil || impatient.Err() == nil {
		t.Errorf("Drain = %v, although another process is following", err)
	}
	close(leave)
	drain(t, second)
	<-over
	wantSeen(t, db, "f", tenants[0], a...)
	wantSeen(t, db, "f", tenants[1], b...)
}

// statements counts the statements that contain each of the words.
func statements(ctx context.Context, e *journal.Engine, words ...string) (all int, counts []int, err error) {
	counts = make([]int, len(words))
	_, err = e.Tick(sqldb.WithQueryTrace(ctx, func(text string, _ []any) {
		all++
		for i, w := range words {
			if strings.Contains(text, w) {
				counts[i]++
			}
		}
	}))
	return all, counts, err
}

// A batch of a group is read once for all followers. One statement advances the cursors without
// entries to process, of all groups; each other follower has one transaction for all groups. A
// process with nothing to do runs one query.
func TestABatchIsReadOnceForAllFollowers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withSeen(t, db)
		if db.Distributed() {
			t.Skip("each group is followed by itself where the tables are distributed")
		}
		calls := 0
		counted := selectiveFollower("counted")
		inner := counted.Follow
		counted.Follow = func(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
			calls++
			return inner(ctx, tx, entries)
		}
		never := func(name string) journal.Follower {
			return journal.Follower{Name: name, Types: []journal.Type{journal.TagAdded}, Follow: func(context.Context, *sqldb.DB, []journal.Entry) error {
				t.Errorf("%s got entries of other types", name)
				return nil
			}}
		}
		e := &journal.Engine{DB: db, Followers: []journal.Follower{never("a"), counted, never("b"), never("c"), never("d")}}
		tenants := inGroups(3)
		for _, tenant := range tenants {
			emit(t, db, tenant, journal.EmailSent, 1)
		}
		drain(t, e)
		const looks, reads, passed, taken, moved = "heads", "ORDER BY grp, pos", "x.upto", "JOIN journal_cursor AS c ON c.follower", "SET pos = v.pos"
		all, _, err := statements(t.Context(), e, looks)
		if err != nil || all != 1 {
			t.Errorf("a process with nothing to do sent %d statements, %v; want 1", all, err)
		}
		var want [][]string
		for _, tenant := range tenants {
			emit(t, db, tenant, journal.EmailSent, 20)
			want = append(want, emit(t, db, tenant, journal.EmailFailed, 2))
			emit(t, db, tenant, journal.EmailSent, 20)
		}
		_, counts, err := statements(t.Context(), e, looks, reads, passed, taken, moved)
		if err != nil || !slices.Equal(counts, []int{1, 3, 1, 1, 1}) || calls != 1 {
			t.Errorf("polls, reads, skips, locks and updates: %v with %d calls, %v; want [1 3 1 1 1] with one", counts, calls, err)
		}
		for i, tenant := range tenants {
			wantSeen(t, db, "counted", tenant, want[i]...)
		}
		if lag, err := journal.Lag(t.Context(), db); lag != 0 || err != nil {
			t.Errorf("Lag = %d, %v; want 0", lag, err)
		}
	})
}

// A follower with a backlog does not hold up the other followers, nor a group with one the other
// groups.
func TestABacklogDelaysNoOther(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withSeen(t, db)
		tenants := inGroups(2)
		var made [][]string
		for _, tenant := range tenants {
			made = append(made, emit(t, db, tenant, journal.EmailFailed, 2200))
		}
		drain(t, &journal.Engine{DB: db, Followers: []journal.Follower{selectiveFollower("quick")}})
		e := &journal.Engine{DB: db, Followers: []journal.Follower{selectiveFollower("quick"), selectiveFollower("late")}} // late is added by a newer version of the program
		made[0] = append(made[0], emit(t, db, tenants[0], journal.EmailFailed, 1)...)
		if !tick(t, e) {
			t.Error("there is more for the late one, and Tick does not say so")
		}
		wantSeen(t, db, "quick", tenants[0], made[0]...)
		if n := len(seen(t, db, "late")); n != 1000 {
			t.Errorf("the late one saw %d entries, want a batch", n)
		}
		tick(t, e)
		for _, tenant := range tenants {
			if n := len(seenIn(t, db, "late", tenant.Group())); n != 1000 {
				t.Errorf("after two batches the late one saw %d entries of a group, want 1000 of each", n)
			}
		}
		drain(t, e)
		for i, tenant := range tenants {
			wantSeen(t, db, "late", tenant, made[i]...)
		}
	})
}

// A follower that fails in one group continues with the others.
func TestAFailureStopsOneGroupOnly(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withSeen(t, db)
		tenants := inGroups(3)
		broken := true
		plain := recordingFollower("f")
		fails := plain
		fails.Follow = func(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
			if broken && slices.ContainsFunc(entries, func(e journal.Entry) bool { return e.Tenant == tenants[1] }) {
				return errors.New("out of order")
			}
			return plain.Follow(ctx, tx, entries)
		}
		e := &journal.Engine{DB: db, Followers: []journal.Follower{fails}}
		var made [][]string
		for _, tenant := range tenants {
			made = append(made, emit(t, db, tenant, journal.EmailSent, 2))
		}
		if more, err := e.Tick(t.Context()); err == nil || more {
			t.Errorf("Tick = %v, %v; want an error and no more", more, err)
		}
		wantSeen(t, db, "f", tenants[0], made[0]...)
		wantSeen(t, db, "f", tenants[1])
		wantSeen(t, db, "f", tenants[2], made[2]...)
		if lag, err := journal.Lag(t.Context(), db); err != nil || lag != 2 {
			t.Errorf("Lag = %d, %v; want 2", lag, err)
		}
		broken = false
		drain(t, e)
		wantSeen(t, db, "f", tenants[1], made[1]...)
	})
}

// Entries appended together keep their order for each tenant, and each group has its own positions.
func TestEntriesOfSeveralTenantsAreAppendedTogether(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withSeen(t, db)
		tenants := inGroups(3)
		var list []journal.Entry
		want := map[id.Tenant][]string{}
		for i := range 30 {
			e := journal.Entry{Tenant: tenants[i*i%3], ID: id.New[id.Entry](), Type: journal.EmailSent, At: noon}
			list = append(list, e)
			want[e.Tenant] = append(want[e.Tenant], e.ID.String())
		}
		given := slices.Clone(list)
		if err := journal.Append(t.Context(), db, list...); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(list, given) {
			t.Error("Append changed the caller's list")
		}
		if lag, err := journal.Lag(t.Context(), db); err != nil || lag != 30 {
			t.Errorf("Lag = %d, %v; want the sum over the groups, 30", lag, err)
		}
		drain(t, &journal.Engine{DB: db, Followers: []journal.Follower{recordingFollower("f")}})
		for tenant, made := range want {
			wantSeen(t, db, "f", tenant, made...)
			var first, last int
			if err := db.QueryRow(t.Context(), `SELECT MIN(pos), MAX(pos) FROM journal WHERE tenant_id = $1`, tenant).Scan(&first, &last); err != nil || first != 1 || last != len(made) {
				t.Errorf("tenant %d has places %d to %d, %v; want 1 to %d", int32(tenant), first, last, err, len(made))
			}
		}
	})
}

func TestEmptyDataIsNotStored(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		tenant := idtest.Tenant()
		for _, data := range []any{nil, map[string]any{}, json.RawMessage(`{}`), json.RawMessage(nil), struct{}{}, journal.Event{}} {
			if err := journal.Append(t.Context(), db, journal.Entry{Tenant: tenant, Type: journal.CustomEvent, Name: "e", Contact: id.New[id.Contact](), At: noon, Data: data}); err != nil {
				t.Errorf("Append with %T: %v", data, err)
			}
		}
		var rows, kept int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*), COUNT(data) FROM journal WHERE tenant_id = $1`, tenant).Scan(&rows, &kept); err != nil || rows != 6 || kept != 0 {
			t.Errorf("%d of %d entries have data, %v", kept, rows, err)
		}
		e := &journal.Engine{DB: db, Followers: []journal.Follower{{Name: "f", Follow: func(_ context.Context, _ *sqldb.DB, list []journal.Entry) error {
			for _, e := range list {
				said := map[string]any{"as": "before"}
				if err := e.Decode(&said); err != nil || e.Data != nil || len(said) != 1 {
					t.Errorf("read %v as %v, %v", e.Data, said, err)
				}
				if ev, err := e.Event(); err != nil || ev.Type != "" || ev.Properties != nil {
					t.Errorf("the event is %v, %v", ev, err)
				}
			}
			return nil
		}}}}
		drain(t, e)
	})
}

// Entries appended after others were copied in follow those.
func TestTheJournalContinuesAfterCopiedEntries(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		tenants := inGroups(3)
		last := func(tenant id.Tenant, want int64) {
			t.Helper()
			emit(t, db, tenant, journal.EmailSent, 1)
			var got int64
			if err := db.QueryRow(t.Context(), `SELECT MAX(pos) FROM journal WHERE tenant_id = $1`, tenant).Scan(&got); err != nil || got != want {
				t.Errorf("tenant %d: the new entry is at %d, %v; want %d", int32(tenant), got, err, want)
			}
		}
		appendNext := func() {
			t.Helper()
			if err := journal.Continue(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		appendNext() // the journal is empty
		last(tenants[1], 1)
		for i, pos := range []int64{70, 9} {
			_, err := db.Exec(t.Context(), `INSERT INTO journal (tenant_id, grp, pos, id, type, occurred_at) VALUES ($1, $2, $3, $4, 'email_sent', 0)`,
				tenants[i], tenants[i].Group(), pos, id.New[id.Entry]())
			if err != nil {
				t.Fatal(err)
			}
		}
		appendNext()
		last(tenants[0], 71)
		last(tenants[1], 10)
		last(tenants[2], 1)
		if _, err := db.Exec(t.Context(), `DELETE FROM journal WHERE tenant_id = $1 AND pos > 70`, tenants[0]); err != nil {
			t.Fatal(err)
		}
		appendNext() // no position is assigned twice
		last(tenants[0], 72)
	})
}

// The last position of each group is found without reading the group.
func TestPollingReadsOneEntryOfEachGroup(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var look string
		e := &journal.Engine{DB: db, Followers: []journal.Follower{recordingFollower("f")}}
		withSeen(t, db)
		for _, tenant := range inGroups(5) {
			emit(t, db, tenant, journal.EmailSent, 300)
		}
		drain(t, e)
		var args []any
		if _, err := e.Tick(sqldb.WithQueryTrace(t.Context(), func(text string, a []any) { look, args = text, a })); err != nil {
			t.Fatal(err)
		}
		if db.Dialect() == sqldb.SQLite {
			rows, err := db.Query(t.Context(), `EXPLAIN QUERY PLAN `+look, args...)
			plan, err := sqldb.Collect(rows, err, func(scan func(...any) error) (step string, err error) {
				var a, b, c int
				err = scan(&a, &b, &c, &step)
				return step, err
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range plan {
				if strings.HasPrefix(step, "SCAN j") && !strings.Contains(step, "USING COVERING INDEX") || strings.Contains(step, "TEMP B-TREE") {
					t.Errorf("the poll does %q of %q", step, plan)
				}
			}
			return
		}
		rows, err := db.Query(t.Context(), `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT TEXT) `+look, args...)
		plan, err := sqldb.Collect(rows, err, func(scan func(...any) error) (line string, err error) { return line, scan(&line) })
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range plan {
			var n, loops int
			if i := strings.Index(line, "(actual rows="); i >= 0 {
				if _, err := fmt.Sscanf(line[i:], "(actual rows=%d loops=%d)", &n, &loops); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(line, "on journal") && n > 5 {
				t.Errorf("the poll reads %q of\n%s", line, strings.Join(plan, "\n"))
			}
		}
	})
}
