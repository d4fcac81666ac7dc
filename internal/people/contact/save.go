package contact

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/groupcommit"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Rules are the conditions of a write that other packages define.
type Rules struct {
	Types  Types
	Limit  *int // billable contacts the tenant may have; nil: any number
	Listed QueueListed
}

// QueueListed looks up, as part of a batch of tx, which addresses are on the suppression list.
// The batch fills the map that it returns.
type QueueListed func(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, emails []string) map[string]bool

// existing are the details of ErrDuplicateEmail.
type existing struct {
	ContactID    id.Contact `json:"contact_id"`
	GlobalStatus Status     `json:"global_status"`
}

// Create creates a contact. It fails if a contact has the address (ErrDuplicateEmail),
// unless that contact is pending: then the change is merged into it and it becomes active.
func Create(ctx context.Context, db *sqldb.DB, tenant id.Tenant, email string, ch Change, r Rules, now time.Time) (Contact, error) {
	o, err := saveOne(ctx, db, tenant, Draft{Email: email, Mode: Creating, Change: ch}, r, now)
	return o.Contact, err
}

// Upsert creates a contact or merges the change into the one with the address, and reports
// whether it was created. A deleted contact stays deleted; a pending one becomes active.
func Upsert(ctx context.Context, db *sqldb.DB, tenant id.Tenant, email string, ch Change, r Rules, now time.Time) (Contact, bool, error) {
	o, err := saveOne(ctx, db, tenant, Draft{Email: email, Change: ch}, r, now)
	return o.Contact, o.Created, err
}

// Update changes the contact with an id.
func Update(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contact id.Contact, ch Change, r Rules, now time.Time) (Contact, error) {
	o, err := saveOne(ctx, db, tenant, Draft{ID: contact, Change: ch}, r, now)
	return o.Contact, err
}

func saveOne(ctx context.Context, db *sqldb.DB, tenant id.Tenant, d Draft, r Rules, now time.Time) (Outcome, error) {
	list, err := SaveAll(ctx, db, tenant, []Draft{d}, r, now)
	if err != nil {
		return Outcome{}, err
	}
	return list[0], list[0].Err
}

// Saver saves single drafts of many callers in common transactions: drafts that arrive
// while one transaction commits are saved together by the next. Each caller gets its own
// outcome, after its contact is durable.
//
// A Saver not created by NewSaver saves each draft in a transaction of its own.
type Saver struct {
	DB     *sqldb.DB
	Rules  QueueRules
	Listed QueueListed // that of the rules
	Now    func() time.Time

	group *groupcommit.Group[*saveRequest]
}

// QueueRules reads the rules of a tenant as part of a batch. It returns a function to be
// called after the batch has run.
type QueueRules func(b *sqldb.Batch, tenant id.Tenant) func() (Rules, error)

// saveRequest is a draft that waits to be saved.
type saveRequest struct {
	tenant id.Tenant
	draft  Draft
	saved  Outcome
}

// maxTogether is the maximal number of drafts in one transaction.
const maxTogether = 200

// NewSaver returns a Saver that groups drafts. Save works while Run does.
func NewSaver(db *sqldb.DB, rules QueueRules, listed QueueListed, now func() time.Time) *Saver {
	s := &Saver{DB: db, Rules: rules, Listed: listed, Now: now}
	s.group = groupcommit.New(maxTogether, s.write)
	return s
}

// Run saves drafts until ctx ends. Where the database has more than one writer, Run may be
// called more than once at a time.
func (s *Saver) Run(ctx context.Context) error { return s.group.Run(ctx) }

// Save saves one draft and waits until it is durable. The error is the draft's fault, or
// that of the transaction.
func (s *Saver) Save(ctx context.Context, tenant id.Tenant, d Draft) (Outcome, error) {
	if d.If, d.By = Revisions.Condition(ctx), revision.AuthorOf(ctx); d.ID.IsZero() {
		d.If = revision.Condition{}
	}
	e := &saveRequest{tenant: tenant, draft: d}
	var err error
	if s.group == nil {
		err = s.write(ctx, []*saveRequest{e})
	} else {
		err = s.group.Within(ctx, e)
	}
	if err != nil {
		return Outcome{}, err
	}
	return e.saved, e.saved.Err
}

// write saves a batch in one transaction.
func (s *Saver) write(ctx context.Context, batch []*saveRequest) error {
	// In a transaction of the caller, more may follow.
	alone := !s.DB.InTransaction() && !slices.ContainsFunc(batch, func(e *saveRequest) bool { return e.tenant != batch[0].tenant })
	write := func(tx *sqldb.DB) error {
		for t, own := range id.ByTenant(batch, func(e *saveRequest) id.Tenant { return e.tenant }) {
			if err := s.saveTenant(ctx, tx, t, own, alone); err != nil {
				return err
			}
		}
		return nil
	}
	err := s.DB.InTx(ctx, write)
	if alone && sqldb.IsUniqueViolation(err) { // another transaction took a key after it was looked up
		alone = false
		err = s.DB.InTx(ctx, write)
	}
	if err != nil {
		return fmt.Errorf("save contacts of several callers: %w", err)
	}
	return nil
}

// saveTenant saves the drafts of a tenant. If they are alone in the transaction, it expects that
// the keys of new contacts are still free when they are written, and commits with the same round
// trip.
func (s *Saver) saveTenant(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, requests []*saveRequest, alone bool) error {
	drafts := make([]Draft, len(requests))
	for i, e := range requests {
		drafts[i] = e.draft
	}
	// The contacts are read together with the rules by which the drafts are checked.
	b := tx.Batch()
	rules, settings, state := s.Rules(b, tenant), queueSettings(b, tx, tenant, drafts), &mergeState{}
	state.queue(b, tx, tenant, keysOf(drafts, everyAddress), s.Listed)
	if err := b.Run(ctx); err != nil {
		return fmt.Errorf("read the rules of contacts: %w", err)
	}
	r, err := rules()
	if err != nil {
		return err
	}
	list, err := saveAll(ctx, tx, tenant, drafts, r, s.Now(), func(b *batch) {
		b.settings, b.loaded, b.alone = settings, state, alone
	})
	if err != nil {
		return err
	}
	for i, e := range requests {
		e.saved = list[i]
	}
	return nil
}
