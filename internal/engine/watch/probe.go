package watch

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"packetboat/internal/lane"
	"packetboat/internal/mail/smtpclient"
	"packetboat/internal/traffic"
)

const (
	probesAtOnce = 16
	probeWithin  = 15 * time.Second // one that takes longer has failed
)

// probe tries the lanes that are not well and whose turn it is, several at
// once, and notes in lanes what came of it.
func (e *Engine) probe(ctx context.Context, lanes map[traffic.Lane]lane.Health) error {
	var mu sync.Mutex
	var errs []error
	var at sync.WaitGroup
	free := make(chan struct{}, probesAtOnce)
	for l, before := range maps.Clone(lanes) {
		if !before.DueForProbe(e.Now()) {
			continue
		}
		free <- struct{}{}
		at.Go(func() {
			defer func() { <-free }()
			after, err := e.probed(ctx, l, before)
			mu.Lock()
			defer mu.Unlock()
			lanes[l] = after
			errs = append(errs, err)
		})
	}
	at.Wait()
	return errors.Join(errs...)
}

// probed tries one lane and returns how it fares.
func (e *Engine) probed(ctx context.Context, l traffic.Lane, before lane.Health) (lane.Health, error) {
	c, err := lane.ByID(ctx, e.DB, l.Tenant, l.Lane)
	if errors.Is(err, lane.ErrNotFound) || err == nil && !c.Active {
		return before, nil
	}
	if err != nil {
		return before, err
	}
	failure, err := e.try(ctx, c)
	if err != nil || ctx.Err() != nil {
		return before, err
	}
	after := before.Probed(failure, e.Now())
	return after, e.note(ctx, l, before, after)
}

// try opens one connection and ends it, and returns what went wrong with it.
func (e *Engine) try(ctx context.Context, c lane.Config) (failure string, err error) {
	if c.Type != lane.SMTP { // the built-in mailbox is always there
		return "", nil
	}
	password, err := lane.Password(ctx, e.DB, e.Box, c.Tenant, c.ID)
	if err != nil {
		return "", err
	}
	within, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	conn, err := smtpclient.Dial(within, c.SMTP.Client(password, smtpclient.Guard{AllowPrivate: e.AllowPrivate}))
	refused, ok := errors.AsType[*smtpclient.DialError](err)
	switch {
	case err == nil:
		_ = conn.Quit() // it has answered, and that is all we wanted
		return "", nil
	case ok:
		return refused.Outcome.String(), nil
	case within.Err() != nil:
		return "no answer within " + probeWithin.String(), nil
	}
	return err.Error(), nil
}
