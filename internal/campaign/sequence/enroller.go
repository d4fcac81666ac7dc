package sequence

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/groupcommit"
)

// Enroller carries out requests of many callers in common transactions: requests that arrive while one
// transaction commits are carried out together by the next. Each caller gets its own receipt, after
// its enrollment is durable.
//
// An Enroller not created by NewEnroller carries out each request in a transaction of its own.
type Enroller struct {
	DB    *sqldb.DB
	Rules ContactRules
	Now   func() time.Time

	group *groupcommit.Group[*waitingRequest]
}

// ContactRules reads the rules of a tenant's contacts.
type ContactRules func(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (contact.Rules, error)

// waitingRequest is a request that waits to be carried out.
type waitingRequest struct {
	tenant   id.Tenant
	sequence id.Sequence
	Request
	receipt Receipt
	alone   bool  // it must have a transaction of its own
	err     error // of that transaction
}

// maxTogether is the maximal number of requests in one transaction.
const maxTogether = 100

// NewEnroller returns an Enroller that groups requests. Enroll works while Run does.
func NewEnroller(db *sqldb.DB, rules ContactRules, now func() time.Time) *Enroller {
	e := &Enroller{DB: db, Rules: rules, Now: now}
	e.group = groupcommit.New(maxTogether, e.write)
	return e
}

// Run carries out requests until ctx ends. Where the database has more than one writer, Run may be
// called more than once at a time.
func (e *Enroller) Run(ctx context.Context) error { return e.group.Run(ctx) }

// Enroll carries out a request, as the function Enroll does, and waits until it is durable.
func (e *Enroller) Enroll(ctx context.Context, tenant id.Tenant, seq id.Sequence, r Request) (Receipt, error) {
	if err := r.Check(); err != nil {
		return Receipt{}, err
	}
	w := &waitingRequest{tenant: tenant, sequence: seq, Request: r}
	var err error
	if e.group == nil {
		err = e.enrollAlone(ctx, w)
	} else {
		err = e.group.Within(ctx, w)
	}
	if err != nil {
		return Receipt{}, err
	}
	return w.receipt, w.err
}

// write carries out requests in one transaction, and those that need one of their own after it.
func (e *Enroller) write(ctx context.Context, batch []*waitingRequest) error {
	if len(batch) == 1 {
		return e.enrollAlone(ctx, batch[0])
	}
	markRepeats(batch)
	if err := e.enrollTogether(ctx, batch); err != nil {
		return err
	}
	for _, w := range batch {
		if w.alone {
			w.err = fault.Timely(ctx, e.enrollAlone(ctx, w))
		}
	}
	return nil
}

// markRepeats marks requests that name the same contact, or have the same key, as an earlier one.
func markRepeats(batch []*waitingRequest) {
	type name struct {
		tenant   id.Tenant
		sequence id.Sequence
		key      string
		contact  id.Contact
		email    string
		external string
	}
	seen := map[name]bool{}
	for _, w := range batch {
		names := []name{
			{tenant: w.tenant, sequence: w.sequence, key: w.Key}, {tenant: w.tenant, contact: w.Contact},
			{tenant: w.tenant, email: w.Email}, {tenant: w.tenant, external: w.ExternalID},
		}
		for i, n := range names {
			if i == 0 && w.Key == "" || i > 0 && n == (name{tenant: w.tenant}) {
				continue
			}
			w.alone = w.alone || seen[n]
			seen[n] = true
		}
	}
}

func (e *Enroller) enrollAlone(ctx context.Context, w *waitingRequest) error {
	rules, err := e.Rules(ctx, e.DB, w.tenant)
	if err != nil {
		return err
	}
	w.receipt, err = Enroll(ctx, e.DB, w.tenant, w.sequence, w.Request, rules, e.Now())
	return err
}

// enrollTogether carries out the requests that are not marked. It marks those that need more than the
// common case: a receipt, a fault, a contact that is found by its external id.
func (e *Enroller) enrollTogether(ctx context.Context, batch []*waitingRequest) error {
	type target struct {
		tenant   id.Tenant
		sequence id.Sequence
	}
	groups := map[target][]*waitingRequest{}
	tenants := map[id.Tenant]bool{}
	for _, w := range batch {
		if w.alone = w.alone || w.Contact.IsZero() && w.Email == ""; !w.alone {
			groups[target{w.tenant, w.sequence}] = append(groups[target{w.tenant, w.sequence}], w)
			tenants[w.tenant] = true
		}
	}
	targets := slices.SortedFunc(maps.Keys(groups), func(a, b target) int {
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), id.Compare(a.sequence, b.sequence))
	})
	if len(targets) == 0 {
		return nil
	}
	return e.DB.InTx(ctx, func(tx *sqldb.DB) error {
		rules := map[id.Tenant]contact.Rules{}
		for _, t := range targets {
			if _, ok := rules[t.tenant]; !ok {
				r, err := e.Rules(ctx, tx, t.tenant)
				if err != nil {
					return err
				}
				rules[t.tenant] = r
			}
			if err := enrollSame(ctx, tx, t.tenant, t.sequence, groups[t], rules[t.tenant], e.Now()); err != nil {
				return fmt.Errorf("enroll the contacts of several callers: %w", err)
			}
		}
		return nil
	})
}

