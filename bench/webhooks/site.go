package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // makes the databases measured on

	"github.com/packetboat/packetboat/bench/meter"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// contacts is how many contacts have the events.
const contacts = 2000

// site is a running program with contacts and webhook endpoints.
type site struct {
	*harness.Program
	dialect  string
	db       *sqldb.DB
	receiver *receiver
	tenant   id.Tenant
	contacts []id.Contact
	drop     func() error
}

// measure makes one measurement and prints its row.
func measure(ctx context.Context, o options, dialect string, endpoints int) (err error) {
	s, err := open(ctx, o, dialect, endpoints)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	size, err := s.size(ctx)
	if err != nil {
		return err
	}
	before, err := s.Usage()
	if err != nil {
		return err
	}
	server, err := meter.Server(ctx, s.Database)
	if err != nil {
		return err
	}
	profiled := s.profile(o, fmt.Sprintf("%s-%d", dialect, endpoints))
	began := time.Now()
	if err := s.appendEvents(ctx, o.deliveries/endpoints); err != nil {
		return err
	}
	if err := s.await(ctx, o); err != nil {
		return err
	}
	spent := time.Since(began)
	if err := profiled(); err != nil {
		return err
	}
	after, err := s.Usage()
	if err != nil {
		return err
	}
	served, err := meter.Server(ctx, s.Database)
	if err != nil {
		return err
	}
	grown, err := s.size(ctx)
	if err != nil {
		return err
	}
	n := float64(o.deliveries)
	fmt.Printf("%-9s %9d | %12.0f %8d %9.1f %9.1f %8.0f %8d %9d\n", dialect, endpoints, n/spent.Seconds(), 3000,
		(after.CPU-before.CPU).Seconds()*1e6/n, (served-server).Seconds()*1e6/n, float64(grown-size)/n, after.PeakMemory>>20,
		int(s.receiver.requests.Load())-s.receiver.distinct())
	return nil
}

// appendEvents appends events to the journal, with properties of about 100 bytes.
func (s *site) appendEvents(ctx context.Context, n int) error {
	for done := 0; done < n; {
		var list []journal.Entry
		for ; done < n && len(list) < 1000; done++ {
			list = append(list, journal.Entry{
				Tenant: s.tenant, Type: journal.CustomEvent, Name: "order_placed", Contact: s.contacts[done%len(s.contacts)], At: time.Now(),
				Data: journal.Event{Type: "order_placed", Properties: map[string]any{"order_id": fmt.Sprint("A-", done), "value": 19.5, "currency": "EUR", "items": []any{map[string]any{"sku": "mug", "quantity": 2}}}},
			})
		}
		if err := journal.Append(ctx, s.db, list...); err != nil {
			return err
		}
	}
	return nil
}

// await waits until all deliveries have arrived and are stored.
func (s *site) await(ctx context.Context, o options) error {
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	for {
		if s.receiver.distinct() >= o.deliveries {
			var left bool
			err := s.db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM webhook_delivery WHERE due_at IS NOT NULL) /* all tenants: there is one */`).Scan(&left)
			if err != nil || !left {
				return err
			}
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%d of %d deliveries have arrived: %w", s.receiver.distinct(), o.deliveries, ctx.Err())
		}
	}
}

func open(ctx context.Context, o options, dialect string, endpoints int) (s *site, err error) {
	s = &site{dialect: dialect, drop: func() error { return nil }}
	dir, err := os.MkdirTemp("", "packetboat-webhooks")
	if err != nil {
		return nil, err
	}
	s.Program = &harness.Program{Path: o.program, Dir: dir, Admin: o.admin, Env: []string{
		"PACKETBOAT_DNS_RESOLVER=127.0.0.1:9", // no DNS is asked about the contacts
		"PACKETBOAT_ALLOW_PRIVATE_WEBHOOKS=true",
	}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if dialect == "postgres" {
		if err := s.postgres(ctx, o); err != nil {
			return s, err
		}
	}
	if s.receiver, err = listen(o.pause); err != nil {
		return s, err
	}
	if err := s.Start(ctx); err != nil {
		return s, err
	}
	ready, err := s.Ready(ctx)
	if err != nil {
		return s, err
	}
	address := s.Database
	if address == "" {
		address = "sqlite:packetboat.db"
	}
	if s.db, err = sqldb.Open(ctx, address, sqldb.Options{DataDir: dir, MaxConns: 2}); err != nil {
		return s, err
	}
	if err := harness.Seed(ctx, s.db, ready.List, contacts, "example.net"); err != nil {
		return s, err
	}
	for range endpoints {
		_, err := ready.Owner.Must(ctx, http.MethodPost, "/settings/webhooks", map[string]any{"url": "http://" + s.receiver.Addr().String() + "/", "event_types": []string{"event.recorded"}})
		if err != nil {
			return s, err
		}
	}
	rows, err := s.db.Query(ctx, `SELECT tenant_id, id FROM contact ORDER BY id /* all tenants: there is one */`)
	return s, sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		err := scan(&s.tenant, &c)
		s.contacts = append(s.contacts, c)
		return err
	})
}

func (s *site) close() error {
	err := s.Stop()
	if s.db != nil {
		err = errors.Join(err, s.db.Close())
	}
	if s.receiver != nil {
		err = errors.Join(err, s.receiver.Close())
	}
	return errors.Join(err, s.drop(), os.RemoveAll(s.Dir))
}

// postgres makes a database for the site.
func (s *site) postgres(ctx context.Context, o options) error {
	u, err := url.Parse(o.postgres)
	if err != nil {
		return err
	}
	admin, err := sql.Open("pgx", o.postgres)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("webhooksbench_%d", os.Getpid())
	if _, err := admin.ExecContext(ctx, `CREATE DATABASE `+name); err != nil {
		return errors.Join(err, admin.Close())
	}
	u.Path = "/" + name
	s.Database = u.String()
	s.drop = func() error {
		_, err := admin.Exec(`DROP DATABASE IF EXISTS ` + name + ` WITH (FORCE)`)
		return errors.Join(err, admin.Close())
	}
	return nil
}

// size returns the bytes of the deliveries with their indexes; on SQLite those of the database.
func (s *site) size(ctx context.Context) (n int64, err error) {
	text := `SELECT pg_total_relation_size('webhook_delivery')`
	if s.dialect == "sqlite" {
		text = `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`
	}
	err = s.db.QueryRow(ctx, text).Scan(&n)
	return n, err
}

// profile takes a processor profile of the program for ten seconds, if profiles are wanted, and
// returns what waits for its end.
func (s *site) profile(o options, name string) (wait func() error) {
	if o.profiles == "" || o.admin == "" {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() { done <- takeProfile(o, name) }()
	return func() error { return <-done }
}

func takeProfile(o options, name string) error {
	res, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=10", o.admin))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := os.MkdirAll(o.profiles, 0o700); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(o.profiles, name+".pprof"))
	if err != nil {
		return err
	}
	_, err = io.Copy(f, res.Body)
	return errors.Join(err, f.Close())
}
