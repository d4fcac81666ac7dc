package form

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Outcome is what became of a submission.
type Outcome string

// The outcomes.
const (
	Accepted  Outcome = "accepted"
	Awaiting  Outcome = "awaiting_confirmation"
	Confirmed Outcome = "confirmed"
	Spam      Outcome = "spam"
)

// Outcomes returns all outcomes.
func Outcomes() []Outcome { return []Outcome{Accepted, Awaiting, Confirmed, Spam} }

var errUnavailable = fault.New(fault.Unavailable, "UNAVAILABLE", "the form cannot be submitted at the moment; try again later")

// Intake accepts submissions and their confirmations.
type Intake struct {
	DB      *sqldb.DB
	Tokens  *Tokens
	Captcha *Captcha
}

// Answer is what a visitor is told.
type Answer struct {
	ConfirmationSent bool   // a mail was sent, if the address is not suppressed
	Email            string // normalised; empty for spam
}

// Submit applies a submission of a published form. A fault names what is not valid.
func (in *Intake) Submit(ctx context.Context, f Form, s Submitted, now time.Time) (Answer, error) {
	now = now.UTC().Truncate(time.Microsecond)
	spam, err := in.suspect(f, s, now)
	if err != nil {
		return Answer{}, err
	}
	if spam {
		return Answer{}, in.storeSpam(ctx, f, s, now)
	}
	if err := in.Captcha.verify(ctx, f, s); err != nil {
		return Answer{}, err
	}
	var answer Answer
	err = in.DB.InTx(ctx, func(tx *sqldb.DB) error {
		b, err := loadBindings(ctx, tx, f.Tenant)
		if err != nil {
			return err
		}
		email, a, given, err := f.answers(b, s)
		if err != nil {
			return err
		}
		answer = Answer{ConfirmationSent: f.DoubleOptIn, Email: email}
		return (&submission{form: f, bindings: b, in: s, id: id.At[id.FormSubmission](now), email: email, answers: a, given: given, at: now}).apply(ctx, tx)
	})
	if err != nil {
		return Answer{}, fmt.Errorf("accept a submission of form %s: %w", f.ID, err)
	}
	return answer, nil
}

// suspect reports whether a submission is spam: a program filled in the honeypot, has no token of
// ours, or was faster than a person. An expired token is a fault, after which the script gets
// another.
func (in *Intake) suspect(f Form, s Submitted, now time.Time) (bool, error) {
	if s.Honeypot != "" {
		return true, nil
	}
	if s.Token == "" {
		if s.Encoded {
			return false, nil
		}
		return false, fault.Input(fault.Field{Path: "token", Message: "required: the token of the form's config"})
	}
	shown, ok := in.Tokens.shown(f.Slug, s.Token)
	switch age := now.Sub(shown); {
	case !ok, age < tokenYoungest:
		return true, nil
	case age > tokenLasts:
		return false, fault.Input(fault.Field{Path: "token", Message: "has expired: load the form's config again"})
	}
	return false, nil
}

// storeSpam stores a submission that changes nothing. Only valid values are kept of it.
func (in *Intake) storeSpam(ctx context.Context, f Form, s Submitted, now time.Time) error {
	return in.DB.InTx(ctx, func(tx *sqldb.DB) error {
		b, err := loadBindings(ctx, tx, f.Tenant)
		if err != nil {
			return err
		}
		one := &submission{form: f, in: s, id: id.At[id.FormSubmission](now), outcome: Spam, at: now}
		if email, a, _, err := f.answers(b, s); err == nil {
			one.email, one.answers = email, a
		}
		return one.store(ctx, tx)
	})
}

// submission is a valid submission on its way into the database.
type submission struct {
	form     Form
	bindings bindings
	in       Submitted
	id       id.FormSubmission
	email    string
	answers  Answers
	given    []Given
	at       time.Time

	contact contact.Contact
	outcome Outcome
	message id.Message // the confirmation mail; zero: none
}

