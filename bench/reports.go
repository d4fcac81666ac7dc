package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/packetboat/packetboat/bench/press"
	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/view/recount"
	"github.com/packetboat/packetboat/internal/view/report"
)

// reports measures how long the reports of a large broadcast take, and a recount of all of its sums.
//
// It writes the messages, opens and clicks of one large send and of many small ones into a database of its own,
// lets a recount compute the sums, and then calls the functions that the API calls, so that the figures are without
// HTTP.
type reports struct {
	Recipients int `env:"RECIPIENTS" default:"1000000" help:"Recipients of the large send."`
	Clicks     int `default:"300000" help:"Its clicks, each by another recipient; at most its recipients."`
	Bounces    int `default:"20000" help:"Its bounces."`
	Others     int `default:"100" help:"Small sends, of 100 recipients each."`
	Rounds     int `default:"50" help:"How often each report is read."`
}

// Run prints a row for each report.
func (c *reports) Run(ctx context.Context, t *site.Target) error {
	fmt.Printf("\nreports of a send to %d recipients, with %d clicks and %d bounces; times in ms\n", c.Recipients, c.Clicks, c.Bounces)
	fmt.Printf("%-9s %-28s %8s %8s\n", "database", "report", "median", "p99")
	return t.OnEach(func(dialect string) (err error) {
		dir, err := os.MkdirTemp("", "packetboat-reports")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		address := "sqlite:packetboat.db"
		if dialect == "postgres" {
			var drop func() error
			if address, drop, err = site.NewDatabase(ctx, t.Postgres); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, drop()) }()
		}
		db, err := sqldb.Open(ctx, address, sqldb.Options{DataDir: dir})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		if _, err := db.Migrate(ctx); err != nil {
			return err
		}
		return c.measure(ctx, db, dialect)
	})
}

func (c *reports) measure(ctx context.Context, db *sqldb.DB, dialect string) error {
	f := filler{db: db, now: time.Now().UTC().Truncate(time.Second)}
	if err := f.fill(ctx, c); err != nil {
		return err
	}
	counter := recount.Recount{DB: db, Repair: true, Now: time.Now}
	began := time.Now()
	if _, err := counter.Run(ctx, []id.Tenant{f.tenant}); err != nil {
		return err
	}
	corrected := time.Since(began)
	counter.Repair, began = false, time.Now()
	left, err := counter.Run(ctx, []id.Tenant{f.tenant})
	if err != nil {
		return err
	}
	checked := time.Since(began)
	if left.Differences > 0 {
		return fmt.Errorf("%d sums differ after a recount", left.Differences)
	}
	summaries := report.Summaries{DB: db, Limits: ratelimit.New(nil), Now: time.Now}
	today := spread.DayOf(f.now, time.UTC)
	for _, r := range []struct {
		name string
		read func() error
	}{
		{"report", func() error { _, err := report.Of(ctx, db, f.tenant, f.large); return err }},
		{"links", func() error { _, err := report.Links(ctx, db, f.tenant, f.large); return err }},
		{"metrics-bulk, computed", func() error {
			if _, err := db.Exec(ctx, `DELETE FROM report_cache WHERE tenant_id = $1`, f.tenant); err != nil {
				return err
			}
			_, err := summaries.Of(ctx, f.tenant, f.small, false)
			return err
		}},
		{"metrics-bulk, cached", func() error { _, err := summaries.Of(ctx, f.tenant, f.small, false); return err }},
		{"engagement", func() error { _, err := report.Engagement(ctx, db, f.tenant, f.large); return err }},
		{"timing", func() error { _, err := report.Times(ctx, db, f.tenant, f.large, time.UTC, false); return err }},
		{"bounces", func() error {
			_, _, err := outbox.ListBounces(ctx, db, f.tenant, f.large, nil, 200)
			for _, by := range []outbox.BounceAttribute{outbox.BounceClass, outbox.BounceDomain, outbox.BounceCode} {
				if err == nil {
					_, err = outbox.BounceCounts(ctx, db, f.tenant, f.large, by, 50)
				}
			}
			return err
		}},
		{"overview of 30 days", func() error {
			_, err := report.LoadOverview(ctx, db, f.tenant, today.Add(-29), today, time.UTC, id.EmailType{})
			return err
		}},
	} {
		var took []time.Duration
		for range c.Rounds {
			began := time.Now()
			if err := r.read(); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		of := press.Result{Took: took}
		fmt.Printf("%-9s %-28s %8.2f %8.2f\n", dialect, r.name, ms(of.At(.5)), ms(of.At(.99)))
	}
	fmt.Printf("%-9s %-28s %8.0f\n%-9s %-28s %8.0f\n", dialect, "recount, correcting all", corrected.Seconds()*1000, dialect, "recount --check", checked.Seconds()*1000)
	return nil
}

// filler writes sends, without the sums of engagement.
type filler struct {
	db     *sqldb.DB
	now    time.Time
	tenant id.Tenant
	large  id.Send
	small  []id.Send
}

func (f *filler) fill(ctx context.Context, c *reports) error {
	made, err := tenant.Create(ctx, f.db, "bench", "Bench", "UTC", f.now)
	if err != nil {
		return err
	}
	f.tenant = made.ID
	if f.large, err = f.send(ctx, c.Recipients, c.Clicks, c.Bounces); err != nil {
		return err
	}
	for range c.Others {
		send, err := f.send(ctx, 100, 30, 2)
		if err != nil {
			return err
		}
		f.small = append(f.small, send)
	}
	return nil
}
