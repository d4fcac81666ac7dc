package bulk

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/segment"
	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/suppression"
)

// Result is what an action did. Affected and Skipped together are everybody who
// was meant, those who do not exist included; Matched are those who do.
type Result struct {
	Action   Action     `json:"action"`
	Matched  int        `json:"matched"`
	Affected int        `json:"affected"` // changed
	Skipped  int        `json:"skipped"`  // not changed: there was nothing to change, or Errors say why
	Errors   []Refusal  `json:"errors"`
	Results  []Enrolled `json:"results,omitempty"` // of Enroll
}

// Refusal is why one contact was passed over.
type Refusal struct {
	Contact id.Contact `json:"contact_id"`
	Code    string     `json:"code"`
}

// Enrolled is what became of one contact that was to be enrolled.
type Enrolled struct {
	Contact    id.Contact `json:"contact_id"`
	Status     string     `json:"status"`
	Enrollment string     `json:"enrollment_id,omitempty"`
	New        bool       `json:"-"` // it was not in the sequence before
}

// Sequences is asked about sequences by those who do not keep them.
type Sequences interface {
	// Known reports whether the tenant has the sequence.
	Known(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sequence id.Sequence) (bool, error)
	// Enroll puts contacts into the sequence and says of each what became of it.
	Enroll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sequence id.Sequence, contacts []id.Contact, now time.Time) ([]Enrolled, error)
	// Exit takes contacts out of the sequence and returns those that were in it.
	Exit(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sequence id.Sequence, contacts []id.Contact, now time.Time) ([]id.Contact, error)
}

// Apply carries out a request for contacts, at most MaxIDs of them and each
// named once, in one transaction.
func (d Runner) Apply(ctx context.Context, db *sqldb.DB, tenant id.Tenant, r Request, ids []id.Contact, now time.Time) (Result, error) {
	var res Result
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		w := &work{Runner: d, tenant: tenant, request: r, now: now, codes: make(map[id.Contact]string)}
		there, err := w.admit(ctx, tx, ids)
		if err != nil {
			return err
		}
		if len(there) > 0 {
			if err := w.do(ctx, tx, there); err != nil {
				return err
			}
		}
		res = w.result(ids)
		return nil
	})
	if err != nil {
		return Result{}, fmt.Errorf("do %s: %w", r.Action, err)
	}
	return res, nil
}

// work is an action under way.
type work struct {
	Runner
	tenant  id.Tenant
	request Request
	now     time.Time

	affected int
	unknown  int
	codes    map[id.Contact]string // why contacts are passed over
	enrolled []Enrolled
}

// admit returns the contacts to whom something can be done at all.
func (w *work) admit(ctx context.Context, tx *sqldb.DB, ids []id.Contact) ([]id.Contact, error) {
	existing, err := contact.Existing(ctx, tx, w.tenant, ids)
	if err != nil {
		return nil, err
	}
	named, err := contact.Emails(ctx, tx, w.tenant, ids) // those who are not anonymised
	if err != nil {
		return nil, err
	}
	there := make([]id.Contact, 0, len(ids))
	for _, c := range ids {
		_, somebody := named[c]
		switch {
		case !existing[c]:
			w.codes[c] = contact.ErrNotFound.Code
			w.unknown++
		case somebody, w.request.Action == Anonymize, w.request.Action == Delete:
			there = append(there, c)
		default:
			w.codes[c] = contact.ErrAnonymized.Code
		}
	}
	slices.SortFunc(there, id.Compare) // one order of locks for everybody
	return there, nil
}

func (w *work) do(ctx context.Context, tx *sqldb.DB, ids []id.Contact) error {
	p := w.request.Params
	switch w.request.Action {
	case AddTags:
		return w.save(ctx, tx, ids, contact.Change{Tags: &p.Tags})
	case RemoveTags:
		return w.save(ctx, tx, ids, contact.Change{RemoveTags: p.Tags})
	case SetStage:
		return w.save(ctx, tx, ids, contact.Change{Stage: new(p.Stage.String())})
	case SetField:
		ch, problem := p.set()
		if problem.Path != "" {
			return fault.Input(problem)
		}
		return w.save(ctx, tx, ids, ch)
	case SetDoNotContact:
		return w.save(ctx, tx, ids, contact.Change{DoNotContact: &p.Block})
	case Subscribe, Unsubscribe:
		return w.consent(ctx, tx, ids)
	case AddToList, RemoveFromList:
		return w.list(ctx, tx, ids)
	case Suppress:
		return w.suppress(ctx, tx, ids)
	case Enroll, ExitSequence:
		return w.sequence(ctx, tx, ids)
	case Delete:
		return w.moved(contact.Delete(ctx, tx, w.tenant, ids, w.now))
	case Restore:
		rules, err := sender.ContactRules(ctx, tx, w.tenant)
		if err != nil {
			return err
		}
		return w.moved(contact.Restore(ctx, tx, w.tenant, ids, rules.Limit, w.now))
	case ResetStatus:
		return w.moved(suppression.ResetStatus(ctx, tx, w.tenant, ids, w.now))
	case Anonymize:
		return w.moved(suppression.Anonymize(ctx, tx, w.tenant, ids, p.Keep, w.Holdings, w.now))
	}
	return fmt.Errorf("unknown action %q", w.request.Action)
}

