package auth

import (
	"context"
	"sync"
	"time"
)

// Limits of background tasks.
const (
	taskTimeout     = time.Minute // from the request
	maxTasks        = 1000        // waiting or running
	concurrentTasks = 8
)

// backgroundTasks run after the request was answered, so that the response time does not depend on
// them. The zero value is ready for use.
type backgroundTasks struct {
	once    sync.Once
	waiting chan struct{}
	turns   chan struct{}
	all     sync.WaitGroup
}

// run runs f in the background. It blocks only if maxTasks are waiting or running.
func (e *backgroundTasks) run(ctx context.Context, f func(ctx context.Context)) error {
	e.once.Do(func() {
		e.waiting, e.turns = make(chan struct{}, maxTasks), make(chan struct{}, concurrentTasks)
	})
	select {
	case e.waiting <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), taskTimeout)
	e.all.Go(func() {
		defer func() { <-e.waiting }()
		defer cancel()
		select {
		case e.turns <- struct{}{}:
			defer func() { <-e.turns }()
		case <-ctx.Done():
		}
		f(ctx) // even after the timeout, since f logs what failed
	})
	return nil
}

// Wait returns when all background mails are sent or have failed, after a minute at most.
func (d *Login) Wait() { d.background.all.Wait() }
