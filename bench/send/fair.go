package send

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/e2e/harness"
)

// small is how many recipients the send has that must not wait for a large one.
const small = 1000

// Fair measures how much longer a small send takes while a large one is under
// way: of another tenant by a lane of its own, and of the same tenant by the same
// lane.
type Fair struct {
	N           int `env:"N" default:"100000" help:"Recipients of the large send."`
	Connections int `default:"64" help:"SMTP connections of each lane."`
}

// Run prints two rows for each database.
func (c *Fair) Run(ctx context.Context, t *site.Target) error {
	return t.OnEach(func(dialect string) (err error) {
		s, err := t.Open(ctx, dialect, site.Options{})
		if err != nil {
			return err
		}
		return errors.Join(c.measure(ctx, t, s), s.Close())
	})
}

func (c *Fair) measure(ctx context.Context, t *site.Target, s *site.Site) error {
	p, ours := s.Program, s.Account
	theirs, err := anotherTenant(ctx, p, "rival")
	if err != nil {
		return err
	}
	crowd, err := ours.Key.Must(ctx, "POST", "/segments", map[string]any{"name": "Crowd", "type": "static"})
	if err != nil {
		return err
	}
	own := *ours
	own.List = crowd["segment_key"].(string)
	for _, f := range []struct {
		slug, list string
		n          int
	}{{"rival", theirs.List, c.N}, {harness.Tenant, ours.List, small}, {harness.Tenant, own.List, c.N}} {
		if err := harness.SeedTenant(ctx, s.DB, f.slug, f.list, f.n, strings.ReplaceAll(f.list, "_", "-")+".example.net"); err != nil {
			return err
		}
	}
	sink, err := t.StartSink(ctx)
	if err != nil {
		return err
	}
	defer sink.Stop()
	lane, err := ours.Lane(ctx, "Ours", sink.Address, c.Connections, false)
	if err != nil {
		return err
	}
	their, err := theirs.Lane(ctx, "Theirs", sink.Address, c.Connections, false)
	if err != nil {
		return err
	}
	if _, err := timed(ctx, ours, lane); err != nil { // the first warms up
		return err
	}
	alone, err := timed(ctx, ours, lane)
	if err != nil {
		return err
	}
	for _, rival := range []struct {
		whose string
		ready *harness.Ready
		lane  string
	}{{"another tenant's", theirs, their}, {"its own tenant's", &own, lane}} {
		id, err := startSend(ctx, rival.ready, rival.lane)
		if err != nil {
			return err
		}
		beside, err := timed(ctx, ours, lane)
		if err != nil {
			return err
		}
		b, err := rival.ready.Key.Must(ctx, "GET", "/broadcasts/"+id, nil)
		if err != nil {
			return err
		}
		if b["status"] != "sending" {
			return fmt.Errorf("the large send was over too soon (%v): take a larger N", b["status"])
		}
		fmt.Printf("%-9s %10d beside %s %10d: %6.2f s alone, %6.2f s beside, ratio %.2f\n",
			s.Dialect, small, rival.whose, c.N, alone.Seconds(), beside.Seconds(), beside.Seconds()/alone.Seconds())
		if _, err := rival.ready.Key.Must(ctx, "POST", "/broadcasts/"+id+"/cancel", nil); err != nil {
			return err
		}
		if _, err := rival.ready.Await(ctx, id, "cancelled"); err != nil {
			return err
		}
	}
	return nil
}

// anotherTenant makes a second tenant, for which the program starts twice: it
// bootstraps one at a time.
func anotherTenant(ctx context.Context, p *harness.Program, slug string) (ready *harness.Ready, err error) {
	other := &harness.Program{Path: p.Path, Dir: p.Dir, Database: p.Database, BaseURL: p.BaseURL, Slug: slug}
	if err := errors.Join(p.Stop(), other.Start(ctx)); err != nil {
		return nil, err
	}
	ready, err = other.Ready(ctx)
	return ready, errors.Join(err, other.Stop(), p.Start(ctx))
}

// timed sends a broadcast and returns how long it took from its schedule to its
// completion.
func timed(ctx context.Context, r *harness.Ready, lane string) (time.Duration, error) {
	id, err := r.Broadcast(ctx, lane, site.Mail())
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := r.Schedule(ctx, id); err != nil {
		return 0, err
	}
	waiting, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	_, err = r.Await(waiting, id, "completed")
	return time.Since(began), err
}

// startSend starts a send and returns after its first messages were sent.
func startSend(ctx context.Context, r *harness.Ready, lane string) (string, error) {
	id, err := r.Broadcast(ctx, lane, site.Mail())
	if err != nil {
		return "", err
	}
	if err := r.Schedule(ctx, id); err != nil {
		return "", err
	}
	for {
		b, err := r.Key.Must(ctx, "GET", "/broadcasts/"+id, nil)
		if err != nil {
			return "", err
		}
		if sent, _ := b["sent"].(float64); sent > 1000 {
			return id, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
