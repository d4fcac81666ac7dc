package auth

import (
	"context"
	"sync"
	"time"
)

// What bounds background tasks.
const (
	taskTimeout     = time.Minute // from the request on
	maxTasks        = 1000        // waiting and under way
	concurrentTasks = 8
)

// backgroundTasks are done after the request that asked for them was answered, so that
// the time of the answer tells nothing about them. The zero value is ready.
type backgroundTasks struct {
	once    sync.Once
	waiting chan struct{}
	turns   chan struct{}
	all     sync.WaitGroup
}

// run has f done soon. It waits only while far too many others are under way.
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
		f(ctx) // also when it is too late, for f says what was not done
	})
	return nil
}

// Wait returns when every mail has left or failed, after a minute at most.
func (d *Login) Wait() { d.background.all.Wait() }
