package contact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Saver saves single drafts of many callers at once: what arrives while one
// transaction is being committed is saved by the next, all together. Each caller
// gets its own answer, and only once its contact is durable.
//
// One that NewSaver did not make saves each draft alone.
type Saver struct {
	DB    *sqldb.DB
	Rules func(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (Rules, error)
	Now   func() time.Time

	group *sqldb.Group[*saveRequest]
}

// saveRequest is one draft on its way.
type saveRequest struct {
	tenant id.Tenant
	draft  Draft
	saved  Outcome
	err    error
}

const (
	savedAtOnce = 200              // bounds a transaction of many callers
	savedWithin = 30 * time.Second // no caller waits longer
)

// NewSaver returns a Saver that gathers; it needs Run.
func NewSaver(db *sqldb.DB, rules func(context.Context, *sqldb.DB, id.Tenant) (Rules, error), now func() time.Time) *Saver {
	s := &Saver{DB: db, Rules: rules, Now: now}
	s.group = sqldb.NewGroup(savedAtOnce, s.flush)
	return s
}

// Run saves what is handed in until ctx ends. Two may run side by side where
// the database has more than one writer.
func (s *Saver) Run(ctx context.Context) error { return s.group.Run(ctx) }

// Save saves one draft and waits until that is durable. The error is the
// draft's own fault, or that nothing could be saved.
func (s *Saver) Save(ctx context.Context, tenant id.Tenant, d Draft) (Outcome, error) {
	e := &saveRequest{tenant: tenant, draft: d}
	var err error
	if s.group == nil {
		err = s.flush(ctx, []*saveRequest{e})
	} else {
		err = s.group.Within(ctx, e)
		if errors.Is(err, sqldb.ErrAbandoned) {
			return Outcome{}, err
		}
	}
	return e.saved, cmp.Or(e.saved.Err, err, e.err)
}

// flush saves a batch in one transaction. When that fails, everybody is tried
// alone, so that nobody fails for another.
func (s *Saver) flush(ctx context.Context, batch []*saveRequest) error {
	ctx, cancel := fault.Within(ctx, savedWithin)
	defer cancel()
	err := s.together(ctx, batch)
	if err == nil {
		return nil
	}
	if len(batch) == 1 {
		batch[0].err = err
		return nil
	}
	if ctx.Err() != nil { // the database hangs
		return err
	}
	for _, e := range batch {
		e.err = s.together(ctx, []*saveRequest{e})
	}
	return nil
}

func (s *Saver) together(ctx context.Context, batch []*saveRequest) error {
	var order []id.Tenant
	byTenant := map[id.Tenant][]*saveRequest{}
	for _, e := range batch {
		if byTenant[e.tenant] == nil {
			order = append(order, e.tenant)
		}
		byTenant[e.tenant] = append(byTenant[e.tenant], e)
	}
	err := s.DB.InTx(ctx, func(tx *sqldb.DB) error {
		for _, t := range order {
			if err := s.tenant(ctx, tx, t, byTenant[t]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fault.Timely(ctx, fmt.Errorf("save contacts of several callers: %w", err))
	}
	return nil
}

func (s *Saver) tenant(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, batch []*saveRequest) error {
	rules, err := s.Rules(ctx, tx, tenant)
	if err != nil {
		return err
	}
	drafts := make([]Draft, len(batch))
	for i, e := range batch {
		drafts[i] = e.draft
	}
	list, err := SaveAll(ctx, tx, tenant, drafts, rules, s.Now())
	if err != nil {
		return err
	}
	for i, e := range batch {
		e.saved = list[i]
	}
	return nil
}
