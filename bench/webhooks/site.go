package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/packetboat/packetboat/bench/meter"
	benchsite "github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
)

// contacts is how many contacts have the events.
const contacts = 2000

// site is a running program with contacts and webhook endpoints.
type site struct {
	*benchsite.Site
	receiver *receiver
	tenant   id.Tenant
	contacts []id.Contact
}

// measure makes one measurement and prints its row.
func measure(ctx context.Context, o options, dialect string, endpoints int) (err error) {
	s, err := open(ctx, o, dialect, endpoints)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	size, err := s.Size(ctx, "webhook_delivery")
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
	grown, err := s.Size(ctx, "webhook_delivery")
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
		if err := journal.Append(ctx, s.DB, list...); err != nil {
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
			err := s.DB.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM webhook_delivery WHERE due_at IS NOT NULL) /* all tenants: there is one */`).Scan(&left)
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

func open(ctx context.Context, o options, dialect string, endpoints int) (*site, error) {
	running, err := benchsite.Open(ctx, benchsite.Options{
		Name: "webhooks", Program: o.program, Dialect: dialect, Postgres: o.postgres, Admin: o.admin, Contacts: contacts,
		Env: []string{"PACKETBOAT_ALLOW_PRIVATE_WEBHOOKS=true"},
	})
	if err != nil {
		return nil, err
	}
	s := &site{Site: running}
	if err := s.register(ctx, o, endpoints); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// register starts the receiver and creates endpoints of it.
func (s *site) register(ctx context.Context, o options, endpoints int) (err error) {
	if s.receiver, err = listen(o.pause); err != nil {
		return err
	}
	for range endpoints {
		_, err := s.Account.Owner.Must(ctx, http.MethodPost, "/settings/webhooks", map[string]any{"url": "http://" + s.receiver.Addr().String() + "/", "event_types": []string{"event.recorded"}})
		if err != nil {
			return err
		}
	}
	people, err := s.Contacts(ctx)
	for _, c := range people {
		s.tenant, s.contacts = c.Tenant, append(s.contacts, c.ID)
	}
	return err
}

func (s *site) close() error {
	err := s.Close()
	if s.receiver != nil {
		err = errors.Join(err, s.receiver.Close())
	}
	return err
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
