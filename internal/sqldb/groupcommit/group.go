// Package groupcommit writes what many goroutines store in transactions together.
package groupcommit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// groupTimeout limits the time for one batch, including the writes of its values alone.
const groupTimeout = 30 * time.Second

// Group commits values of many goroutines in one transaction: each goroutine waits until its value
// is stored. While a batch is written, the next one collects, so the size of batches grows with the
// number of goroutines, and a single one does not wait for others. A value that cannot be stored
// fails only its own caller.
type Group[T any] struct {
	write  func(ctx context.Context, batch []T) error
	max    int
	limit  func() int        // nil: max alone bounds a batch
	tenant func(T) id.Tenant // nil: a batch may have values of many tenants
	in     chan grouped[T]

	weight func(T) int // nil: only the number of values bounds a batch
	enough int         // weight of a batch to which no value is added
}

type grouped[T any] struct {
	value T
	done  chan error
}

// New returns a group that writes batches of at most max with write, which stores all values of
// a batch or returns an error and stores none. It may be called again with one value of a batch that
// failed, so it sets all results in a value anew. The end of its context is 30 seconds away.
func New[T any](max int, write func(ctx context.Context, batch []T) error) *Group[T] {
	return &Group[T]{write: write, max: max, in: make(chan grouped[T])}
}

// Limit also limits each batch to the result of n when the batch begins. It is called before Run.
func (g *Group[T]) Limit(n func() int) { g.limit = n }

// PerTenant writes the values of each tenant in a batch of their own. It is called before Run.
func (g *Group[T]) PerTenant(tenant func(T) id.Tenant) { g.tenant = tenant }

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
		// The batch with v goes on and may commit at any time: it holds values of other callers, and a
		// COMMIT that was sent cannot be taken back. So nothing is known about v, as after a lost
		// connection, and the caller reports that it may have succeeded.
		return fmt.Errorf("%w: %w", ErrAbandoned, context.Cause(ctx))
	}
}

// ErrAbandoned means that the caller stopped waiting before the write ended.
var ErrAbandoned = errors.New("the write may or may not succeed")

// Run writes batches until ctx ends. A batch in progress is finished.
func (g *Group[T]) Run(ctx context.Context) error {
	end := context.WithoutCancel(ctx)
	batch := make([]grouped[T], 0, g.max)
	for {
		batch = batch[:0]
		select {
		case e := <-g.in:
			batch = append(batch, e)
		case <-ctx.Done():
			return nil
		}
		most := g.max
		if g.limit != nil {
			most = min(most, g.limit())
		}
		sum := g.weigh(batch[0].value)
	gather:
		for len(batch) < most && (g.weight == nil || sum < g.enough) {
			select {
			case e := <-g.in:
				batch = append(batch, e)
				sum += g.weigh(e.value)
			default:
				break gather
			}
		}
		g.flush(end, batch)
		clear(batch)
	}
}

// flush writes a batch, or the part of each tenant.
func (g *Group[T]) flush(ctx context.Context, batch []grouped[T]) {
	if g.tenant == nil {
		g.commit(ctx, batch)
		return
	}
	for _, part := range id.ByTenant(batch, func(e grouped[T]) id.Tenant { return g.tenant(e.value) }) {
		g.commit(ctx, part)
	}
}

// commit writes a batch and reports the result of each value to its caller.
func (g *Group[T]) commit(ctx context.Context, batch []grouped[T]) {
	ctx, cancel := fault.Within(ctx, groupTimeout)
	defer cancel()
	values := make([]T, len(batch))
	for i, e := range batch {
		values[i] = e.value
	}
	err := g.write(ctx, values)
	if err == nil || len(batch) == 1 || futile(ctx, err) {
		for _, e := range batch {
			e.done <- fault.Timely(ctx, err)
		}
		return
	}
	// One value that cannot be stored undoes the transaction of all, and err does not say which one.
	// Written alone, it fails only its own caller: no other may get an error about a value that is not
	// its own, and all would fail again if they were repeated together.
	for i, e := range batch {
		e.done <- fault.Timely(ctx, g.write(ctx, values[i:i+1]))
	}
}

// futile reports whether the values of a failed batch are not written alone, because err is not about
// one of them: time is up, the write was canceled, or the database cannot store anything. Each attempt
// would end in the same way while more callers queue. Besides, if the connection was lost during COMMIT,
// the batch may be durable, and writing its values again would store them twice.
func futile(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, context.Canceled) || sqldb.IsOutage(err)
}
