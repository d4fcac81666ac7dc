package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/bench/page"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// small is how many recipients the send has that must not wait for a large one.
const small = 1000

// fair measures how much longer a small send takes while a large one is under
// way: of another tenant by a lane of its own, and of the same tenant by the same
// lane.
func fair(ctx context.Context, o options, database string) error {
	return served(ctx, o, database, func(p *harness.Program) error { return measureFair(ctx, o, p, database) })
}

func measureFair(ctx context.Context, o options, p *harness.Program, database string) error {
	ours, err := p.Ready(ctx)
	if err != nil {
		return err
	}
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
	if err := errors.Join(
		fill(ctx, p, map[string]fillList{"rival": {theirs.List, o.n}, harness.Tenant: {ours.List, small}}),
		fill(ctx, p, map[string]fillList{harness.Tenant: {own.List, o.n}})); err != nil {
		return err
	}
	sink, err := startSink(ctx, o.sink, "-discard", "-quiet")
	if err != nil {
		return err
	}
	defer sink.stop()
	lane, err := ours.Lane(ctx, "Ours", sink.address, o.connections, false)
	if err != nil {
		return err
	}
	their, err := theirs.Lane(ctx, "Theirs", sink.address, o.connections, false)
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
			return fmt.Errorf("the large send was over too soon (%v): take a larger -n", b["status"])
		}
		fmt.Printf("%-9s %10d beside %s %10d: %6.2f s alone, %6.2f s beside, ratio %.2f\n",
			database, small, rival.whose, o.n, alone.Seconds(), beside.Seconds(), beside.Seconds()/alone.Seconds())
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

type fillList struct {
	list string
	n    int
}

// fill puts contacts into lists, at a domain that is named after the list.
func fill(ctx context.Context, p *harness.Program, lists map[string]fillList) error {
	return inDatabase(ctx, p, func(db *sqldb.DB) (err error) {
		for slug, l := range lists {
			err = errors.Join(err, harness.SeedTenant(ctx, db, slug, l.list, l.n, strings.ReplaceAll(l.list, "_", "-")+".example.net"))
		}
		return err
	})
}

// timed sends a broadcast and returns how long it took from its schedule to its
// completion.
func timed(ctx context.Context, r *harness.Ready, lane string) (time.Duration, error) {
	id, err := r.Broadcast(ctx, lane, map[string]any{"subject": "News for {{ first_name }}", "body_html": page.HTML()})
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
	id, err := r.Broadcast(ctx, lane, map[string]any{"subject": "News for {{ first_name }}", "body_html": page.HTML()})
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