// save changes the profile of contacts.
func (w *work) save(ctx context.Context, tx *sqldb.DB, ids []id.Contact, ch contact.Change) error {
	rules, err := sender.ContactRules(ctx, tx, w.tenant)
	if err != nil {
		return err
	}
	drafts := make([]contact.Draft, len(ids))
	for i, c := range ids {
		drafts[i] = contact.Draft{ID: c, Change: ch}
	}
	outcomes, err := contact.SaveAll(ctx, tx, w.tenant, drafts, rules, w.now)
	if err != nil {
		return err
	}
	for i, o := range outcomes {
		if f, ok := fault.As(o.Err); ok {
			w.codes[ids[i]] = f.Code
		} else if o.Changed {
			w.affected++
		}
	}
	return nil
}

// moved counts what a move of package contact did.
func (w *work) moved(list []contact.Moved, err error) error {
	for _, m := range list {
		switch {
		case m.Err != nil:
			w.codes[m.Contact] = m.Code()
		case m.Changed:
			w.affected++
		}
	}
	return err
}

// consent gives or takes back consent: to one type of mail, or to all of it,
// where only a person lifts what the contact itself has ended.
func (w *work) consent(ctx context.Context, tx *sqldb.DB, ids []id.Contact) error {
	on := w.request.Action == Subscribe
	all := contact.UnsubscribeScope{Everything: true}
	switch key := w.request.Params.TypeKey; {
	case key != "":
		return w.save(ctx, tx, ids, contact.Change{Subscriptions: map[string]*bool{key: &on}})
	case on:
		return w.moved(contact.Subscribe(ctx, tx, w.tenant, ids, all, !w.request.ByKey, w.now))
	}
	return w.moved(contact.UnsubscribeMany(ctx, tx, w.tenant, ids, all, w.now))
}

func (w *work) list(ctx context.Context, tx *sqldb.DB, ids []id.Contact) error {
	segmentID, who := w.request.Params.Segment, segment.People{IDs: ids}
	if w.request.Action == RemoveFromList {
		r, err := segment.Remove(ctx, tx, w.tenant, segmentID, who, w.now)
		w.affected += r.Removed
		return err
	}
	r, err := segment.Add(ctx, tx, w.tenant, segmentID, who, w.now)
	w.affected += r.Added
	return err
}

// suppress counts whom it changes before it does, for the suppression list says
// only how many it was about.
func (w *work) suppress(ctx context.Context, tx *sqldb.DB, ids []id.Contact) error {
	for part := range slices.Chunk(ids, suppression.MaxBulk) {
		people, err := contact.Load(ctx, tx, w.tenant, part)
		if err != nil {
			return err
		}
		emails := make([]string, len(people))
		for i, c := range people {
			emails[i] = c.Email
		}
		listed, err := suppression.Listed(ctx, tx, w.tenant, emails)
		if err != nil {
			return err
		}
		for _, c := range people {
			if !listed[c.Email] || c.UnsubscribedAt == nil {
				w.affected++
			}
		}
		if _, err := suppression.SuppressContacts(ctx, tx, w.tenant, part, w.request.Params.Reason, w.now); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) sequence(ctx context.Context, tx *sqldb.DB, ids []id.Contact) error {
	sequence := w.request.Params.Sequence
	if w.Sequences == nil {
		return ErrNoSequence
	}
	if w.request.Action == ExitSequence {
		gone, err := w.Sequences.Exit(ctx, tx, w.tenant, sequence, ids, w.now)
		w.affected += len(gone)
		return err
	}
	list, err := w.Sequences.Enroll(ctx, tx, w.tenant, sequence, ids, w.now)
	for _, e := range list {
		if e.New {
			w.affected++
		}
	}
	w.enrolled = list
	return err
}

// result adds everything up; the refusals are in the order of ids.
func (w *work) result(ids []id.Contact) Result {
	r := Result{
		Action: w.request.Action, Matched: len(ids) - w.unknown,
		Affected: w.affected, Skipped: len(ids) - w.affected, Errors: []Refusal{}, Results: w.enrolled,
	}
	for _, c := range ids {
		if code := w.codes[c]; code != "" {
			r.Errors = append(r.Errors, Refusal{c, code})
		}
	}
	return r
}
