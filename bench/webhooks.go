package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
)

// webhooks measures how many events a second the program delivers to webhook endpoints on the same machine.
//
// Custom events are appended to the journal, and the time counts until the last delivery is stored: the program
// reads the journal, adds the deliveries, signs and sends the requests, and stores the results.
type webhooks struct {
	Deliveries int           `default:"60000" help:"Deliveries of each measurement."`
	Answer     time.Duration `default:"0s" help:"How long the receiver takes to answer."`
	Limit      time.Duration `default:"5m" help:"How long one measurement may take."`
}

// Run prints a row for one endpoint and one for twenty.
func (c *webhooks) Run(ctx context.Context, t *site.Target) error {
	fmt.Printf("%-9s %9s | %12s %8s %9s %9s %8s %8s %9s\n", "database", "endpoints", "deliveries/s", "target", "CPU µs", "server µs", "bytes", "peak MB", "repeated")
	return t.OnEach(func(dialect string) error {
		return errors.Join(c.measure(ctx, t, dialect, 1), c.measure(ctx, t, dialect, 20))
	})
}

// webhookSite is a running program with contacts and webhook endpoints.
type webhookSite struct {
	*site.Site
	receiver *receiver
	tenant   id.Tenant
	contacts []id.Contact
}

// measure makes one measurement and prints its row.
func (c *webhooks) measure(ctx context.Context, t *site.Target, dialect string, endpoints int) (err error) {
	s, err := c.open(ctx, t, dialect, endpoints)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	size, err := s.Size(ctx, "webhook_delivery")
	if err != nil {
		return err
	}
	profiled := t.Profile(ctx, fmt.Sprintf("%s-%d", dialect, endpoints), 0, 10*time.Second)
	cost, err := s.During(ctx, func() error {
		if err := s.appendEvents(ctx, c.Deliveries/endpoints); err != nil {
			return err
		}
		return c.await(ctx, s)
	})
	if err := errors.Join(err, profiled()); err != nil {
		return fmt.Errorf("%d endpoints: %w", endpoints, err)
	}
	grown, err := s.Size(ctx, "webhook_delivery")
	if err != nil {
		return err
	}
	n := float64(c.Deliveries)
	fmt.Printf("%-9s %9d | %12.0f %8d %9.1f %9.1f %8.0f %8d %9d\n", dialect, endpoints, n/cost.Took.Seconds(), 3000,
		cost.CPU.Seconds()*1e6/n, cost.Server.Seconds()*1e6/n, float64(grown-size)/n, cost.Peak>>20,
		int(s.receiver.requests.Load())-s.receiver.distinct())
	return nil
}

// appendEvents appends events to the journal, with properties of about 100 bytes.
func (s *webhookSite) appendEvents(ctx context.Context, n int) error {
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
func (c *webhooks) await(ctx context.Context, s *webhookSite) error {
	ctx, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	for {
		if s.receiver.distinct() >= c.Deliveries {
			var left bool
			err := s.DB.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM webhook_delivery WHERE due_at IS NOT NULL) /* all tenants: there is one */`).Scan(&left)
			if err != nil || !left {
				return err
			}
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%d of %d deliveries have arrived: %w", s.receiver.distinct(), c.Deliveries, ctx.Err())
		}
	}
}

func (c *webhooks) open(ctx context.Context, t *site.Target, dialect string, endpoints int) (*webhookSite, error) {
	running, err := t.Open(ctx, dialect, site.Options{Contacts: 2000, Env: []string{"PACKETBOAT_ALLOW_PRIVATE_WEBHOOKS=true"}})
	if err != nil {
		return nil, err
	}
	s := &webhookSite{Site: running}
	if err := c.register(ctx, s, endpoints); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// register starts the receiver and creates endpoints of it.
func (c *webhooks) register(ctx context.Context, s *webhookSite, endpoints int) (err error) {
	if s.receiver, err = listen(c.Answer); err != nil {
		return err
	}
	for range endpoints {
		_, err := s.Account.Owner.Must(ctx, http.MethodPost, "/settings/webhooks", map[string]any{"url": "http://" + s.receiver.Addr().String() + "/", "event_types": []string{"event.recorded"}})
		if err != nil {
			return err
		}
	}
	people, err := s.Contacts(ctx)
	for _, p := range people {
		s.tenant, s.contacts = p.Tenant, append(s.contacts, p.ID)
	}
	return err
}

func (s *webhookSite) close() error {
	err := s.Close()
	if s.receiver != nil {
		err = errors.Join(err, s.receiver.Close())
	}
	return err
}
