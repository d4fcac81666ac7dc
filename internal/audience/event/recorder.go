package event

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/groupcommit"
)

// Recorder records the events of many requests in common transactions: requests that arrive while
// one transaction commits are recorded together by the next. Each request gets its own results,
// after its events are durable.
//
// A Recorder not created by NewRecorder records each request in a transaction of its own.
type Recorder struct {
	DB  *sqldb.DB
	Now func() time.Time

	small, large *groupcommit.Group[*work]
}

const (
	maxTogether  = 200  // requests of one transaction
	maxSmall     = 20   // events of a small request
	enoughEvents = 4000 // of large requests in one transaction, which then takes no more
)

// NewRecorder returns a Recorder that groups requests. Record works while Run does.
func NewRecorder(db *sqldb.DB, now func() time.Time) *Recorder {
	r := &Recorder{DB: db, Now: now}
	r.small = groupcommit.New(maxTogether, r.write)
	// Transactions with many events write each page of an index once for many entries, but others wait for them.
	r.large = groupcommit.New(maxTogether, r.write)
	r.large.Weigh(func(e *work) int { return len(e.events) }, enoughEvents)
	return r
}

// Run records events until ctx ends. Where the database has more than one writer, Run may be called
// more than once at a time.
func (r *Recorder) Run(ctx context.Context) error {
	var wait sync.WaitGroup
	wait.Go(func() { _ = r.large.Run(ctx) }) // it returns nil
	err := r.small.Run(ctx)
	wait.Wait()
	return err
}

// Record records events of a tenant and waits until they are durable. It returns their results in
// the same order.
func (r *Recorder) Record(ctx context.Context, t id.Tenant, list []Input) ([]Result, error) {
	e := &work{tenant: t, events: prepare(list, r.Now())}
	var err error
	switch {
	case r.small == nil:
		err = r.write(ctx, []*work{e})
	case len(list) <= maxSmall:
		err = r.small.Within(ctx, e)
	default:
		err = r.large.Within(ctx, e)
	}
	if err != nil {
		return nil, err
	}
	return results(e.events), nil
}

// write records requests in one transaction.
func (r *Recorder) write(ctx context.Context, batch []*work) error {
	var list []*work
	for t, own := range id.ByTenant(batch, func(w *work) id.Tenant { return w.tenant }) {
		all := &work{tenant: t}
		for _, w := range own {
			all.events = append(all.events, w.events...)
		}
		list = append(list, all)
	}
	err := r.DB.InTx(ctx, func(tx *sqldb.DB) error { return record(ctx, tx, list, r.Now()) })
	if err != nil {
		return fmt.Errorf("record events of several requests: %w", err)
	}
	return nil
}