// apply creates or changes the contact, and stores the submission.
func (s *submission) apply(ctx context.Context, tx *sqldb.DB) error {
	rules, err := sender.ContactRules(ctx, tx, s.form.Tenant)
	if err != nil {
		return err
	}
	created, err := s.saveNew(ctx, tx, rules)
	if err != nil {
		return err
	}
	s.outcome = Accepted
	if s.form.DoubleOptIn {
		s.outcome = Awaiting
	}
	if isFinal(s.contact) { // nothing that a form does lifts these
		s.outcome = Accepted
		return s.finish(ctx, tx)
	}
	if s.form.DoubleOptIn {
		if err := s.await(ctx, tx, rules, created); err != nil {
			return err
		}
		return s.finish(ctx, tx, journal.OptInRequested)
	}
	if !created {
		if err := s.fillExisting(ctx, tx, rules); err != nil {
			return err
		}
	}
	if err := giveConsents(ctx, tx, s.bindings, s.form, s.contact.ID, s.given, s.at); err != nil {
		return err
	}
	if err := addToLists(ctx, tx, s.form, s.contact.ID, s.at); err != nil {
		return err
	}
	if err := s.prove(ctx, tx); err != nil {
		return err
	}
	return s.finish(ctx, tx)
}

// isFinal reports whether the contact has a status that forms do not change.
func isFinal(c contact.Contact) bool {
	switch c.Status {
	case contact.Bounced, contact.Complained, contact.Suppressed:
		return true
	}
	return c.AnonymizedAt != nil
}

// saveNew creates the contact, or locks the existing one.
func (s *submission) saveNew(ctx context.Context, tx *sqldb.DB, rules contact.Rules) (created bool, err error) {
	ch := s.answers.change(s.bindings)
	ch.SourceIfNew = s.form.Source()
	types, categories := s.bindings.consentKeys(s.given)
	if s.form.DoubleOptIn {
		// A later write that activates the contact must not subscribe it.
		ch.Unverified = true
		setAll(types, false)
		setAll(categories, false)
	} else {
		ch.Tags = &s.form.Tags
		if !s.form.Stage.IsZero() {
			ch.StageIfNew = new(s.form.Stage.String())
		}
	}
	ch.Subscriptions, ch.CategorySubscriptions = types, categories
	list, err := contact.SaveAll(ctx, tx, s.form.Tenant, []contact.Draft{{Email: s.email, Mode: contact.CreatingMissing, Change: ch}}, rules, s.at)
	if err != nil {
		return false, err
	}
	o := list[0]
	if o.Err != nil {
		return false, unavailable(o.Err)
	}
	s.contact = o.Contact
	return o.Created, nil
}

func setAll(m map[string]*bool, v bool) {
	for k := range m {
		m[k] = &v
	}
}

// unavailable turns a fault that visitors can do nothing about into one for them.
func unavailable(err error) error {
	if _, ok := fault.As(err); ok {
		return errUnavailable.Because(err)
	}
	return err
}

// fillExisting changes an existing contact without proof that it is the visitor: empty fields are
// filled, and a pending contact becomes active.
func (s *submission) fillExisting(ctx context.Context, tx *sqldb.DB, rules contact.Rules) error {
	ch := s.answers.change(s.bindings)
	onlyEmpty(&ch, s.contact)
	ch.Tags = &s.form.Tags
	return s.save(ctx, tx, rules, ch)
}

// await prepares a contact for its confirmation, and sends the mail for that.
func (s *submission) await(ctx context.Context, tx *sqldb.DB, rules contact.Rules, created bool) error {
	if !created {
		ch := s.answers.change(s.bindings)
		ch.Unverified = true
		if s.contact.Status == contact.Pending {
			types, categories := s.bindings.consentKeys(s.given)
			for k := range types {
				if _, given := s.contact.Subscriptions[k]; given {
					delete(types, k)
				}
			}
			for k := range categories {
				if _, given := s.contact.CategorySubscriptions[id.Read[id.Category](k)]; given {
					delete(categories, k)
				}
			}
			setAll(types, false)
			setAll(categories, false)
			ch.Subscriptions, ch.CategorySubscriptions = types, categories
		}
		if err := s.save(ctx, tx, rules, ch); err != nil {
			return err
		}
	}
	return s.sendConfirmation(ctx, tx)
}

func (s *submission) save(ctx context.Context, tx *sqldb.DB, rules contact.Rules, ch contact.Change) error {
	list, err := contact.SaveAll(ctx, tx, s.form.Tenant, []contact.Draft{{ID: s.contact.ID, Change: ch}}, rules, s.at)
	if err != nil {
		return err
	}
	if list[0].Err != nil {
		return unavailable(list[0].Err)
	}
	s.contact = list[0].Contact
	return nil
}

