package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/bench/press"
	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/e2e/harness"
)

// events measures how many custom events a second the program records, one by one and in batches, and how many
// bytes of the database an event takes. Each request is answered when its events are durable.
type events struct {
	Contacts    int           `default:"20000" help:"Contacts that have the events."`
	Connections int           `default:"32" help:"Connections that the requests come in on."`
	Span        time.Duration `default:"5s" help:"How long each kind of request is measured."`
	Only        string        `help:"Measure only requests whose name contains this."`
}

// Run prints a row for each kind of request.
func (c *events) Run(ctx context.Context, t *site.Target) error {
	return t.OnEach(func(dialect string) (err error) {
		s, err := c.open(ctx, t, dialect)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		fmt.Printf("\n%-9s %-16s %9s %8s %8s %8s %9s %9s %9s %8s %8s %8s\n",
			dialect, "requests", "events/s", "target", "p50 ms", "p99 ms", "CPU µs", "server µs", "lag s", "bytes", "written", "peak MB")
		for _, r := range s.kinds() {
			if strings.Contains(r.load.Name, c.Only) {
				if err := c.measure(ctx, t, s, r); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// eventSite is a running program with contacts.
type eventSite struct {
	*site.Site
	account press.Account
	ids     []string
	emails  []string
}

// eventLoad is one kind of request, with a number of events each.
type eventLoad struct {
	load   press.Load
	events int
}

// measure measures one kind of request. The lag is how long after the last answer the followers of
// the journal have processed all events; their processor time is included.
func (c *events) measure(ctx context.Context, t *site.Target, s *eventSite, r eventLoad) error {
	before, size, err := s.journal(ctx)
	if err != nil {
		return err
	}
	var got press.Result
	var lag time.Duration
	cost, err := s.During(ctx, func() (err error) {
		pace := press.Pace{Conns: c.Connections, Warm: c.Span / 5, Span: c.Span}
		profiled := t.Profile(ctx, s.Dialect+" "+r.load.Name, pace.Warm, pace.Span)
		got, err = press.Press(ctx, s.account.Address, pace, r.load, "")
		if err := errors.Join(err, profiled()); err != nil {
			return err
		}
		ended := time.Now()
		err = harness.Followed(ctx, s.DB, "score")
		lag = time.Since(ended)
		return err
	})
	if err != nil {
		return err
	}
	all, grown, err := s.journal(ctx)
	if err != nil {
		return err
	}
	n := float64(max(all-before, 1))
	fmt.Printf("%-9s %-16s %9.0f %8.0f %8.2f %8.2f %9.1f %9.1f %9.1f %8.0f %8.0f %8d\n", s.Dialect, r.load.Name, got.Rate*float64(r.events), r.load.Target,
		ms(got.At(.5)), ms(got.At(.99)), cost.CPU.Seconds()*1e6/n, cost.Server.Seconds()*1e6/n, lag.Seconds(), float64(grown-size)/n,
		float64(cost.Written)/n, cost.Peak>>20)
	return nil
}

// kinds returns the requests that are measured. The properties are those of an order, of about 100
// bytes.
func (s *eventSite) kinds() []eventLoad {
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
	single := func(name string, target float64, next func(r *rand.Rand, b []byte) []byte) eventLoad {
		return eventLoad{press.Load{Name: name, Target: target, Next: func(r *rand.Rand, b []byte) []byte {
			return s.account.Request(b, "POST", "/events", next(r, nil))
		}}, 1}
	}
	batch := func(n int, target float64) eventLoad {
		return eventLoad{press.Load{Name: fmt.Sprintf("batches of %d", n), Target: target, Next: func(r *rand.Rand, b []byte) []byte {
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
	return []eventLoad{
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

func (c *events) open(ctx context.Context, t *site.Target, dialect string) (*eventSite, error) {
	running, err := t.Open(ctx, dialect, site.Options{Contacts: c.Contacts})
	if err != nil {
		return nil, err
	}
	s := &eventSite{Site: running, account: running.API()}
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
func (s *eventSite) journal(ctx context.Context) (events, size int64, err error) {
	if err := s.DB.QueryRow(ctx, `SELECT COUNT(*) FROM journal WHERE type = 'event' /* all tenants: there is one */`).Scan(&events); err != nil {
		return 0, 0, err
	}
	size, err = s.Size(ctx, "journal")
	return events, size, err
}
