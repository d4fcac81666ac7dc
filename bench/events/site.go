package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/bench/meter"
	"github.com/packetboat/packetboat/bench/press"
	benchsite "github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/e2e/harness"
)

// site is a running program with contacts.
type site struct {
	*benchsite.Site
	account press.Account
	ids     []string
	emails  []string
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
	defer func() { err = errors.Join(err, s.Close()) }()
	fmt.Printf("\n%-9s %-16s %9s %8s %8s %8s %9s %9s %9s %8s %8s %8s\n",
		dialect, "requests", "events/s", "target", "p50 ms", "p99 ms", "CPU µs", "server µs", "lag s", "bytes", "written", "peak MB")
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
	if err := harness.Followed(ctx, s.DB, "score"); err != nil {
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
	fmt.Printf("%-9s %-16s %9.0f %8.0f %8.2f %8.2f %9.1f %9.1f %9.1f %8.0f %8.0f %8d\n", s.Dialect, r.load.Name, got.Rate*float64(r.events), r.load.Target,
		ms(got.At(.5)), ms(got.At(.99)), (after.CPU-before.CPU).Seconds()*1e6/n, (served-server).Seconds()*1e6/n, lag.Seconds(), float64(grown-size)/n,
		float64(after.Written-before.Written)/n, after.PeakMemory>>20)
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

func open(ctx context.Context, o options, dialect string) (*site, error) {
	running, err := benchsite.Open(ctx, benchsite.Options{
		Name: "events", Program: o.program, Dialect: dialect, Postgres: o.postgres, Admin: o.admin, Contacts: o.contacts,
	})
	if err != nil {
		return nil, err
	}
	s := &site{Site: running}
	s.account = press.Account{Address: strings.TrimPrefix(s.BaseURL, "http://"), Prefix: "/t/" + harness.Tenant + "/api", Key: s.Key}
	people, err := s.Contacts(ctx)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for _, c := range people {
		s.ids, s.emails = append(s.ids, c.ID.String()), append(s.emails, c.Email)
	}
	return s, nil
}

// journal returns the number of custom events, and the size in bytes of the journal with its
// indexes; on SQLite that of the database.
func (s *site) journal(ctx context.Context) (events, size int64, err error) {
	if err := s.DB.QueryRow(ctx, `SELECT COUNT(*) FROM journal WHERE type = 'event' /* all tenants: there is one */`).Scan(&events); err != nil {
		return 0, 0, err
	}
	size, err = s.Size(ctx, "journal")
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
		done <- takeProfile(o, s.Dialect+" "+name)
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
