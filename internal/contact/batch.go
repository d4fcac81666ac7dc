package contact

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/field"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Mode says what a Draft may do.
type Mode int

// The modes.
const (
	Upserting Mode = iota // create or merge
	Creating              // refuse an address that is taken, unless its contact is pending
	Updating              // pass over an address that nobody has
)

// Draft is what somebody says about one contact.
type Draft struct {
	Email  string
	ID     id.Contact // not empty: the contact with this id is updated, whatever the address
	Mode   Mode
	New    bool // nobody is expected to have the address: it is not looked up first
	Change Change
}

// Outcome is what became of a Draft.
type Outcome struct {
	Contact Contact
	Created bool
	Changed bool
	Err     error // a fault of this draft alone; the others stand
}

// ErrAnonymized refuses to write about a person who is forgotten.
var ErrAnonymized = fault.New(fault.Conflict, "INVALID_TRANSITION", "the contact is anonymised")

// SaveAll saves many drafts in one transaction and says what became of each, in
// their order. A draft that is refused changes nothing; an error that concerns
// them all is returned. Two drafts of one contact take effect one after the other.
//
// Everything is read, and then written, by a few statements for all drafts
// together: what one request costs alone, a thousand rows of an import share.
func SaveAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, drafts []Draft, r Rules, now time.Time) ([]Outcome, error) {
	return saveAll(ctx, db, tenant, drafts, r, now, false)
}

// LoadAll is SaveAll for many drafts that are all expected to be New, which it writes
// faster. When somebody has an address or an external id already, it may fail with an
// error that is sqldb.IsUniqueViolation, and the caller's transaction with it. Outcomes share
// maps and lists where drafts are of one contact.
func LoadAll(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, drafts []Draft, r Rules, now time.Time) ([]Outcome, error) {
	return saveAll(ctx, tx, tenant, drafts, r, now, true)
}

func saveAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, drafts []Draft, r Rules, now time.Time, load bool) ([]Outcome, error) {
	var out []Outcome
	save := func(tx *sqldb.DB) error {
		b := &batch{tenant: tenant, rules: r, now: micros(now), drafts: drafts, outcomes: make([]Outcome, len(drafts)), load: load}
		out = b.outcomes
		return b.run(ctx, tx)
	}
	err := db.InTx(ctx, save)
	if sqldb.IsUniqueViolation(err) && !db.Transacting() { // somebody took a key between our look and our write
		err = db.InTx(ctx, save)
	}
	if err != nil {
		return nil, fmt.Errorf("save contacts: %w", err)
	}
	return out, nil
}

// batch is a SaveAll under way.
type batch struct {
	tenant   id.Tenant
	rules    Rules
	now      time.Time
	drafts   []Draft
	outcomes []Outcome

	stages   []Stage
	checked  []checked
	existing map[id.Contact]bool // of those that custom fields refer to
	room     *int                // contacts that may still be made; nil: any number
	looked   bool                // everybody is looked up by now, New or not
	load     bool                // a new contact whose address is taken may fail the transaction
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
	// A round leaves over those whose address or external id somebody else took
	// at this very moment, and those who are not New: the next one finds them.
	for round := range 4 {
		if len(waiting) == 0 {
			return nil
		}
		b.looked = round > 0 || b.rules.Limit != nil // no place is taken for who is there
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

// check judges every draft by itself.
func (b *batch) check(ctx context.Context, tx *sqldb.DB) error {
	var catalog field.Catalog
	if slices.ContainsFunc(b.drafts, func(d Draft) bool { return len(d.Change.CustomFields) > 0 }) {
		var err error
		if catalog, err = field.Load(ctx, tx, b.tenant); err != nil {
			return err
		}
	}
	var err error
	if b.stages, err = stagesThatStay(ctx, tx, b.tenant); err != nil {
		return err
	}
	b.checked = make([]checked, len(b.drafts))
	wanted := map[id.Contact]bool{}
	for i, d := range b.drafts {
		ch, err := d.check(catalog, b.rules.Types)
		if err == nil {
			err = ch.staged(b.stages)
		}
		b.checked[i], b.outcomes[i].Err = ch, err
		for _, c := range ch.references {
			wanted[c] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	if b.existing, err = Existing(ctx, tx, b.tenant, slices.Collect(maps.Keys(wanted))); err != nil {
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

// staged checks that the stages are the tenant's.
func (c checked) staged(stages []Stage) error {
	for _, s := range []*id.Stage{c.stage, c.stageIfNew} {
		if s != nil && !s.IsZero() && !slices.ContainsFunc(stages, func(st Stage) bool { return st.ID == *s }) {
			return ErrInvalidStage
		}
	}
	return nil
}

// round takes the given drafts through reading, merging and writing, and
// returns those that have to be taken again.
func (b *batch) round(ctx context.Context, tx *sqldb.DB, which []int) ([]int, error) {
	p, err := b.loadMergeState(ctx, tx, which)
	if err != nil {
		return nil, err
	}
	for _, i := range which {
		b.outcomes[i] = b.one(ctx, tx, p, i)
		if err := b.outcomes[i].Err; err != nil && err != errLookUp {
			if _, ok := fault.As(err); !ok {
				return nil, err
			}
		}
	}
	taken, err := p.write(ctx, tx)
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
		if b.load {
			o.Contact = p.byID[o.Contact.ID].c
		} else {
			o.Contact = p.byID[o.Contact.ID].copy()
		}
	}
	return again, nil
}

// errLookUp is the outcome of a round for a draft that was expected to be New.
var errLookUp = errors.New("the contact has to be looked up")

// expectsNew reports whether a draft's address is not looked up in this round.
func (b *batch) expectsNew(d Draft) bool {
	return (d.New || b.load) && !b.looked && d.ID.IsZero() && d.Mode != Updating
}

// one takes one draft into account, in memory.
func (b *batch) one(ctx context.Context, tx *sqldb.DB, p *mergeState, i int) Outcome {
	d, ch := b.drafts[i], b.checked[i]
	old := p.find(d.ID, ch.email)
	refuse := func(err error) Outcome { return Outcome{Err: err} }
	switch {
	case old == nil && !d.ID.IsZero():
		return refuse(ErrNotFound)
	case old == nil && d.Mode == Updating:
		return refuse(ErrNotFound)
	case old == nil:
		if err := b.enter(ctx, tx); err != nil {
			return refuse(err)
		}
		o := p.create(ch)
		if o.Err == ErrDuplicateExternalID && b.expectsNew(d) {
			return refuse(errLookUp) // the key may be that of the contact with the address
		}
		return o
	case old.c.AnonymizedAt != nil:
		return refuse(ErrAnonymized)
	case d.ID.IsZero() && d.Mode == Creating && old.c.Status != Pending:
		return refuse(ErrDuplicateEmail.With(existing{old.c.ID, old.c.Status}))
	}
	return p.merge(old, ch)
}

// enter takes one of the places that the tenant's limit leaves. Creations of a
// limited tenant take turns, so that two at once do not share the last place.
func (b *batch) enter(ctx context.Context, tx *sqldb.DB) error {
	limit := b.rules.Limit
	if limit == nil {
		return nil
	}
	if b.room == nil {
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
		b.room = new(*limit - n)
	}
	if *b.room <= 0 {
		return ErrLimit.Sayf("the account may have at most %d contacts", *limit)
	}
	*b.room--
	return nil
}
