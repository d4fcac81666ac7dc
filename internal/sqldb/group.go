package sqldb

import (
	"context"
	"errors"
	"fmt"
)

// Group gathers what many goroutines want written and writes it in one
// transaction: each waits until its own part is durable. While one batch is
// being written the next gathers, so batches are as large as the writers are
// many, and a lone writer waits for nobody.
type Group[T any] struct {
	flush func(ctx context.Context, batch []T) error
	max   int
	limit func() int // nil: max alone bounds a batch
	in    chan grouped[T]
}

type grouped[T any] struct {
	value T
	done  chan error
}

// NewGroup returns a group that writes batches of at most max with flush. An
// error of flush is everyone's whose part was in the batch.
func NewGroup[T any](max int, flush func(ctx context.Context, batch []T) error) *Group[T] {
	return &Group[T]{flush: flush, max: max, in: make(chan grouped[T])}
}

// Limit bounds each batch by what n returns when it begins, too. It is called
// before Run.
func (g *Group[T]) Limit(n func() int) { g.limit = n }

// Do hands v in and waits until it is written. It does not give up half way:
// once handed in, v is written, or its error known.
func (g *Group[T]) Do(ctx context.Context, v T) error {
	e := grouped[T]{v, make(chan error, 1)}
	select {
	case g.in <- e:
		return <-e.done
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Within is Do for callers who wait no longer than ctx. When the error is
// ErrGivenUp, v was handed in and may yet be written: it is no longer theirs to
// read.
func (g *Group[T]) Within(ctx context.Context, v T) error {
	e := grouped[T]{v, make(chan error, 1)}
	select {
	case g.in <- e:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrAbandoned, context.Cause(ctx))
	}
}

// ErrAbandoned is what a caller gets who did not wait for the end of a write.
var ErrAbandoned = errors.New("whether it was written is not known")

// Run writes until ctx ends. Batches under way are finished.
func (g *Group[T]) Run(ctx context.Context) error {
	end := context.WithoutCancel(ctx)
	values := make([]T, 0, g.max)
	waiting := make([]chan error, 0, g.max)
	for {
		values, waiting = values[:0], waiting[:0]
		select {
		case e := <-g.in:
			values, waiting = append(values, e.value), append(waiting, e.done)
		case <-ctx.Done():
			return nil
		}
		most := g.max
		if g.limit != nil {
			most = min(most, g.limit())
		}
	gather:
		for len(values) < most {
			select {
			case e := <-g.in:
				values, waiting = append(values, e.value), append(waiting, e.done)
			default:
				break gather
			}
		}
		err := g.flush(end, values)
		for _, done := range waiting {
			done <- err
		}
		clear(values)
	}
}
