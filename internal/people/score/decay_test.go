package score_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/score"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

const day = 24 * time.Hour

// decay runs Tick until a round ends.
func (w *world) decay(d *score.Decay) {
	for {
		more, err := d.Tick(w.t.Context())
		if err != nil {
			w.t.Error(err)
		}
		if !more || err != nil {
			return
		}
	}
}

func (w *world) newDecay() *score.Decay {
	now := w.now
	return &score.Decay{DB: w.db, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }}
}

func (w *world) give(who string, points int) {
	w.t.Helper()
	w.change(func(s *score.Settings) {
		s.Rules = []score.Rule{{ID: "given", Trigger: journal.CustomEvent, Match: score.Match{EventName: "given"}, Points: points}}
	})
	w.appendOne(journal.CustomEvent, who, "given", nil)
	w.drain()
}

func TestScoresDecayWithoutActivity(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := begin(t, db, "acme")
		w.give("prospect", 99)
		w.give("customer", 1)
		w.give("customer", 3)
		for _, step := range []struct {
			days               int
			prospect, customer float64
		}{
			{0, 99, 4},
			{29, 99, 4},
			{30, 79, 3}, // 79.2 and 3.2
			{30, 79, 3},
			{59, 79, 3},
			{60, 63, 2},
			{150, 32, 0}, // three periods at once: 50, 40, 32
		} {
			w.now = noon.Add(time.Duration(step.days) * day)
			w.decay(w.newDecay())
			w.want("prospect", step.prospect, 0)
			w.want("customer", 0, step.customer)
		}
	})
}

func TestActivityPreventsDecay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := begin(t, db, "acme")
		w.give("prospect", 100)
		w.engine.Followers = append(w.engine.Followers, contact.Follower())
		w.now = noon.Add(20 * day)
		w.appendOne(journal.EmailClicked, "prospect", "", human) // no rule gives points for it
		w.drain()
		w.now = noon.Add(49 * day)
		w.decay(w.newDecay())
		w.want("prospect", 100, 0)
		w.now = noon.Add(50 * day)
		w.decay(w.newDecay())
		w.want("prospect", 80, 0)
		w.change(func(s *score.Settings) { s.Decay.Percent = 0 })
		w.now = noon.Add(500 * day)
		w.decay(w.newDecay())
		w.want("prospect", 80, 0)
		w.change(func(s *score.Settings) { s.Decay.Percent, s.Enabled = 50, false })
		w.decay(w.newDecay())
		w.want("prospect", 80, 0)
	})
}

func TestConcurrentDecaysCountAPeriodOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := begin(t, db, "acme")
		const people = 1100 // more than two pages
		for i := range people {
			w.people[fmt.Sprint(i)] = w.people["prospect"]
			if i > 0 {
				w.add(fmt.Sprint(i), contact.Change{Stage: new(w.stages[contact.Prospect].String())})
			}
		}
		if _, err := db.Exec(t.Context(), `UPDATE contact SET prospect_score = 100 WHERE tenant_id = $1`, w.tenant); err != nil {
			t.Fatal(err)
		}
		w.now = noon.Add(30 * day)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { w.decay(w.newDecay()) })
		}
		all.Wait()
		for _, left := range []struct {
			score float64
			want  int
		}{{80, people + 5}, {100, 0}} {
			var n int
			if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM contact WHERE tenant_id = $1 AND prospect_score = $2`, w.tenant, left.score).Scan(&n); err != nil {
				t.Fatal(err)
			}
			if n != left.want {
				t.Errorf("%d contacts have a score of %v, want %d", n, left.score, left.want)
			}
		}
	})
}

func TestScoresAreWithinTheirBounds(t *testing.T) {
	t.Parallel()
	db := dbtest.One(t)
	w := begin(t, db, "acme")
	rapid.Check(t, func(rt *rapid.T) {
		if _, err := db.Exec(t.Context(), `UPDATE contact SET prospect_score = 0, customer_score = 0 WHERE tenant_id = $1`, w.tenant); err != nil {
			rt.Fatal(err)
		}
		low, high := rapid.IntRange(-50, 0).Draw(rt, "min"), rapid.IntRange(1, 50).Draw(rt, "max")
		w.change(func(s *score.Settings) {
			s.Min, s.Max, s.Rules = low, high, nil
			s.Decay.Percent = rapid.IntRange(0, 100).Draw(rt, "percent")
			for i := range rapid.IntRange(1, 3).Draw(rt, "rules") {
				s.Rules = append(s.Rules, score.Rule{
					ID: fmt.Sprintf("r%d-%d", i, rand.Int()), Trigger: journal.FormSubmitted,
					Points: rapid.IntRange(-60, 60).Draw(rt, "points"), DailyCap: rapid.IntRange(0, 2).Draw(rt, "cap"),
				})
			}
		})
		for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
			for range rapid.IntRange(1, 4).Draw(rt, "forms") {
				w.appendOne(journal.FormSubmitted, rapid.SampledFrom([]string{"prospect", "customer"}).Draw(rt, "who"), "f", nil)
			}
			w.drain()
			w.now = w.now.Add(time.Duration(rapid.IntRange(0, 70).Draw(rt, "days")) * day)
			w.decay(w.newDecay())
			for _, who := range []string{"prospect", "customer"} {
				c := w.get(who)
				for _, v := range []float64{c.ProspectScore, c.CustomerScore} {
					if v < float64(low) || v > float64(high) {
						rt.Fatalf("the score of %s is %v, bounds are %d and %d", who, v, low, high)
					}
				}
			}
		}
	})
}
