// Command reportsbench measures how long the reports of a large broadcast take, and a recount of all
// of its sums.
//
// It writes the messages, opens and clicks of one large send and of many small ones into a database
// of its own, lets a recount compute the sums, and then calls the functions that the API calls, so
// that the figures are without HTTP.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // makes the databases measured on

	benchsite "github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/view/recount"
	"github.com/packetboat/packetboat/internal/view/report"
)

type options struct {
	postgres, only                      string
	recipients, clicks, bounces, others int
	rounds                              int
}

func main() {
	var o options
	flag.StringVar(&o.postgres, "postgres", "", "address of a PostgreSQL server; without it only SQLite is measured")
	flag.StringVar(&o.only, "only", "", "run only this database: sqlite or postgres")
	flag.IntVar(&o.recipients, "recipients", 1_000_000, "recipients of the large send")
	flag.IntVar(&o.clicks, "clicks", 300_000, "its clicks, each by another recipient")
	flag.IntVar(&o.bounces, "bounces", 20_000, "its bounces")
	flag.IntVar(&o.others, "others", 100, "small sends, of 100 recipients each")
	flag.IntVar(&o.rounds, "rounds", 50, "how often each report is read")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "reportsbench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	fmt.Printf("\nreports of a send to %d recipients, with %d clicks and %d bounces; times in ms\n", o.recipients, o.clicks, o.bounces)
	fmt.Printf("%-9s %-28s %8s %8s\n", "database", "report", "median", "p99")
	return benchsite.OnEach(o.postgres, o.only, func(dialect string) error { return measure(ctx, o, dialect) })
}

func measure(ctx context.Context, o options, database string) (err error) {
	dir, err := os.MkdirTemp("", "packetboat-reports")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	address, drop := "sqlite:packetboat.db", func() error { return nil }
	if database == "postgres" {
		if address, drop, err = createDatabase(ctx, o.postgres); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, drop()) }()
	db, err := sqldb.Open(ctx, address, sqldb.Options{DataDir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.Migrate(ctx); err != nil {
		return err
	}
	f := filler{db: db, now: time.Now().UTC().Truncate(time.Second)}
	if err := f.fill(ctx, o); err != nil {
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
		for range o.rounds {
			began := time.Now()
			if err := r.read(); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		ms := func(p float64) float64 {
			return float64(took[min(int(p*float64(len(took))), len(took)-1)]) / float64(time.Millisecond)
		}
		fmt.Printf("%-9s %-28s %8.2f %8.2f\n", database, r.name, ms(.5), ms(.99))
	}
	fmt.Printf("%-9s %-28s %8.0f\n%-9s %-28s %8.0f\n", database, "recount, correcting all", corrected.Seconds()*1000, database, "recount --check", checked.Seconds()*1000)
	return nil
}

// createDatabase creates a database on a server and returns its address.
func createDatabase(ctx context.Context, server string) (address string, drop func() error, err error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	admin, err := sql.Open("pgx", server)
	if err != nil {
		return "", nil, err
	}
	name := fmt.Sprintf("reportsbench_%d", os.Getpid())
	if _, err := admin.ExecContext(ctx, `CREATE DATABASE `+name); err != nil {
		return "", nil, errors.Join(err, admin.Close())
	}
	u.Path = "/" + name
	return u.String(), func() error {
		_, err := admin.Exec(`DROP DATABASE IF EXISTS ` + name + ` WITH (FORCE)`)
		return errors.Join(err, admin.Close())
	}, nil
}

// filler writes sends, without the sums of engagement.
type filler struct {
	db     *sqldb.DB
	now    time.Time
	tenant id.Tenant
	large  id.Send
	small  []id.Send
}

func (f *filler) fill(ctx context.Context, o options) error {
	made, err := tenant.Create(ctx, f.db, "bench", "Bench", "UTC", f.now)
	if err != nil {
		return err
	}
	f.tenant = made.ID
	if f.large, err = f.send(ctx, o.recipients, o.clicks, o.bounces); err != nil {
		return err
	}
	for range o.others {
		send, err := f.send(ctx, 100, 30, 2)
		if err != nil {
			return err
		}
		f.small = append(f.small, send)
	}
	return nil
}