// giveConsents subscribes a contact to what it agreed to. That ends an unsubscription from all mail.
func giveConsents(ctx context.Context, tx *sqldb.DB, b bindings, f Form, c id.Contact, given []Given, now time.Time) error {
	for _, g := range given {
		scope, ok := b.scope(g)
		if !ok {
			continue
		}
		if _, err := contact.Subscribe(ctx, tx, f.Tenant, []id.Contact{c}, scope, true, now); err != nil {
			return err
		}
	}
	return nil
}

// addToLists puts a contact on the lists of a form that still exist.
func addToLists(ctx context.Context, tx *sqldb.DB, f Form, c id.Contact, now time.Time) error {
	keys, err := segment.Keys(ctx, tx, f.Tenant, f.Lists)
	if err != nil {
		return err
	}
	for _, l := range f.Lists {
		if keys[l] == "" {
			continue
		}
		if _, err := segment.Add(ctx, tx, f.Tenant, l, segment.People{IDs: []id.Contact{c}}, now); err != nil {
			return err
		}
	}
	return nil
}

// prove records the consents of a submission that needs no confirmation.
func (s *submission) prove(ctx context.Context, tx *sqldb.DB) error {
	return consent.Add(ctx, tx, s.form.Tenant, s.records(s.at, false)...)
}

func (s *submission) records(at time.Time, confirmed bool) []consent.Record {
	var list []consent.Record
	for _, g := range s.given {
		r := consent.Record{
			Contact: s.contact.ID, Granted: true, At: at, Confirmed: confirmed,
			Proof: consent.Proof{Source: s.form.Source(), Wording: g.Wording, IP: s.in.IP, Agent: s.in.Agent, PageURL: s.in.PageURL, Message: s.message},
		}
		if scope, ok := s.bindings.scope(g); !ok {
			continue
		} else if scope.TypeKey != "" {
			r.TypeKey = scope.TypeKey
		} else {
			r.Category = scope.Category
		}
		list = append(list, r)
	}
	return list
}

// Entry is the data of the journal entries of a submission.
type Entry struct {
	Form       id.Form           `json:"form_id"`
	FormName   string            `json:"form_name"`
	Submission id.FormSubmission `json:"submission_id"`
	URL        string            `json:"url,omitempty"` // of the page with the form
}

// finish stores the submission and appends it to the journal, with further entries.
func (s *submission) finish(ctx context.Context, tx *sqldb.DB, further ...journal.Type) error {
	if err := s.store(ctx, tx); err != nil {
		return err
	}
	if s.contact.Status == contact.Suppressed || s.contact.AnonymizedAt != nil {
		return nil
	}
	var entries []journal.Entry
	for _, t := range append([]journal.Type{journal.FormSubmitted}, further...) {
		entries = append(entries, journal.Entry{
			Tenant: s.form.Tenant, Type: t, Name: s.form.Slug, Contact: s.contact.ID, At: s.at,
			Data: Entry{s.form.ID, s.form.Name, s.id, s.in.PageURL},
		})
	}
	return journal.Append(ctx, tx, entries...)
}

// store inserts the row, and counts it unless it is spam.
func (s *submission) store(ctx context.Context, tx *sqldb.DB) error {
	answers, err := json.Marshal(s.answers)
	if err != nil {
		return err
	}
	if s.given == nil {
		s.given = []Given{}
	}
	consents, err := json.Marshal(s.given)
	if err != nil {
		return err
	}
	var mailed any
	if !s.message.IsZero() {
		mailed = sqldb.Micros(s.at)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO form_submission (tenant_id, id, form_id, contact_id, email, outcome, submitted_at, ip, agent, page_url, answers, consents, message_id, mailed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		s.form.Tenant, s.id, s.form.ID, sqldb.Null(s.contact.ID), sqldb.Null(s.email), s.outcome, sqldb.Micros(s.at),
		s.in.IP, clip.Runes(storable(s.in.Agent), maxUnchecked), s.in.PageURL, string(answers), string(consents), sqldb.Null(s.message), mailed)
	if err != nil {
		return fmt.Errorf("store a submission: %w", err)
	}
	if s.outcome == Spam {
		return nil
	}
	_, err = tx.Exec(ctx, `
		UPDATE form SET submission_count = submission_count + 1,
			last_submission_at = CASE WHEN last_submission_at > $3 THEN last_submission_at ELSE $3 END
		WHERE tenant_id = $1 AND id = $2`, s.form.Tenant, s.form.ID, sqldb.Micros(s.at))
	if err != nil {
		return fmt.Errorf("count a submission: %w", err)
	}
	return nil
}
