package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // makes the databases measured on

	"github.com/packetboat/packetboat/bench/meter"
	"github.com/packetboat/packetboat/bench/press"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// site is a running program with contacts.
type site struct {
	*harness.Program
	dialect string
	db      *sqldb.DB
	account press.Account
	ids     []string
	emails  []string
	drop    func() error
}

// requests is one kind of request, with a number of events each.
type requests struct {
	load   press.Load
	events int
}

// measure measures all kinds of requests on one database, and prints a row for each.
func measure(ctx context.Context, o options, dialect string) (err error) {
	s, err := open(ctx, o, dialect)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	fmt.Printf("\n%-9s %-16s %9s %8s %8s %8s %9s %9s %9s %8s %8s\n",
		dialect, "requests", "events/s", "target", "p50 ms", "p99 ms", "CPU µs", "server µs", "lag s", "bytes", "peak MB")
	for _, r := range s.kinds() {
		if o.wanted(r.load.Name) {
			if err := s.measure(ctx, o, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure measures one kind of request. The lag is how long after the last answer the followers of
// the journal have processed all events; their processor time is included.
func (s *site) measure(ctx context.Context, o options, r requests) error {
	events, size, err := s.journal(ctx)
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
	pace := press.Pace{Conns: o.conns, Warm: o.span / 5, Span: o.span}
	profiled := s.profile(o, r.load.Name)
	got, err := press.Press(ctx, s.account.Address, pace, r.load, "")
	if err := errors.Join(err, profiled()); err != nil {
		return err
	}
	ended := time.Now()
	if err := harness.Followed(ctx, s.db, "score"); err != nil {
		return err
	}
	lag := time.Since(ended)
	after, err := s.Usage()
	if err != nil {
		return err
	}
	served, err := meter.Server(ctx, s.Database)
	if err != nil {
		return err
	}
	all, grown, err := s.journal(ctx)
	if err != nil {
		return err
	}
	n := float64(max(all-events, 1))
	fmt.Printf("%-9s %-16s %9.0f %8.0f %8.2f %8.2f %9.1f %9.1f %9.1f %8.0f %8d\n", s.dialect, r.load.Name, got.Rate*float64(r.events), r.load.Target,
		ms(got.At(.5)), ms(got.At(.99)), (after.CPU-before.CPU).Seconds()*1e6/n, (served-server).Seconds()*1e6/n, lag.Seconds(), float64(grown-size)/n, after.PeakMemory>>20)
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// kinds returns the requests that are measured. The properties are those of an order, of about 100
// bytes.
func (s *site) kinds() []requests {
	property := func(r *rand.Rand, b []byte) []byte {
		b = append(b, `"properties":{"order_id":"A-`...)
		b = strconv.AppendInt(b, r.Int64N(1e9), 10)
		b = append(b, `","value":`...)
		b = strconv.AppendInt(b, r.Int64N(500), 10)
		return append(b, `.5,"currency":"EUR","items":[{"sku":"mug","quantity":2}]}`...)
	}
	event := func(r *rand.Rand, b []byte, by, who, more string) []byte {
		b = append(b, `{"event_name":"order_placed","`+by+`":"`+who+`",`+more...)
		return append(property(r, b), '}')
	}
	random := func(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }
	single := func(name string, target float64, next func(r *rand.Rand, b []byte) []byte) requests {
		return requests{press.Load{Name: name, Target: target, Next: func(r *rand.Rand, b []byte) []byte {
			return s.account.Request(b, "POST", "/events", next(r, nil))
		}}, 1}
	}
	batch := func(n int, target float64) requests {
		return requests{press.Load{Name: fmt.Sprintf("batches of %d", n), Target: target, Next: func(r *rand.Rand, b []byte) []byte {
			body := []byte(`{"events":[`)
			for i := range n {
				if i > 0 {
					body = append(body, ',')
				}
				body = event(r, body, "contact_id", random(r, s.ids), "")
			}
			return s.account.Request(b, "POST", "/events/batch", append(body, "]}"...))
		}}, n}
	}
	return []requests{
		single("by id", 5000, func(r *rand.Rand, b []byte) []byte { return event(r, b, "contact_id", random(r, s.ids), "") }),
		single("by address", 5000, func(r *rand.Rand, b []byte) []byte { return event(r, b, "contact_email", random(r, s.emails), "") }),
		single("typed", 0, func(r *rand.Rand, b []byte) []byte {
			return event(r, b, "contact_id", random(r, s.ids), `"type":"order_placed",`)
		}),
		single("with a key", 0, func(r *rand.Rand, b []byte) []byte {
			return event(r, b, "contact_id", random(r, s.ids), `"idempotency_key":"`+strconv.FormatUint(r.Uint64(), 36)+`",`)
		}),
		batch(100, 30000),
		batch(500, 30000),
	}
}

func open(ctx context.Context, o options, dialect string) (s *site, err error) {
	s = &site{dialect: dialect, drop: func() error { return nil }}
	dir, err := os.MkdirTemp("", "packetboat-events")
	if err != nil {
		return nil, err
	}
	s.Program = &harness.Program{Path: o.program, Dir: dir, Admin: o.admin, Env: []string{
		"PACKETBOAT_DNS_RESOLVER=127.0.0.1:9", // no DNS is asked about the contacts
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
	if err := harness.Seed(ctx, s.db, ready.List, o.contacts, "example.net"); err != nil {
		return s, err
	}
	s.account = press.Account{Address: strings.TrimPrefix(s.BaseURL, "http://"), Prefix: "/t/" + harness.Tenant + "/api", Key: s.Key}
	rows, err := s.db.Query(ctx, `SELECT id, email FROM contact ORDER BY id /* all tenants: there is one */`)
	return s, sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var email string
		err := scan(&c, &email)
		s.ids, s.emails = append(s.ids, c.String()), append(s.emails, email)
		return err
	})
}

func (s *site) close() error {
	err := s.Stop()
	if s.db != nil {
		err = errors.Join(err, s.db.Close())
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
	name := fmt.Sprintf("eventsbench_%d", os.Getpid())
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

// journal returns the number of custom events, and the size in bytes of the journal with its
// indexes; on SQLite that of the database.
func (s *site) journal(ctx context.Context) (events, size int64, err error) {
	if err := s.db.QueryRow(ctx, `SELECT COUNT(*) FROM journal WHERE type = 'event' /* all tenants: there is one */`).Scan(&events); err != nil {
		return 0, 0, err
	}
	text := `SELECT pg_total_relation_size('journal')`
	if s.dialect == "sqlite" {
		text = `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`
	}
	err = s.db.QueryRow(ctx, text).Scan(&size)
	return events, size, err
}

// profile takes a processor profile of the program, if profiles are wanted, and returns what waits
// for its end.
func (s *site) profile(o options, name string) (wait func() error) {
	if o.profiles == "" || o.admin == "" {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() {
		time.Sleep(o.span / 5)
		done <- takeProfile(o, s.dialect+" "+name)
	}()
	return func() error { return <-done }
}

func takeProfile(o options, name string) error {
	res, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", o.admin, max(int(o.span.Seconds()), 1)))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := os.MkdirAll(o.profiles, 0o700); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(o.profiles, strings.ReplaceAll(name, " ", "-")+".pprof"))
	if err != nil {
		return err
	}
	_, err = io.Copy(f, res.Body)
	return errors.Join(err, f.Close())
}
