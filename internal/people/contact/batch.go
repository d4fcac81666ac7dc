package contact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Mode says what a Draft may do.
type Mode int

// The modes.
const (
	Upserting       Mode = iota // create or merge
	Creating                    // fail if a contact has the address, unless it is pending
	Updating                    // fail if no contact has the address
	CreatingMissing             // create, unless a contact has the address; that one is not changed
)

// Draft is a request to create or change one contact.
type Draft struct {
	Email  string
	ID     id.Contact // not empty: update the contact with this id; Email is ignored
	Mode   Mode
	Trace  bool // Outcome.Replaced is wanted
	New    bool // expect that no contact has the address: do not look it up first. A Saver looks up all
	Change Change

	// If is the condition on the revision of the contact with ID, and By the author of the change. The zero
	// values are those of the context.
	If revision.Condition
	By id.Author
}

// Outcome is the result of a Draft.
type Outcome struct {
	Contact Contact
	Created bool
	Changed bool
	Stopped bool // Change.Status made it pending, unsubscribed, bounced, complained or deleted
	// Replaced has, if the draft was to be traced, what it and the other drafts of the contact replaced; nil if it is
	// not the first of them.
	Replaced *Replaced
	Err      error // a fault of this draft alone; other drafts are saved
}

// ErrAnonymized reports a change of an anonymised contact.
var ErrAnonymized = fault.New(fault.Conflict, "INVALID_TRANSITION", "the contact is anonymised")

// SaveAll saves many drafts in one transaction and returns their outcomes in the same
// order. A draft that fails with a fault changes nothing; other errors are returned. Two
// drafts of one contact are applied one after the other.
//
// A few statements read, and then write, the contacts of all drafts together, so that a
// thousand rows of an import need no more statements than one.
func SaveAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, drafts []Draft, r Rules, now time.Time) ([]Outcome, error) {
	return saveAll(ctx, db, tenant, drafts, r, now)
}

// LoadAll is a faster SaveAll for drafts of which all are expected to be New. If a contact
// has one of the addresses or external ids already, it may fail with an error that is
// sqldb.IsUniqueViolation, which also ends the caller's transaction. Outcomes of drafts of
// the same contact share maps and lists.
func LoadAll(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, drafts []Draft, r Rules, now time.Time) ([]Outcome, error) {
	return saveAll(ctx, tx, tenant, drafts, r, now, func(b *batch) { b.load = true })
}

func saveAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, drafts []Draft, r Rules, now time.Time, options ...func(*batch)) ([]Outcome, error) {
	var out []Outcome
	save := func(tx *sqldb.DB) error {
		b := &batch{tenant: tenant, rules: r, now: micros(now), author: revision.AuthorOf(ctx), drafts: drafts, outcomes: make([]Outcome, len(drafts))}
		for _, set := range options {
			set(b)
		}
		out = b.outcomes
		return b.run(ctx, tx)
	}
	err := db.InTx(ctx, save)
	if sqldb.IsUniqueViolation(err) && !db.InTransaction() { // another transaction took a key after it was looked up
		err = db.InTx(ctx, save)
	}
	if err != nil {
		return nil, fmt.Errorf("save contacts: %w", err)
	}
	return out, nil
}

// Check returns the fault with which the change would fail for any existing contact, or
// nil.
func (ch Change) Check(ctx context.Context, db *sqldb.DB, tenant id.Tenant, r Rules) error {
	b := &batch{tenant: tenant, rules: r, drafts: []Draft{{ID: id.New[id.Contact](), Change: ch}}, outcomes: make([]Outcome, 1)}
	if err := b.check(ctx, db); err != nil {
		return fmt.Errorf("check a change of contacts: %w", err)
	}
	return b.outcomes[0].Err
}

// batch is the state of a SaveAll.
type batch struct {
	tenant   id.Tenant
	rules    Rules
	now      time.Time
	author   id.Author // of drafts without one
	drafts   []Draft
	outcomes []Outcome

	settings  *settings // nil: not read yet
	checked   []checked
	existing  map[id.Contact]bool // contacts that custom fields refer to
	remaining *int                // contacts that may still be created; nil: not counted yet
	lookUpAll bool                // look up all addresses, also of New drafts
	load      bool                // an address that is taken may fail the transaction
	loaded    *mergeState         // for the first round: all addresses were looked up; nil: to be read
	alone     bool                // nothing else is in the transaction: it may fail, and is then repeated without alone
}

