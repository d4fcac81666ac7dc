package sqldb

import (
	"context"
	"errors"
	"fmt"
)

// Group commits values of many goroutines in one transaction: each goroutine waits until its value
// is stored. While a batch is written, the next one collects, so the size of batches grows with the
// number of goroutines, and a single one does not wait for others.
type Group[T any] struct {
	flush func(ctx context.Context, batch []T) error
	max   int
	limit func() int // nil: max alone bounds a batch
	in    chan grouped[T]

	weight func(T) int // nil: only the number of values bounds a batch
	enough int         // weight of a batch to which no value is added
}

type grouped[T any] struct {
	value T
	done  chan error
}

// NewGroup returns a group that writes batches of at most max with flush. An error of flush is
// returned for each value of the batch.
func NewGroup[T any](max int, flush func(ctx context.Context, batch []T) error) *Group[T] {
	return &Group[T]{flush: flush, max: max, in: make(chan grouped[T])}
}

// Limit also limits each batch to the result of n when the batch begins. It is called before Run.
func (g *Group[T]) Limit(n func() int) { g.limit = n }

// Weigh also ends a batch with the value by which its weight reaches enough. It is called before Run.
func (g *Group[T]) Weigh(weight func(T) int, enough int) { g.weight, g.enough = weight, enough }

func (g *Group[T]) weigh(v T) int {
	if g.weight == nil {
		return 0
	}
	return g.weight(v)
}

// Do adds v to a batch and waits until it is written or has failed. The end of ctx has an effect
// only before v is added.
func (g *Group[T]) Do(ctx context.Context, v T) error {
	e := grouped[T]{v, make(chan error, 1)}
	select {
	case g.in <- e:
		return <-e.done
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Within is Do, but waits until ctx ends at the longest. If the error is ErrAbandoned, v was added
// and may yet be written, and the caller must not use it any more.
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

// ErrAbandoned means that the caller stopped waiting before the write ended.
var ErrAbandoned = errors.New("the write may or may not succeed")

// Run writes batches until ctx ends. A batch in progress is finished.
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
		sum := g.weigh(values[0])
	gather:
		for len(values) < most && (g.weight == nil || sum < g.enough) {
			select {
			case e := <-g.in:
				values, waiting = append(values, e.value), append(waiting, e.done)
				sum += g.weigh(e.value)
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
