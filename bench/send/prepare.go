package send

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/bench/site"
)

// Prepare measures how long it takes until the audience of a send is in the
// outbox, and how long reading requests take meanwhile: a page of contacts and a
// broadcast, one after the other. The contacts are in the index of the search
// before it begins, as those of an audience are that was not made just now.
type Prepare struct {
	N int `env:"N" default:"100000" help:"Recipients of the send."`
}

// Run prints a row for each database.
func (c *Prepare) Run(ctx context.Context, t *site.Target) error {
	return t.OnEach(func(dialect string) (err error) {
		s, err := t.Open(ctx, dialect, site.Options{Contacts: c.N})
		if err != nil {
			return err
		}
		return errors.Join(c.measure(ctx, s), s.Close())
	})
}

func (c *Prepare) measure(ctx context.Context, s *site.Site) error {
	ready := s.Account
	// There is no listener: only the preparation is measured.
	lane, err := ready.Lane(ctx, "Nowhere", "127.0.0.1:9", 1, false)
	if err != nil {
		return err
	}
	id, err := ready.Broadcast(ctx, lane, site.Mail())
	if err != nil {
		return err
	}
	if err := indexed(ctx, s); err != nil {
		return err
	}
	var reads []time.Duration
	cost, err := s.During(ctx, func() error {
		if err := ready.Schedule(ctx, id); err != nil {
			return err
		}
		began := time.Now()
		for phase := ""; phase == "" || phase == "preparing"; time.Sleep(10 * time.Millisecond) {
			at := time.Now()
			b, err := ready.Key.Must(ctx, "GET", "/broadcasts/"+id, nil)
			if err != nil {
				return err
			}
			between := time.Now()
			view, _ := b["view_model"].(map[string]any)
			progress, _ := view["delivery_progress"].(map[string]any)
			phase, _ = progress["phase"].(string)
			if _, err := ready.Key.Must(ctx, "GET", "/contacts?limit=50", nil); err != nil {
				return err
			}
			reads = append(reads, between.Sub(at), time.Since(between))
			if time.Since(began) > 10*time.Minute {
				return errors.New("the audience is not in the outbox after ten minutes")
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(reads)
	fmt.Printf("%-9s %9d recipients in %6.1f s; %d reads meanwhile: p50 %3d ms, p95 %3d ms, max %4d ms; %.1f CPU µs each, %.1f of the server; peak %d MB\n", s.Dialect, c.N, cost.Took.Seconds(),
		len(reads), reads[len(reads)/2].Milliseconds(), reads[len(reads)*95/100].Milliseconds(), reads[len(reads)-1].Milliseconds(),
		float64(cost.CPU.Microseconds())/float64(c.N), float64(cost.Server.Microseconds())/float64(c.N), cost.Peak>>20)
	return nil
}

// indexed waits until no more contacts wait for the index of the search than it
// leaves waiting.
func indexed(ctx context.Context, s *site.Site) (err error) {
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		var waiting int
		if err := s.DB.QueryRow(ctx, `
			SELECT (SELECT COUNT(*) FROM contact_search_queue) + (SELECT CAST(COALESCE(SUM(contacts), 0) AS BIGINT) FROM contact_search_range) /* all tenants: there is one */`).Scan(&waiting); err != nil {
			return err
		}
		if waiting < 10_000 {
			return nil
		}
		if time.Since(began) > 10*time.Minute {
			return errors.New("the contacts are not in the index of the search after ten minutes")
		}
	}
}