// settings are what a tenant defines about its contacts.
type settings struct {
	stages *[]Stage
	fields field.Catalog // empty if no draft has custom fields
}

// queueSettings reads the settings that drafts need, as part of a batch of tx, and locks
// the stages. The batch fills what it returns.
func queueSettings(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, drafts []Draft) *settings {
	s := &settings{}
	if slices.ContainsFunc(drafts, func(d Draft) bool { return len(d.Change.CustomFields) > 0 }) {
		s.fields = field.QueueLoad(b, tenant)
	}
	s.stages = queueShareLockStages(b, tx, tenant)
	return s
}

func (b *batch) run(ctx context.Context, tx *sqldb.DB) error {
	if err := b.check(ctx, tx); err != nil {
		return err
	}
	waiting := make([]int, 0, len(b.drafts))
	for i := range b.drafts {
		if b.outcomes[i].Err == nil {
			waiting = append(waiting, i)
		}
	}
	// A round leaves drafts whose address or external id another transaction took
	// meanwhile, and those marked New whose contact exists. The next round finds these
	// contacts.
	for round := range 4 {
		if len(waiting) == 0 {
			return nil
		}
		b.lookUpAll = round > 0 || b.loaded != nil || b.rules.Limit != nil // an existing contact must not count against the limit
		var err error
		if waiting, err = b.round(ctx, tx, waiting); err != nil {
			return err
		}
	}
	for _, i := range waiting {
		b.outcomes[i] = Outcome{Err: ErrDuplicateExternalID}
	}
	return nil
}

// check validates each draft, without looking at its contact.
func (b *batch) check(ctx context.Context, tx *sqldb.DB) error {
	if b.settings == nil {
		q := tx.Batch()
		b.settings = queueSettings(q, tx, b.tenant, b.drafts)
		if err := q.Run(ctx); err != nil {
			return err
		}
	}
	b.checked = make([]checked, len(b.drafts))
	referenced := map[id.Contact]bool{}
	for i, d := range b.drafts {
		ch, err := d.check(b.settings.fields, b.rules.Types)
		if err == nil {
			err = ch.checkStages(*b.settings.stages)
		}
		b.checked[i], b.outcomes[i].Err = ch, err
		for _, c := range ch.references {
			referenced[c] = true
		}
	}
	if len(referenced) == 0 {
		return nil
	}
	var err error
	if b.existing, err = Existing(ctx, tx, b.tenant, slices.Collect(maps.Keys(referenced))); err != nil {
		return err
	}
	for i, ch := range b.checked {
		for _, key := range slices.Sorted(maps.Keys(ch.references)) {
			if b.outcomes[i].Err == nil && !b.existing[ch.references[key]] {
				b.outcomes[i].Err = field.Misfit(key, "the id of an existing contact")
			}
		}
	}
	return nil
}

// checkStages checks that the stages exist.
func (c checked) checkStages(stages []Stage) error {
	for _, s := range []*id.Stage{c.stage, c.stageIfNew} {
		if s != nil && !s.IsZero() && !slices.ContainsFunc(stages, func(st Stage) bool { return st.ID == *s }) {
			return ErrInvalidStage
		}
	}
	return nil
}

