package journal_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// commits records, for one group, the committed transactions, and for each how many had committed
// when it began: those must precede it.
type commits struct {
	all []commit
}

type commit struct {
	after   int // how many had committed when this one began
	entries []string
}

// total returns the number of committed entries.
func (c *commits) total() (n int) {
	for _, x := range c.all {
		n += len(x.entries)
	}
	return n
}

// ledger is the commits of all groups.
type ledger struct {
	mu     sync.Mutex
	groups map[int32]*commits
}

func newLedger(tenants []id.Tenant) *ledger {
	l := &ledger{groups: map[int32]*commits{}}
	for _, t := range tenants {
		l.groups[t.Group()] = &commits{}
	}
	return l
}

// counts returns how many transactions have committed in each group.
func (l *ledger) counts() map[int32]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := map[int32]int{}
	for group, c := range l.groups {
		n[group] = len(c.all)
	}
	return n
}

// add records a committed transaction, which began after so many others.
func (l *ledger) add(after map[int32]int, made map[int32][]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for group, entries := range made {
		c := l.groups[group]
		c.all = append(c.all, commit{after[group], entries})
	}
}

// disagreement describes how an order of entries contradicts the commits, or is empty.
func (c *commits) disagreement(seen []string) string {
	place := make(map[string]int, len(seen))
	for i, e := range seen {
		place[e] = i
	}
	if len(place) != len(seen) {
		return "an entry was seen twice"
	}
	last := make([]int, len(c.all)+1) // the last position of the first i commits
	for i, x := range c.all {
		last[i+1] = last[i]
		for k, e := range x.entries {
			at, ok := place[e]
			if !ok {
				return fmt.Sprintf("entry %d of commit %d was missed", k, i)
			}
			if k > 0 && at < place[x.entries[k-1]] {
				return fmt.Sprintf("entry %d of commit %d was seen before the one appended before it", k, i)
			}
			last[i+1] = max(last[i+1], at+1)
		}
	}
	for i, x := range c.all {
		if first := place[x.entries[0]]; first < last[x.after] {
			return fmt.Sprintf("commit %d was seen at %d, before one that had committed when it began (seen up to %d)", i, first, last[x.after])
		}
	}
	if n := c.total(); len(seen) != n {
		return fmt.Sprintf("%d entries were seen, %d committed", len(seen), n)
	}
	return ""
}

// entryBy returns an entry id as a machine with a wrong clock creates it.
func entryBy(wrong time.Duration) id.Entry {
	text := id.New[id.Entry]().String()
	ms, err := strconv.ParseInt(text[:8]+text[9:13], 16, 64)
	if err != nil {
		panic(err)
	}
	moved := fmt.Sprintf("%012x", ms+wrong.Milliseconds())
	return id.Read[id.Entry](moved[:8] + "-" + moved[8:] + text[13:])
}

