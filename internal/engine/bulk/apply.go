package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Result is the outcome of an action. Affected plus Skipped is the number of contacts addressed,
// including those that do not exist; Matched is the number of those that exist.
type Result struct {
	Action   Action     `json:"action"`
	Matched  int        `json:"matched"`
	Affected int        `json:"affected"` // changed
	Skipped  int        `json:"skipped"`  // unchanged: no change was needed, or Errors has the reason
	Errors   []Refusal  `json:"errors"`
	Results  []Enrolled `json:"results,omitempty"` // of Enroll
}

// Refusal is the reason why one contact was skipped.
type Refusal struct {
	Contact id.Contact `json:"contact_id"`
	Code    string     `json:"code"`
}

// Enrolled is the result of enrolling one contact.
type Enrolled struct {
	Contact    id.Contact `json:"contact_id"`
	Status     string     `json:"status"`
	Enrollment string     `json:"enrollment_id,omitempty"`
}

// Apply carries out a request for up to MaxIDs distinct contacts in one transaction.
func (d Runner) Apply(ctx context.Context, db *sqldb.DB, tenant id.Tenant, r Request, ids []id.Contact, now time.Time) (Result, error) {
	var res Result
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		w := &applyState{Runner: d, tenant: tenant, request: r, now: now, codes: make(map[id.Contact]string)}
		admitted, err := w.admit(ctx, tx, ids)
		if err != nil {
			return err
		}
		if len(admitted) > 0 {
			if err := w.applyTo(ctx, tx, admitted); err != nil {
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

// applyState is the state of one call of Apply.
type applyState struct {
	Runner
	tenant  id.Tenant
	request Request
	now     time.Time

	affected int
	unknown  int
	codes    map[id.Contact]string // reasons for skipped contacts
	enrolled []Enrolled
}

// admit returns the contacts that the action can apply to, and records a code for the others.
func (w *applyState) admit(ctx context.Context, tx *sqldb.DB, ids []id.Contact) ([]id.Contact, error) {
	existing, err := contact.Existing(ctx, tx, w.tenant, ids)
	if err != nil {
		return nil, err
	}
	named, err := contact.Emails(ctx, tx, w.tenant, ids) // those that are not anonymized
	if err != nil {
		return nil, err
	}
	there := make([]id.Contact, 0, len(ids))
	for _, c := range ids {
		_, hasEmail := named[c]
		switch {
		case !existing[c]:
			w.codes[c] = contact.ErrNotFound.Code
			w.unknown++
		case hasEmail, w.request.Action == Anonymize, w.request.Action == Delete:
			there = append(there, c)
		default:
			w.codes[c] = contact.ErrAnonymized.Code
		}
	}
	slices.SortFunc(there, id.Compare) // all transactions lock contacts in the same order
	return there, nil
}

func (w *applyState) applyTo(ctx context.Context, tx *sqldb.DB, ids []id.Contact) error {
	p := w.request.Params
	switch w.request.Action {
	case AddTags:
		return w.saveChange(ctx, tx, ids, contact.Change{Tags: &p.Tags})
	case RemoveTags:
		return w.saveChange(ctx, tx, ids, contact.Change{RemoveTags: p.Tags})
	case SetStage:
		return w.saveChange(ctx, tx, ids, contact.Change{Stage: new(p.Stage.String())})
	case SetField:
		ch, problem := p.set()
		if problem.Path != "" {
			return fault.Input(problem)
		}
		return w.saveChange(ctx, tx, ids, ch)
	case SetDoNotContact:
		return w.saveChange(ctx, tx, ids, contact.Change{DoNotContact: &p.Block})
	case Subscribe, Unsubscribe:
		return w.setConsent(ctx, tx, ids)
	case AddToList, RemoveFromList:
		return w.changeList(ctx, tx, ids)
	case Suppress:
		return w.suppressContacts(ctx, tx, ids)
	case Enroll, ExitSequence:
		return w.changeSequence(ctx, tx, ids)
	case Delete:
		return w.countMoved(contact.Delete(ctx, tx, w.tenant, ids, w.now))
	case Restore:
		rules, err := sender.ContactRules(ctx, tx, w.tenant)
		if err != nil {
			return err
		}
		return w.countMoved(contact.Restore(ctx, tx, w.tenant, ids, rules.Limit, w.now))
	case ResetStatus:
		return w.countMoved(suppression.ResetStatus(ctx, tx, w.tenant, ids, w.now))
	case Anonymize:
		return w.countMoved(suppression.Anonymize(ctx, tx, w.tenant, ids, p.Keep, w.PersonalData, w.now))
	}
	return fmt.Errorf("unknown action %q", w.request.Action)
}

// saveChange applies a change to the profiles of contacts.
func (w *applyState) saveChange(ctx context.Context, tx *sqldb.DB, ids []id.Contact, ch contact.Change) error {
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

// countMoved counts the result of a status change by package contact.
func (w *applyState) countMoved(list []contact.Moved, err error) error {
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

// setConsent subscribes or unsubscribes: one email type, or everything. Only a user, not an API key,
// may subscribe a contact again that unsubscribed itself from everything.
func (w *applyState) setConsent(ctx context.Context, tx *sqldb.DB, ids []id.Contact) error {
	on := w.request.Action == Subscribe
	all := contact.UnsubscribeScope{Everything: true}
	switch key := w.request.Params.TypeKey; {
	case key != "":
		return w.saveChange(ctx, tx, ids, contact.Change{Subscriptions: map[string]*bool{key: &on}})
	case on:
		return w.countMoved(contact.Subscribe(ctx, tx, w.tenant, ids, all, !w.request.ByKey, w.now))
	}
	return w.countMoved(contact.UnsubscribeMany(ctx, tx, w.tenant, ids, all, w.now))
}

func (w *applyState) changeList(ctx context.Context, tx *sqldb.DB, ids []id.Contact) error {
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

// suppressContacts counts the addresses that are not listed yet before it adds them, since
// suppression.SuppressContacts returns only a total.
func (w *applyState) suppressContacts(ctx context.Context, tx *sqldb.DB, ids []id.Contact) error {
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

func (w *applyState) changeSequence(ctx context.Context, tx *sqldb.DB, ids []id.Contact) error {
	seq := w.request.Params.Sequence
	if w.request.Action == ExitSequence {
		gone, err := sequence.ExitContacts(ctx, tx, w.tenant, seq, ids, sequence.ReasonManual, w.now)
		w.affected += len(gone)
		return err
	}
	s, err := sequence.Load(ctx, tx, w.tenant, seq)
	if err != nil {
		return err
	}
	candidates := make([]sequence.Candidate, len(ids))
	for i, c := range ids {
		candidates[i].Contact = c
	}
	list, err := sequence.EnrollAll(ctx, tx, s, candidates, w.now)
	if errors.Is(err, sequence.ErrNotEnrollable) {
		for _, c := range ids {
			w.codes[c] = sequence.ErrNotEnrollable.Code
			w.enrolled = append(w.enrolled, Enrolled{Contact: c, Status: "sequence_not_active"})
		}
		return nil
	}
	for _, e := range list {
		result := Enrolled{Contact: e.Contact, Status: "duplicate", Enrollment: e.Enrollment.String()}
		switch {
		case e.Limited:
			result.Status = "enroll_limit"
			w.codes[e.Contact] = sequence.ErrEnrollLimit.Code
		case e.New:
			result.Status = "enrolled"
			w.affected++
		}
		w.enrolled = append(w.enrolled, result)
	}
	return err
}

// result builds the Result. Refusals are in the order of ids.
func (w *applyState) result(ids []id.Contact) Result {
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
