// Package flow leads contacts through sequences, and carries out the runs of automations.
//
// A tick takes enrollments of one tenant that are due, in one transaction with all that their steps
// do, and moves each on until it waits or ends. Steps of many enrollments at the same node are one
// operation. The transaction locks the enrollments; other processes skip them and take the next. Runs of
// automations are carried out in the same way, by an engine of their own, and their actions by the code
// of the steps.
//
// A walk moves enrollments through graphs. What steps do is behind an interface (deeds): work does it, and
// a simulation of a Simulator only counts, with a clock for each enrollment.
package flow

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Engine carries out steps of sequences.
type Engine struct {
	DB    *sqldb.DB
	Now   func() time.Time
	Log   *slog.Logger
	Box   *secret.Box     // opens the headers of webhooks
	Wake  <-chan struct{} // notified when enrollments become due; may be nil
	Batch int             // enrollments in one transaction; 0 means 500

	providers maildomain.Providers // of recipients' domains
}

// every is how often the engine looks for enrollments whose waits have ended.
const every = time.Second

// Run carries out steps until ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	return poll.Loop{Poll: e.Tick, Every: every, Wake: e.Wake, Log: e.Log, Failed: "carry out steps of sequences failed"}.Run(ctx)
}

// Tick carries out a batch of steps for each tenant that has some due. It reports whether there may
// be more.
func (e *Engine) Tick(ctx context.Context) (more bool, err error) {
	e.providers.DB, e.providers.Now = e.DB, e.Now
	unsettled, err := sequence.ListUnsettled(ctx, e.DB)
	if err != nil {
		return false, err
	}
	for _, u := range unsettled {
		if err := sequence.SettleSome(ctx, e.DB, u.Tenant, u.Sequence, e.batchSize(), e.Now()); err != nil {
			return false, err
		}
	}
	more = len(unsettled) > 0
	tenants, err := sequence.DueTenants(ctx, e.DB, e.Now())
	if err != nil {
		return false, err
	}
	for _, t := range tenants {
		n, err := e.batch(ctx, t)
		if err != nil {
			return false, err
		}
		more = more || n > 0
	}
	return more, nil
}

// batchSize is how many enrollments one transaction takes.
func (e *Engine) batchSize() int { return cmp.Or(e.Batch, 500) }

// batch carries out the steps of a batch of a tenant's enrollments, and returns how many it took.
func (e *Engine) batch(ctx context.Context, tenant id.Tenant) (n int, err error) {
	err = e.DB.InTx(ctx, func(tx *sqldb.DB) error {
		now := e.Now().UTC().Truncate(time.Microsecond)
		list, err := sequence.Due(ctx, tx, tenant, e.batchSize(), now)
		if n = len(list); err != nil || n == 0 {
			return err
		}
		w, err := newWork(ctx, tx, tenant, list, e, now)
		if err != nil {
			return err
		}
		return w.run(ctx)
	})
	return n, err
}