// Writers on several machines append to three groups, with clocks that differ by seconds, in
// transactions of all sizes, for one group or several: some are slow, some rolled back wholly or
// partly, some retried after a conflict, some lose their connection. Meanwhile processes follow,
// each with its own horizons, and are killed.
//
// No follower misses an entry or sees one twice, all see the same order in each group, and in that
// order no entry precedes one that was committed before its transaction began.
func TestTheOrderIsThatOfCommits(t *testing.T) {
	t.Parallel()
	db := dbtest.Postgres(t)
	withSeen(t, db)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	const writers, each, processes = 5, 30, 3
	ctx := t.Context()
	tenants := inGroups(3)
	log := newLedger(tenants)
	done := make(chan struct{})
	var writing, following sync.WaitGroup
	for p := range processes {
		random := rand.New(rand.NewPCG(seed, uint64(100+p)))
		following.Go(func() {
			for {
				e := &journal.Engine{DB: db, Followers: []journal.Follower{recordingFollower("sound"), failingFollower("unsteady", random), selectiveFollower("choosy")}}
				for range 1 + random.IntN(8) {
					if _, err := e.Tick(ctx); err != nil && !errors.Is(err, errFollower) {
						t.Errorf("Tick: %v", err)
					}
				}
				// A process is killed at a random time.
				death, die := context.WithTimeout(ctx, time.Duration(random.IntN(20))*time.Millisecond)
				if _, err := e.Tick(death); err != nil && death.Err() == nil && !errors.Is(err, errFollower) {
					t.Errorf("Tick: %v", err)
				}
				die()
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for w := range writers {
		wr := &writer{db: db, random: rand.New(rand.NewPCG(seed, uint64(w))), log: log, tenants: tenants, wrong: time.Duration(w-writers/2) * 2 * time.Second}
		writing.Go(func() {
			for range each {
				if err := wr.write(ctx); err != nil {
					t.Errorf("append: %v", err)
					return
				}
			}
		})
	}
	writing.Wait()
	close(done)
	following.Wait()
	late := &journal.Engine{DB: db, Followers: []journal.Follower{recordingFollower("sound"), recordingFollower("unsteady"), selectiveFollower("choosy"), recordingFollower("late")}}
	if err := late.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	order := seen(t, db, "sound")
	entries, transactions := 0, 0
	for group, c := range log.groups {
		if wrong := c.disagreement(seenIn(t, db, "sound", group)); wrong != "" {
			t.Errorf("group %d: %s", group, wrong)
		}
		entries, transactions = entries+c.total(), transactions+len(c.all)
	}
	for _, other := range []string{"unsteady", "late"} {
		if !slices.Equal(order, seen(t, db, other)) {
			t.Errorf("%s saw another order", other)
		}
	}
	if some := seen(t, db, "choosy"); !slices.Equal(some, slices.DeleteFunc(order, func(e string) bool { return !isSelected(e) })) {
		t.Errorf("choosy saw %d entries, want those of its types in order", len(some))
	}
	t.Logf("%d entries of %d transactions", entries, transactions)
}

// writer appends in random transactions.
type writer struct {
	db      *sqldb.DB
	random  *rand.Rand
	log     *ledger
	tenants []id.Tenant
	wrong   time.Duration // error of its machine's clock
}

func (w *writer) write(ctx context.Context) error {
	var tries int
	var after map[int32]int
	var made map[int32][]string
	rollBack, race, killed := w.random.IntN(5) == 0, w.random.IntN(8) == 0, w.random.IntN(10) == 0
	pause := w.random.IntN(8) // milliseconds
	if w.random.IntN(15) == 0 {
		pause = 80
	}
	err := w.db.InTx(ctx, func(tx *sqldb.DB) error {
		after, made = w.log.counts(), map[int32][]string{}
		tries++
		for range 1 + w.random.IntN(3) {
			list := w.entries()
			undone := w.random.IntN(4) == 0
			if undone {
				if _, err := tx.Exec(ctx, `SAVEPOINT here`); err != nil {
					return err
				}
			}
			if err := journal.Append(ctx, tx, list...); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `SELECT pg_sleep($1)`, float64(pause)/1000); err != nil {
				return err
			}
			if undone {
				if _, err := tx.Exec(ctx, `ROLLBACK TO SAVEPOINT here`); err != nil {
					return err
				}
				continue
			}
			for _, e := range list {
				made[e.Tenant.Group()] = append(made[e.Tenant.Group()], e.ID.String())
			}
		}
		if race && tries == 1 {
			_, err := tx.Exec(ctx, `DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '40001'; END $$`)
			return err
		}
		if rollBack {
			return errRolledBack
		}
		if killed {
			_, err := tx.Exec(ctx, `SELECT pg_terminate_backend(pg_backend_pid())`)
			return errors.Join(err, errRolledBack)
		}
		return nil
	})
	if errors.Is(err, errRolledBack) {
		return nil
	}
	if err == nil && len(made) > 0 {
		w.log.add(after, made)
	}
	return err
}

// entries returns some, of one tenant or of all; occasionally as many as a batch of a large import.
func (w *writer) entries() []journal.Entry {
	n := 1 + w.random.IntN(6)
	if w.random.IntN(40) == 0 {
		n = 1200
	}
	list := make([]journal.Entry, n)
	from, mixed := w.random.IntN(len(w.tenants)), w.random.IntN(4) == 0
	for i := range list {
		if mixed {
			from = w.random.IntN(len(w.tenants))
		}
		e := journal.Entry{Tenant: w.tenants[from], ID: entryBy(w.wrong), Type: journal.EmailSent, At: noon}
		if isSelected(e.ID.String()) {
			e.Type = journal.EmailFailed
		}
		list[i] = e
	}
	return list
}

// isSelected reports whether an entry is of the type that selective followers process.
func isSelected(entry string) bool {
	return strings.HasSuffix(entry, "0") || strings.HasSuffix(entry, "7")
}

// selectiveFollower is a recordingFollower of some types only.
func selectiveFollower(name string) journal.Follower {
	all := recordingFollower(name)
	return journal.Follower{Name: name, Types: []journal.Type{journal.EmailFailed}, Follow: func(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
		return all.Follow(ctx, tx, slices.DeleteFunc(slices.Clone(entries), func(e journal.Entry) bool { return e.Type != journal.EmailFailed }))
	}}
}

var errFollower = errors.New("occasional failure")

// failingFollower is a recordingFollower that occasionally fails after a part of its entries.
func failingFollower(name string, random *rand.Rand) journal.Follower {
	all := recordingFollower(name)
	return journal.Follower{Name: name, Follow: func(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
		if random.IntN(3) == 0 {
			return errors.Join(errFollower, all.Follow(ctx, tx, entries[:len(entries)/2]))
		}
		return all.Follow(ctx, tx, entries)
	}}
}

// Entries committed before another began come first, although the machine that wrote that one has a
// clock that is behind.
func TestClocksDoNotAffectTheOrder(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withSeen(t, db)
		var want []string
		for _, wrong := range []time.Duration{5 * time.Second, 0, -5 * time.Second} {
			e := journal.Entry{Tenant: idtest.TenantNamed("t"), ID: entryBy(wrong), Type: journal.EmailSent, At: noon}
			want = append(want, e.ID.String())
			if err := journal.Append(t.Context(), db, e); err != nil {
				t.Fatal(err)
			}
		}
		e := &journal.Engine{DB: db, Followers: []journal.Follower{recordingFollower("f")}}
		if err := e.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := seen(t, db, "f"); !slices.Equal(got, want) {
			t.Errorf("seen %v, want %v", got, want)
		}
	})
}