// round reads, merges and writes the contacts of the given drafts, and returns the drafts
// that need another round.
func (b *batch) round(ctx context.Context, tx *sqldb.DB, which []int) ([]int, error) {
	p, err := b.loadMergeState(ctx, tx, which)
	if err != nil {
		return nil, err
	}
	last := b.alone
	for _, i := range which {
		b.outcomes[i] = b.applyDraft(ctx, tx, p, i)
		if err := b.outcomes[i].Err; err == errLookUp {
			last = false
		} else if err != nil {
			if _, ok := fault.As(err); !ok {
				return nil, err
			}
		}
	}
	taken, err := p.save(ctx, tx, last)
	if err != nil {
		return nil, err
	}
	var again []int
	for _, i := range which {
		o := &b.outcomes[i]
		if o.Err == errLookUp || o.Err == nil && taken[o.Contact.ID] {
			again = append(again, i)
			continue
		}
		if o.Err != nil {
			continue
		}
		one := p.byID[o.Contact.ID]
		if b.load {
			o.Contact = one.c
		} else {
			o.Contact = one.copy()
		}
		if one.before != nil {
			o.Replaced, one.before = one.before.replacedBy(&o.Contact), nil
		}
	}
	return again, nil
}

// errLookUp is the outcome in a round of a draft that was expected to be New, but may be of
// an existing contact.
var errLookUp = errors.New("the contact has to be looked up")

// expectsNew reports whether a draft's address is not looked up in this round.
func (b *batch) expectsNew(d Draft) bool {
	return (d.New || b.load) && !b.lookUpAll && d.ID.IsZero() && d.Mode != Updating
}

// applyDraft applies one draft in memory.
func (b *batch) applyDraft(ctx context.Context, tx *sqldb.DB, p *mergeState, i int) Outcome {
	d, ch := b.drafts[i], b.checked[i]
	old := p.find(d.ID, ch.email)
	refuse := func(err error) Outcome { return Outcome{Err: err} }
	by := cmp.Or(d.By, b.author)
	if old != nil && !d.ID.IsZero() {
		if err := d.If.Compare(old.c.revision()); err != nil {
			return refuse(err)
		}
	}
	gone := old != nil && old.c.Withdrawn && d.ID.IsZero() // as if it had never been there
	switch {
	case old == nil && !d.ID.IsZero():
		return refuse(ErrNotFound)
	case (old == nil || gone) && d.Mode == Updating:
		return refuse(ErrNotFound)
	case gone:
		if err := b.countBilled(ctx, tx, ch); err != nil {
			return refuse(err)
		}
		return p.createAgain(old, ch, by)
	case old == nil:
		if err := b.countBilled(ctx, tx, ch); err != nil {
			return refuse(err)
		}
		o := p.create(ch, by)
		if o.Err == ErrDuplicateExternalID && b.expectsNew(d) {
			return refuse(errLookUp) // the key may be that of the contact with the address
		}
		return o
	case old.c.AnonymizedAt != nil:
		return refuse(ErrAnonymized)
	case d.Mode == CreatingMissing:
		return Outcome{Contact: old.c}
	case d.ID.IsZero() && d.Mode == Creating && old.c.Status != Pending:
		return refuse(ErrDuplicateEmail.With(existing{old.c.ID, old.c.Status}))
	}
	if d.Trace && !old.isNew && old.before == nil {
		old.before = new(old.copy())
	}
	return p.merge(old, ch, by)
}

// countBilled counts a new contact against the tenant's limit, unless it is one that is not billed.
func (b *batch) countBilled(ctx context.Context, tx *sqldb.DB, ch checked) error {
	if ch.pending() || ch.status == Suppressed {
		return nil
	}
	return b.countNew(ctx, tx)
}

// countNew counts a new contact against the tenant's limit. Transactions that create
// contacts of a tenant with a limit run one after another, so that two of them cannot both
// create the last one.
func (b *batch) countNew(ctx context.Context, tx *sqldb.DB) error {
	limit := b.rules.Limit
	if limit == nil {
		return nil
	}
	if b.remaining == nil {
		_, err := tx.Exec(ctx, `
			INSERT INTO contact_turn (tenant_id) VALUES ($1)
			ON CONFLICT (tenant_id) DO UPDATE SET tenant_id = excluded.tenant_id`, b.tenant)
		if err != nil {
			return err
		}
		n, err := Billable(ctx, tx, b.tenant)
		if err != nil {
			return err
		}
		b.remaining = new(*limit - n)
	}
	if *b.remaining <= 0 {
		return ErrLimit.Sayf("the tenant may have at most %d contacts", *limit)
	}
	*b.remaining--
	return nil
}
