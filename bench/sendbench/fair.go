package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"packetboat/e2e/harness"
	"packetboat/internal/sqldb"
)

// small is how many recipients the send has that must not wait for a large one.
const small = 1000

// fair measures how much longer a small send takes while a large one is under
// way: of another tenant, and of the same tenant by the same lane.
func fair(ctx context.Context, o options, database string) (err error) {
	dir, err := os.MkdirTemp("", "packetboat-fair")
	if err != nil {
		return err
	}
	if !o.keep {
		defer os.RemoveAll(dir)
	}
	address, drop, err := databaseFor(ctx, o, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, drop()) }()
	// The rival is bootstrapped first; then the program starts again for the other.
	rival := &harness.Program{Path: o.program, Dir: dir, Database: address, Slug: "rival"}
	if err := rival.Start(ctx); err != nil {
		return err
	}
	large, err := rival.Ready(ctx)
	if err = errors.Join(err, rival.Stop()); err != nil {
		return err
	}
	p := &harness.Program{Path: o.program, Dir: dir, Database: address, BaseURL: rival.BaseURL, Admin: o.admin}
	if err := p.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	ours, err := p.Ready(ctx)
	if err != nil {
		return err
	}
	if err := fill(ctx, p, map[string]fillList{"rival": {large.List, o.n}, harness.Tenant: {ours.List, small}}); err != nil {
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
	theirs, err := large.Lane(ctx, "Theirs", sink.address, o.connections, false)
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
	id, err := begun(ctx, large, theirs)
	if err != nil {
		return err
	}
	beside, err := timed(ctx, ours, lane)
	if err != nil {
		return err
	}
	b, err := large.Key.Must(ctx, "GET", "/broadcasts/"+id, nil)
	if err != nil {
		return err
	}
	if b["status"] != "sending" {
		return fmt.Errorf("the large send was over too soon (%v): take a larger -n", b["status"])
	}
	fmt.Printf("%-9s %10d beside %10d: %6.2f s alone, %6.2f s beside another tenant's, ratio %.2f\n", database, small, o.n, alone.Seconds(), beside.Seconds(), beside.Seconds()/alone.Seconds())
	_, err = large.Key.Must(ctx, "POST", "/broadcasts/"+id+"/cancel", nil)
	return err
}

type fillList struct {
	list string
	n    int
}

// fill puts contacts into lists.
func fill(ctx context.Context, p *harness.Program, lists map[string]fillList) error {
	address := p.Database
	if address == "" {
		address = "sqlite:packetboat.db"
	}
	db, err := sqldb.Open(ctx, address, sqldb.Options{DataDir: p.Dir})
	if err != nil {
		return err
	}
	for slug, l := range lists {
		err = errors.Join(err, harness.SeedTenant(ctx, db, slug, l.list, l.n, "example.net"))
	}
	return errors.Join(err, db.Close())
}

// timed sends a broadcast and returns how long it took from its schedule to its
// completion.
func timed(ctx context.Context, r *harness.Ready, lane string) (time.Duration, error) {
	id, err := r.Broadcast(ctx, lane, map[string]any{"subject": "News for {{ first_name }}", "body_html": body()})
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

// begun starts a send and returns once some of it has left.
func begun(ctx context.Context, r *harness.Ready, lane string) (string, error) {
	id, err := r.Broadcast(ctx, lane, map[string]any{"subject": "News for {{ first_name }}", "body_html": body()})
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