// errAlone means that a transaction must not commit, because one of its requests fails.
var errAlone = errors.New("a request fails after it changed a contact")

// enrollSame carries out the requests to one sequence.
func enrollSame(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, seq id.Sequence, list []*waitingRequest, rules contact.Rules, now time.Time) error {
	s, err := Load(ctx, tx, tenant, seq)
	if errors.Is(err, ErrNotFound) || err == nil && s.Status != Active {
		for _, w := range list {
			w.alone = true
		}
		return nil
	}
	if err != nil {
		return err
	}
	if err := markKnown(ctx, tx, s, list); err != nil {
		return err
	}
	list = slices.DeleteFunc(slices.Clone(list), func(w *waitingRequest) bool { return w.alone })
	drafts := make([]contact.Draft, len(list))
	for i, w := range list {
		drafts[i] = w.draft()
	}
	saved, err := contact.SaveAll(ctx, tx, tenant, drafts, rules, now)
	if err != nil {
		return err
	}
	var done []*waitingRequest
	var candidates []Candidate
	for i, w := range list {
		if saved[i].Err != nil { // nothing has changed
			w.alone = true
			continue
		}
		if saved[i].Contact.AnonymizedAt != nil {
			return errAlone
		}
		done, candidates = append(done, w), append(candidates, Candidate{Contact: saved[i].Contact.ID})
		w.receipt = Receipt{Contact: saved[i].Contact.ID, Created: saved[i].Created}
	}
	results, err := EnrollAll(ctx, tx, s, candidates, now)
	if err != nil {
		return err
	}
	for i, w := range done {
		if results[i].Limited {
			return errAlone
		}
		w.receipt.Status, w.receipt.Enrollment = "duplicate", results[i].Enrollment
		if results[i].New {
			w.receipt.Status = "enrolled"
		}
	}
	return storeReceipts(ctx, tx, s, done, now)
}

// markKnown marks the requests whose key has been used, and those of contacts that do not exist.
func markKnown(ctx context.Context, tx *sqldb.DB, s Sequence, list []*waitingRequest) error {
	var keys []string
	var contacts []id.Contact
	for _, w := range list {
		if w.Key != "" {
			keys = append(keys, w.Key)
		}
		if !w.Contact.IsZero() {
			contacts = append(contacts, w.Contact)
		}
	}
	used := map[string]bool{}
	if len(keys) > 0 {
		rows, err := tx.Query(ctx, `SELECT name FROM sequence_key WHERE tenant_id = $1 AND sequence_id = $2 AND name`+tx.In(3), s.Tenant, s.ID, sqldb.List(tx, keys))
		err = sqldb.Each(rows, err, func(scan func(...any) error) error {
			var key string
			err := scan(&key)
			used[key] = true
			return err
		})
		if err != nil {
			return fmt.Errorf("find the receipts of requests: %w", err)
		}
	}
	existing, err := contact.Existing(ctx, tx, s.Tenant, contacts)
	if err != nil {
		return err
	}
	for _, w := range list {
		w.alone = w.alone || used[w.Key] || !w.Contact.IsZero() && !existing[w.Contact]
	}
	return nil
}

// storeReceipts stores the receipts of requests with keys.
func storeReceipts(ctx context.Context, tx *sqldb.DB, s Sequence, list []*waitingRequest, now time.Time) error {
	t := tx.Table("name TEXT", "result JSONB")
	for _, w := range list {
		if w.Key == "" {
			continue
		}
		text, err := json.Marshal(w.receipt)
		if err != nil {
			return err
		}
		t.Add(w.Key, string(text))
	}
	if t.Len() == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, `DELETE FROM sequence_key WHERE tenant_id = $1 AND expires_at <= $2`, s.Tenant, sqldb.Micros(now)); err != nil {
		return fmt.Errorf("delete expired receipts: %w", err)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO sequence_key (tenant_id, sequence_id, name, result, expires_at)
		SELECT h.tenant_id, `+tx.Param(2, "UUID")+`, v.name, v.result, `+tx.Param(3, "BIGINT")+` FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 4)+` WHERE true`,
		t.Args(s.Tenant, s.ID, sqldb.Micros(now.Add(keyLife)))...)
	if err != nil {
		return fmt.Errorf("store the receipts of requests: %w", err)
	}
	return nil
}
