package ratelimit_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func take(t *testing.T, l *ratelimit.Limiter, r ratelimit.Rule, key string, now time.Time) ratelimit.State {
	t.Helper()
	s, err := l.Acquire(t.Context(), r, key, now)
	if err != nil {
		t.Fatalf("Acquire: %v", err)
	}
	return s
}

func TestAWindowIsExactAndStartsAtItsFirstTake(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for _, most := range []int{3, 250} {
			l := ratelimit.New(db)
			r := ratelimit.Rule{Name: fmt.Sprint("api", most), Max: most, Window: time.Minute}
			for i := range most {
				at := noon.Add(time.Duration(i) * 50 * time.Millisecond)
				got := take(t, l, r, "k", at)
				want := ratelimit.State{Allowed: true, Limit: most, Remaining: most - i - 1, Reset: noon.Add(time.Minute).Sub(at)}
				if got != want {
					t.Fatalf("take %d of %d = %+v, want %+v", i+1, most, got, want)
				}
			}
			for range 3 { // what is refused takes nothing
				got := take(t, l, r, "k", noon.Add(37*time.Second))
				if want := (ratelimit.State{Limit: most, Reset: 23 * time.Second}); got != want {
					t.Fatalf("one take too many = %+v, want %+v", got, want)
				}
			}
			if got := take(t, l, r, "other", noon); !got.Allowed || got.Remaining != most-1 {
				t.Errorf("another key's first take = %+v, want its own window", got)
			}
			if got := take(t, l, r, "k", noon.Add(time.Minute)); !got.Allowed || got.Remaining != most-1 || got.Reset != time.Minute {
				t.Errorf("take after the window = %+v, want a new window", got)
			}
		}
	})
}

func TestALookTakesNothingAndAGivenBackPermitIsThere(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		l := ratelimit.New(db)
		r := ratelimit.Rule{Name: "login", Max: 2, Window: time.Minute}
		look := func(at time.Time) ratelimit.State {
			t.Helper()
			s, err := l.Peek(t.Context(), r, "k", at)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		if got, want := look(noon), (ratelimit.State{Allowed: true, Limit: 2, Remaining: 2, Reset: time.Minute}); got != want {
			t.Errorf("look before = %+v, want %+v", got, want)
		}
		take(t, l, r, "k", noon)
		take(t, l, r, "k", noon)
		if got := look(noon.Add(2 * time.Second)); got.Allowed || got.Remaining != 0 {
			t.Errorf("look at a full window = %+v, want nothing left", got)
		}
		if err := l.GiveBack(t.Context(), r, "k", noon.Add(3*time.Second)); err != nil {
			t.Fatal(err)
		}
		if got := take(t, l, r, "k", noon.Add(4*time.Second)); !got.Allowed {
			t.Errorf("take after a permit came back = %+v, want allowed", got)
		}
		take(t, l, r, "other", noon)
		if err := l.Clear(t.Context(), r, "k", noon.Add(5*time.Second)); err != nil {
			t.Fatal(err)
		}
		elsewhere := ratelimit.New(db)
		if got := take(t, elsewhere, r, "k", noon.Add(6*time.Second)); !got.Allowed || db.Dialect() == sqldb.Postgres && got.Remaining != 1 {
			t.Errorf("take after the window was cleared = %+v, want a new window", got)
		}
		if got := take(t, l, r, "other", noon); got.Remaining != 0 {
			t.Errorf("another key's window after that = %+v, want it as it was", got)
		}
		if err := l.Sweep(t.Context(), noon.Add(time.Hour)); err != nil {
			t.Errorf("Sweep: %v", err)
		}
	})
}

func TestProcessesOnOneDatabaseShareALimit(t *testing.T) {
	t.Parallel()
	db := dbtest.Postgres(t)
	for _, most := range []int{7, 300} {
		r := ratelimit.Rule{Name: fmt.Sprint("shared", most), Max: most, Window: time.Minute}
		var allowed atomic.Int64
		var wg sync.WaitGroup
		for range 4 { // four processes, two callers in each
			l := ratelimit.New(db)
			for range 2 {
				wg.Go(func() {
					for range most/4 + 5 {
						s, err := l.Acquire(t.Context(), r, "k", noon)
						if err != nil {
							t.Error(err)
							return
						}
						if s.Allowed {
							allowed.Add(1)
						}
					}
				})
			}
		}
		wg.Wait()
		// Some permits may lie unused with a process, never more than it takes at once.
		if got := int(allowed.Load()); got > most || got < most-3*20 || most < 100 && got != most {
			t.Errorf("%d takes were allowed by four processes, want at most and about %d", got, most)
		}
	}
}

func BenchmarkTakeInMemory(b *testing.B) {
	l := ratelimit.New(nil)
	r := ratelimit.Rule{Name: "api", Max: 1 << 40, Window: time.Minute}
	for b.Loop() {
		if _, err := l.Acquire(b.Context(), r, "k", noon); err != nil {
			b.Fatal(err)
		}
	}
}
