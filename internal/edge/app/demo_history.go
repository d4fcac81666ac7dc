package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/audience/visitor"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/demo"
	"github.com/packetboat/packetboat/internal/engine/deliver"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/engine/flow"
	"github.com/packetboat/packetboat/internal/engine/notify"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// FillDemo carries out the history of the demo: what its owner, its readers and its engines did in the
// weeks before it was started. The API and the engines are those of the program, with a clock that
// demo.History sets. What an interrupted call has done is not done again. It does nothing if there are
// other tenants or if the demo was used, since the engines work on all that is there and would send mail of
// others at times of the past. For the same reason nobody else may use the database meanwhile.
func FillDemo(ctx context.Context, cfg Config, store *Store, t tenant.Tenant, access demo.Access, log *slog.Logger) error {
	h := demo.History{DB: store.DB, Tenant: t.ID, Began: t.CreatedAt, Access: access, Dir: cfg.DataDir, Log: log}
	if done, err := h.Done(ctx); done || err != nil {
		return err
	}
	all, err := tenant.List(ctx, store.DB)
	if err != nil {
		return err
	}
	if len(all) > 1 {
		log.Info("the demo has no history, because the database has other tenants")
		return nil
	}
	if possible, err := h.Possible(ctx); err != nil {
		return err
	} else if !possible {
		log.Info("the demo has no history, because it was used without one")
		return nil
	}
	clock := demo.NewClock(t.CreatedAt)
	quiet := log
	if !log.Enabled(ctx, slog.LevelDebug) { // its bounces and outages are not news
		quiet = slog.New(slog.DiscardHandler)
	}
	cfg.InboundListen, cfg.SystemRelay, cfg.RateLimitPerMinute = "", nil, 1_000_000
	cfg.AllowPrivateWebhooks = cfg.AllowPrivateWebhooks || cfg.demoIsLocal()
	s := &Server{Config: cfg, Store: store, Roles: []Role{RoleAPI, RoleApp, RoleTrack}, Log: quiet, clock: clock.Now}
	registry := prometheus.NewRegistry()
	tools := s.tools(prometheus.NewRegistry())
	parts, err := s.assemble(ctx, registry)
	if err != nil {
		return err
	}
	defer parts.changes.Close()
	past := s.past(tools, parts.jobs)
	if cfg.demoIsLocal() {
		h.Stock = demo.StockURL(cfg.BaseURL)
	}
	h.API, h.Host, h.Keys, h.Clock, h.Settle = parts.handler, cfg.BaseURL.Host, tools.keys, clock, past.settle
	running, stop := context.WithCancel(ctx)
	defer stop()
	group, running := errgroup.WithContext(running)
	for _, l := range append(parts.loops, loop{"deliver", past.deliverer.Run}) {
		group.Go(func() error { return l.run(running) })
	}
	began := time.Now()
	group.Go(func() error {
		defer stop()
		return h.Run(running)
	})
	if err := group.Wait(); err != nil {
		return fmt.Errorf("history of the demo: %w", err)
	}
	log.Debug("the history of the demo is complete", "took", time.Since(began))
	return nil
}

// past is the engines that work at the time of a clock, when they are told to.
type past struct {
	db        *sqldb.DB
	now       func() time.Time
	deliverer *deliver.Engine
	journal   *journal.Engine
	notifier  *notify.Engine
	passes    []func(ctx context.Context) (more bool, err error)
}

// past returns the engines that a history needs.
func (s *Server) past(t tools, jobs *job.Engine) *past {
	db, log := s.Store.DB, s.Log
	p := &past{
		db: db, now: t.now,
		deliverer: s.deliverer(t, deliver.NewMetrics(prometheus.NewRegistry()), db.Subscribe(outbox.Wake)),
		journal:   &journal.Engine{DB: db, Followers: followers(t.now, log), Log: log},
		notifier:  s.notifier(t, notify.NewMetrics(prometheus.NewRegistry())),
	}
	visitors := &visitor.Engine{DB: db, Box: s.Store.Box, Log: log, Now: t.now}
	classifier := s.classifier(t)
	p.passes = []func(ctx context.Context) (bool, error){
		func(ctx context.Context) (bool, error) { return false, visitors.Drain(ctx) },
		(&dispatch.Engine{DB: db, Owner: id.NewText(), Now: t.now, Log: log}).Tick,
		(&trigger.Engine{DB: db, Now: t.now, Log: log}).Tick,
		(&flow.Engine{DB: db, Now: t.now, Box: s.Store.Box, Log: log}).Tick,
		(&flow.Automations{DB: db, Now: t.now, Box: s.Store.Box, Log: log}).Tick,
		classifier.Tick,
		jobs.Tick,
	}
	return p
}

// settle lets the engines work until nothing is due at the time of the clock.
func (p *past) settle(ctx context.Context) error {
	for again := true; again; {
		again = false
		if err := p.journal.Drain(ctx); err != nil {
			return err
		}
		for _, pass := range p.passes {
			for more := true; more; {
				var err error
				if more, err = pass(ctx); err != nil {
					return err
				}
				again = again || more
			}
		}
		sent, err := p.deliver(ctx)
		if err != nil {
			return err
		}
		again = again || sent
	}
	if err := p.journal.Drain(ctx); err != nil {
		return err
	}
	return p.notifier.Tick(ctx)
}

// deliver waits until no message is due, and reports whether any was.
func (p *past) deliver(ctx context.Context) (sent bool, err error) {
	ctx, stop := context.WithTimeoutCause(ctx, time.Minute, errors.New("messages that are due are not sent"))
	defer stop()
	for {
		busy, err := p.sending(ctx)
		if err != nil || !busy {
			return sent, err
		}
		sent = true
		p.db.Notify(outbox.Wake)
		select {
		case <-ctx.Done():
			return sent, context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// sending reports whether a message is due or being sent.
func (p *past) sending(ctx context.Context) (bool, error) {
	ready, err := outbox.ReadySends(ctx, p.db)
	if err != nil {
		return false, err
	}
	for _, r := range ready {
		if r.Cancelled || !r.NextDue.IsZero() && !r.NextDue.After(p.now()) {
			return true, nil
		}
		if flying, err := outbox.InFlight(ctx, p.db, r.Tenant, r.Send); err != nil || len(flying) > 0 {
			return len(flying) > 0, err
		}
	}
	return false, nil
}
