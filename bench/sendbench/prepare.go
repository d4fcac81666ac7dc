package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/bench/meter"
	"github.com/packetboat/packetboat/bench/page"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// prepare measures how long it takes until the audience of a send is in the
// outbox, and how long reading requests take meanwhile: a page of contacts and a
// broadcast, one after the other. The contacts are in the index of the search
// before it begins, as those of an audience are that was not made just now.
func prepare(ctx context.Context, o options, database string) error {
	return served(ctx, o, database, func(p *harness.Program) error { return measureAudience(ctx, o, p, database) })
}

func measureAudience(ctx context.Context, o options, p *harness.Program, database string) error {
	ready, err := p.Ready(ctx)
	if err != nil {
		return err
	}
	if err := fill(ctx, p, map[string]fillList{harness.Tenant: {ready.List, o.n}}); err != nil {
		return err
	}
	// There is no listener: only the preparation is measured.
	lane, err := ready.Lane(ctx, "Nowhere", "127.0.0.1:9", 1, false)
	if err != nil {
		return err
	}
	id, err := ready.Broadcast(ctx, lane, map[string]any{"subject": "News for {{ first_name }}", "body_html": page.HTML()})
	if err != nil {
		return err
	}
	if err := indexed(ctx, p); err != nil {
		return err
	}
	before, err := p.Usage()
	if err != nil {
		return err
	}
	server, err := meter.Server(ctx, p.Database)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := ready.Schedule(ctx, id); err != nil {
		return err
	}
	var reads []time.Duration
	phase := ""
	for phase == "" || phase == "preparing" {
		at := time.Now()
		b, err := ready.Key.Must(ctx, "GET", "/broadcasts/"+id, nil)
		if err != nil {
			return err
		}
		reads = append(reads, time.Since(at))
		view, _ := b["view_model"].(map[string]any)
		progress, _ := view["delivery_progress"].(map[string]any)
		phase, _ = progress["phase"].(string)
		at = time.Now()
		if _, err := ready.Key.Must(ctx, "GET", "/contacts?limit=50", nil); err != nil {
			return err
		}
		reads = append(reads, time.Since(at))
		if time.Since(began) > 10*time.Minute {
			return errors.New("the audience is not in the outbox after ten minutes")
		}
		time.Sleep(10 * time.Millisecond)
	}
	took := time.Since(began)
	usage, err := p.Usage()
	if err != nil {
		return err
	}
	served, err := meter.Server(ctx, p.Database)
	if err != nil {
		return err
	}
	slices.Sort(reads)
	fmt.Printf("%-9s %9d recipients in %6.1f s; %d reads meanwhile: p50 %3d ms, p95 %3d ms, max %4d ms; %.1f CPU µs each, %.1f of the server; peak %d MB\n", database, o.n, took.Seconds(),
		len(reads), reads[len(reads)/2].Milliseconds(), reads[len(reads)*95/100].Milliseconds(), reads[len(reads)-1].Milliseconds(),
		float64((usage.CPU-before.CPU).Microseconds())/float64(o.n), float64((served-server).Microseconds())/float64(o.n), usage.PeakMemory>>20)
	return nil
}

// indexed waits until no more contacts wait for the index of the search than it
// leaves waiting.
func indexed(ctx context.Context, p *harness.Program) (err error) {
	db, err := sqldb.Open(ctx, cmp.Or(p.Database, "sqlite:packetboat.db"), sqldb.Options{DataDir: p.Dir, MaxConns: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		var waiting int
		if err := db.QueryRow(ctx, `
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
