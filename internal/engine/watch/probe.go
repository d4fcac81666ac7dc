package watch

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/traffic"
)

const (
	concurrentProbes = 16
	suspectTries     = 3                // concurrent attempts at each tick
	probeTimeout     = 15 * time.Second // timeout of an attempt
)

// probeTarget is a lane to probe.
type probeTarget struct {
	lane    traffic.Lane
	health  lane.Health
	suspect bool
}

// probeLanes probes several lanes concurrently: the suspects, and unhealthy ones that are due. It stores
// the results in lanes.
func (e *Engine) probeLanes(ctx context.Context, now time.Time, lanes map[traffic.Lane]lane.Health, suspects map[traffic.Lane]bool) error {
	var mu sync.Mutex
	var errs []error
	var at sync.WaitGroup
	free := make(chan struct{}, concurrentProbes)
	for l, before := range maps.Clone(lanes) {
		if !suspects[l] && !before.DueForProbe(now) {
			continue
		}
		free <- struct{}{}
		at.Go(func() {
			defer func() { <-free }()
			after, err := e.probeLane(ctx, probeTarget{l, before, suspects[l]}, now)
			mu.Lock()
			defer mu.Unlock()
			lanes[l] = after
			errs = append(errs, err)
		})
	}
	at.Wait()
	return errors.Join(errs...)
}

// probeLane probes one lane and returns its health. A suspect is probed several times, which count as
// attempts of its own; it is down if all fail.
func (e *Engine) probeLane(ctx context.Context, p probeTarget, now time.Time) (lane.Health, error) {
	l, before := p.lane, p.health
	c, err := lane.ByID(ctx, e.DB, l.Tenant, l.Lane)
	if errors.Is(err, lane.ErrNotFound) || err == nil && !c.Active {
		return before, nil
	}
	if err != nil {
		return before, err
	}
	times := 1
	if p.suspect {
		times = suspectTries
	}
	failures, err := e.tryRepeatedly(ctx, c, times)
	if err != nil || ctx.Err() != nil {
		return before, err
	}
	failed := slices.DeleteFunc(slices.Clone(failures), func(f string) bool { return f == "" })
	if p.suspect {
		sum := traffic.Counts{Tries: len(failures), Unreached: len(failed)}
		if err := traffic.Add(ctx, e.DB, now, map[traffic.Key]traffic.Counts{{Tenant: l.Tenant, Lane: l.Lane}: sum}); err != nil {
			return before, err
		}
	}
	failure := ""
	if len(failed) == len(failures) {
		failure = failed[0]
	}
	after := before
	switch {
	case p.suspect && failure != "":
		after = before.AfterTest(failure, false, now)
	case before.State == lane.Healthy:
		return before, nil
	default:
		after = before.AfterProbe(failure, now)
	}
	return after, e.saveHealth(ctx, l, before, after)
}

// Probe opens and closes one connection of a lane, and returns the failure, or "". It stores nothing.
func (e *Engine) Probe(ctx context.Context, c lane.Config) (failure string, err error) {
	return e.tryConnection(ctx, c)
}

// tryRepeatedly probes a lane several times concurrently, and returns the failure of each attempt, or "".
func (e *Engine) tryRepeatedly(ctx context.Context, c lane.Config, times int) ([]string, error) {
	failures, errs := make([]string, times), make([]error, times)
	var at sync.WaitGroup
	for i := range times {
		at.Go(func() { failures[i], errs[i] = e.tryConnection(ctx, c) })
	}
	at.Wait()
	return failures, errors.Join(errs...)
}

// probeSources returns the reason why mail cannot be sent from an address of a lane, or "". The
// servers of domains say nothing about the lane.
func probeSources(d lane.DirectSettings) string {
	for _, s := range d.IPs {
		l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: s.IP.AsSlice()})
		if err != nil {
			return s.IP.String() + " is not an address of this machine"
		}
		_ = l.Close()
	}
	return ""
}

// probeSES returns the reason why SES refuses the key of a lane, or "".
func (e *Engine) probeSES(ctx context.Context, c lane.Config) (failure string, err error) {
	key, err := lane.Password(ctx, e.DB, e.Box, c.Tenant, c.ID)
	if err != nil {
		return "", err
	}
	client, err := lane.SESClient(c, key, e.SESEndpoint, e.AllowPrivate, e.Now)
	if err != nil {
		return "", err
	}
	defer client.Close()
	within, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if err := client.Check(within); err != nil {
		return err.Error(), nil
	}
	return "", nil
}

// tryConnection opens and closes one connection, and returns the failure, or "".
func (e *Engine) tryConnection(ctx context.Context, c lane.Config) (failure string, err error) {
	switch c.Type {
	case lane.Sink: // the built-in mailbox is always available
		return "", nil
	case lane.DirectMX:
		return probeSources(c.Direct), nil
	case lane.SES:
		return e.probeSES(ctx, c)
	}
	password, err := lane.Password(ctx, e.DB, e.Box, c.Tenant, c.ID)
	if err != nil {
		return "", err
	}
	within, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	conn, err := smtpclient.Dial(within, c.SMTP.Client(password, netguard.Guard{AllowPrivate: e.AllowPrivate}))
	refused, ok := errors.AsType[*smtpclient.DialError](err)
	switch {
	case err == nil:
		_ = conn.Quit() // the connection was established, which is all that matters
		return "", nil
	case ok:
		return refused.Outcome.String(), nil
	case within.Err() != nil:
		return "no answer within " + probeTimeout.String(), nil
	}
	return err.Error(), nil
}
