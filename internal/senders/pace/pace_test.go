package pace_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/senders/pace"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// world has one time, which the database's clock shows, and processes whose own clocks are off by
// some amount.
type world struct {
	t  testing.TB
	db *sqldb.DB
	at time.Time
}

// newWorld replaces the database's clock by one that only the test moves.
func newWorld(t testing.TB, db *sqldb.DB) *world {
	t.Helper()
	w := &world{t: t, db: db, at: noon}
	if db.Dialect() == sqldb.Postgres {
		w.exec(`CREATE TABLE test_clock (at BIGINT NOT NULL) WITH (fillfactor = 10)`)
		w.exec(`INSERT INTO test_clock VALUES (0)`)
		w.exec(`CREATE OR REPLACE FUNCTION pace_clock() RETURNS BIGINT LANGUAGE sql VOLATILE AS 'SELECT at FROM test_clock'`)
	}
	w.pass(0)
	return w
}

func (w *world) exec(text string, args ...any) {
	w.t.Helper()
	if _, err := w.db.Exec(w.t.Context(), text, args...); err != nil {
		w.t.Fatal(err)
	}
}

// pass advances the time.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.at = w.at.Add(d)
	if w.db.Dialect() == sqldb.Postgres {
		w.exec(`UPDATE test_clock SET at = $1`, w.at.UnixMicro())
	}
}

// process returns a pacer whose clock is ahead of the world's.
func (w *world) process(name string, ahead time.Duration) *pace.Pacer {
	return pace.New(w.db, name, func() time.Time { return w.at.Add(ahead) })
}

// take calls Acquire, and returns again in the world's time.
func (w *world) take(p *pace.Pacer, ahead time.Duration, n int, limits ...pace.Limit) (int, time.Time) {
	w.t.Helper()
	granted, again, err := p.Acquire(w.t.Context(), n, limits)
	if err != nil {
		w.t.Fatalf("Acquire(%d, %v): %v", n, limits, err)
	}
	if granted < 0 || granted > n {
		w.t.Fatalf("Acquire(%d, %v) granted %d", n, limits, granted)
	}
	again = again.Add(-ahead)
	if granted == 0 && n > 0 && !again.After(w.at) {
		w.t.Fatalf("Acquire(%d, %v) granted nothing and says to ask again at once", n, limits)
	}
	return granted, again
}

func TestALimitAccumulatesABurstAndThenIsEven(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		p := w.process("a", time.Hour)
		l := pace.Limit{Key: "lane", Max: 10, Per: time.Second}
		want := 10
		if db.Dialect() == sqldb.Postgres {
			want = 8 // three quarters of a second
		}
		if got, _ := w.take(p, time.Hour, 100, l); got != want {
			t.Fatalf("the first take got %d, want the burst, %d", got, want)
		}
		_, again := w.take(p, time.Hour, 1, l)
		w.pass(again.Sub(w.at))
		w.take(p, time.Hour, 1, l)
		for i := range 40 {
			got, again := w.take(p, time.Hour, 1, l)
			if want := w.at.Add(100 * time.Millisecond); got != 0 || !again.Equal(want) {
				t.Fatalf("take %d at %v got %d, again at %v; want nothing before %v", i, w.at, got, again, want)
			}
			w.pass(again.Sub(w.at))
			if got, _ := w.take(p, time.Hour, 1, l); got != 1 {
				t.Fatalf("take %d when it was said got %d, want 1", i, got)
			}
		}
		w.pass(time.Hour)
		if got, _ := w.take(p, time.Hour, 100, l); got != want {
			t.Errorf("after an hour's rest a take got %d, want a burst again", got)
		}
	})
}

func TestALimitPerMinuteOrHourIsNeverExceeded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		p := w.process("a", 0)
		for _, l := range []pace.Limit{{"m", 60, time.Minute}, {"h", 5, time.Hour}, {"one", 1, time.Hour}} {
			var taken []time.Time
			for len(taken) < 3*min(l.Max, 20)+2 {
				got, again := w.take(p, 0, 3, l)
				for range got {
					taken = append(taken, w.at)
				}
				if got == 0 {
					w.pass(again.Sub(w.at))
				}
			}
			for i := l.Max; i < len(taken); i++ {
				if d := taken[i].Sub(taken[i-l.Max]); d < l.Per {
					t.Fatalf("%v: %d permits within %v", l, l.Max+1, d)
				}
			}
			if d, most := taken[len(taken)-1].Sub(noon), time.Duration(len(taken))*(l.Per+time.Second)/time.Duration(l.Max); l.Key == "m" && d > most {
				t.Errorf("%v: %d took %v, want at most %v", l, len(taken), d, most)
			}
		}
	})
}

func TestARefusalConsumesNoPermitsOfOtherLimits(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		p := w.process("a", 0)
		lane := pace.Limit{Key: "lane", Max: 10, Per: time.Second}
		slow := pace.Limit{Key: "gmail", Max: 2, Per: time.Hour}
		if got, again := w.take(p, 0, 5, lane, slow); got != 1 || again.Before(w.at.Add(20*time.Minute)) {
			t.Fatalf("the take of both got %d, again at %v; want 1 and half an hour", got, again)
		}
		for range 20 {
			if got, _ := w.take(p, 0, 5, lane, slow); got != 0 {
				t.Fatalf("a take that the slow limit refuses got %d", got)
			}
		}
		if got, _ := w.take(p, 0, 100, lane); got < 6 {
			t.Errorf("a take of the lane alone got %d, want what is left of its burst, about 8", got)
		}
		if got, again := w.take(p, 0, 1, pace.Limit{Key: "off", Per: time.Second}, lane); got != 0 || !again.Equal(w.at.Add(time.Second)) {
			t.Errorf("a take of a limit of 0 got %d, again at %v", got, again)
		}
		if got, _ := w.take(p, 0, 7); got != 7 {
			t.Errorf("a take of no limit got %d, want 7", got)
		}
		if _, _, err := p.Acquire(t.Context(), 1, []pace.Limit{{Key: "x", Max: 1}}); err == nil {
			t.Error("a limit without a period was taken")
		}
	})
}

func TestAChangedLimitAppliesAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		p := w.process("a", 0)
		w.take(p, 0, 1, pace.Limit{Key: "lane", Max: 1, Per: time.Hour})
		l := pace.Limit{Key: "lane", Max: 3600, Per: time.Hour}
		if _, again := w.take(p, 0, 10, l); again.After(w.at.Add(3 * time.Second)) {
			t.Errorf("after the limit was raised to one a second the next comes in %v", again.Sub(w.at))
		}
	})
}

func TestCloseReturnsPermitsAndGrantsNoMore(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		l := pace.Limit{Key: "lane", Max: 20, Per: time.Second}
		a := w.process("a", 0)
		w.take(a, 0, 20, l)
		w.pass(100 * time.Millisecond)
		w.take(a, 0, 2, l) // reserves more than it uses
		if err := a.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, _, err := a.Acquire(t.Context(), 1, []pace.Limit{l}); got != 0 || err == nil {
			t.Errorf("a take after Close got %d, %v; want an error", got, err)
		}
		if db.Dialect() == sqldb.SQLite {
			return
		}
		b := w.process("b", 0)
		w.pass(50 * time.Millisecond)
		if got, _ := w.take(b, 0, 1, l); got != 1 {
			t.Errorf("another process got %d, want the slot that was given back", got)
		}
	})
}

func TestWithoutADatabaseNothingIsGrantedForAWhile(t *testing.T) {
	t.Parallel()
	db := dbtest.Postgres(t)
	w := newWorld(t, db)
	p := w.process("a", 0)
	l := pace.Limit{Key: "lane", Max: 10, Per: time.Second}
	if n, err := p.Slots(t.Context(), "lane", 4, 5); n != 4 || err != nil {
		t.Fatalf("Slots = %d, %v; want 4", n, err)
	}
	for _, table := range []string{"pace_rate", "pace_slot", "pace_day"} {
		w.exec(fmt.Sprintf(`ALTER TABLE %s RENAME TO gone_%s`, table, table))
	}
	for range 3 {
		got, again, err := p.Acquire(t.Context(), 1, []pace.Limit{l})
		if got != 0 || err == nil || !again.Equal(w.at.Add(time.Second)) {
			t.Errorf("Acquire = %d, again in %v, %v; want nothing for a second, and the error", got, again.Sub(w.at), err)
		}
		if got, err := p.TakeDay(t.Context(), 1, []pace.Day{{Key: "lane", Day: "2026-11-21", Max: 10}}); got != 0 || err == nil {
			t.Errorf("TakeDay = %d, %v; want an error", got, err)
		}
	}
	if n, err := p.Slots(t.Context(), "lane", 3, 5); n != 3 || err == nil {
		t.Errorf("Slots = %d, %v; want 3 of the 4 that are leased, and the error", n, err)
	}
	w.pass(31 * time.Second)
	if n, err := p.Slots(t.Context(), "lane", 3, 5); n != 0 || err == nil {
		t.Errorf("Slots after the lease = %d, %v; want none, and the error", n, err)
	}
	for _, table := range []string{"pace_rate", "pace_slot", "pace_day"} {
		w.exec(fmt.Sprintf(`ALTER TABLE gone_%s RENAME TO %s`, table, table))
	}
	if got, _ := w.take(p, 0, 1, l); got != 1 {
		t.Errorf("Acquire when the database is back got %d, want 1", got)
	}
}

func BenchmarkTakeInMemory(b *testing.B) { benchmark(b, dbtest.SQLite(b)) }
func BenchmarkTakeShared(b *testing.B)   { benchmark(b, dbtest.Postgres(b)) }

func benchmark(b *testing.B, db *sqldb.DB) {
	p := pace.New(db, "a", time.Now)
	limits := []pace.Limit{{"lane", 1e9, time.Second}, {"lane", 1e10, time.Minute}, {"gmail", 1e10, time.Minute}}
	b.ReportAllocs()
	b.ResetTimer() // do not measure creating the database
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, _, err := p.Acquire(b.Context(), 1, limits); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func TestTightestIsTheLimitToWaitFor(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	p := pace.New(dbtest.SQLite(t), "node", func() time.Time { return now })
	limits := []pace.Limit{{"lane", 100, time.Second}, {"provider", 6, time.Minute}, {"send", 60, time.Minute}}
	if i := p.Tightest(limits); i != -1 {
		t.Errorf("before the first permit, limit %d is the tightest", i)
	}
	for _, want := range []int{1, 1} {
		if _, _, err := p.Acquire(t.Context(), 200, limits); err != nil {
			t.Fatal(err)
		}
		if i := p.Tightest(limits); i != want {
			t.Errorf("limit %d is waited for, want %d", i, want)
		}
		now = now.Add(2 * time.Second)
	}
	if i := p.Tightest(append(limits, pace.Limit{"closed", 0, time.Hour})); i != 3 {
		t.Errorf("limit %d is waited for, want that which lets nothing through", i)
	}
}
