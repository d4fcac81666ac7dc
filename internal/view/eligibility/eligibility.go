// Package eligibility explains whether a contact can be mailed: every check that sending makes, in its
// order, with its result.
//
// The checks of the contact are those of contact.Refusal, which decides when a send is prepared and
// before each mail leaves. For a broadcast, the membership in its audience comes first; once its
// messages are in the outbox, the contact's message decides in place of the segments.
package eligibility

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// The checks before those of contact.Refusal, and their reasons.
const (
	Audience  = "audience"  // the contact is in the audience of the broadcast
	Recipient = "recipient" // the broadcast has a message for the contact that is or can be sent

	InNoSegment = "in_no_segment"       // included
	InExcluded  = "in_excluded_segment" // although an included segment has the contact, too
	NoRecipient = "not_a_recipient"     // the audience was read without the contact
)

// Action is what an editor can do about a failed check.
type Action string

// The actions.
const (
	Restore           Action = "restore"
	ResetStatus       Action = "reset_status"
	ClearDoNotContact Action = "clear_do_not_contact"
	RemoveSuppression Action = "remove_suppression"
	ChangeEmail       Action = "change_email"
	ChangeSegments    Action = "change_segments"
)

// Check is the result of one check.
type Check struct {
	Name   string
	OK     bool
	Reason string     // of a failure, more precise than the name; empty: none
	Since  *time.Time // of a failure, if it is known
	Detail string     // one sentence
	Action Action     // empty: nothing can be done for the contact
}

// Verdict is the result of all checks.
type Verdict struct {
	Eligible    bool
	FirstReason string // the name of the first failed check, as messages are skipped for it; empty: none
	Checks      []Check
}

// Mail is the mail that is asked about; one of them, or the account's default email type.
type Mail struct {
	TypeKey   string
	Broadcast id.Broadcast
	Sequence  id.Sequence
}

// Of returns the verdict on a contact and a mail.
func Of(ctx context.Context, db *sqldb.DB, account id.Tenant, cid id.Contact, m Mail, now time.Time) (Verdict, error) {
	c, err := contact.ByID(ctx, db, account, cid)
	if err != nil {
		return Verdict{}, err
	}
	j := judge{db: db, c: c, now: now}
	types, err := j.types(ctx, m)
	if err != nil {
		return Verdict{}, err
	}
	if j.entry, j.listed, err = suppression.Find(ctx, db, account, c.Email); err != nil {
		return Verdict{}, err
	}
	if j.choices, err = consent.List(ctx, db, account, cid); err != nil {
		return Verdict{}, err
	}
	v := Verdict{Checks: j.before}
	for i, t := range types {
		reasons, holds := c.Refusals(contact.Consent{TypeKey: t.Key, Category: t.Category}, j.listed)
		for _, reason := range reasons {
			byType := reason == contact.SkipUnsubscribedCategory || reason == contact.SkipUnsubscribedType
			if i > 0 && !byType {
				continue // the same for all types
			}
			check := Check{Name: reason, OK: !holds[reason]}
			if holds[reason] {
				j.explain(&check, t)
			} else if byType && len(types) > 1 {
				check.Detail = "for " + t.DisplayName
			}
			if i > 0 { // beside those of the other types
				at := slices.IndexFunc(v.Checks, func(c Check) bool { return c.Name == contact.SkipInvalidEmail })
				v.Checks = slices.Insert(v.Checks, at, check)
				continue
			}
			v.Checks = append(v.Checks, check)
		}
	}
	v.Eligible = true
	for _, check := range v.Checks {
		if !check.OK && v.Eligible {
			v.Eligible, v.FirstReason = false, check.Name
		}
	}
	return v, nil
}

// judge is the state of one verdict.
type judge struct {
	db      *sqldb.DB
	c       contact.Contact
	now     time.Time
	entry   suppression.Entry
	listed  bool
	choices []consent.Record
	before  []Check
}

// types returns the email types of a mail, at least one, and makes the checks before those of the
// contact.
func (j *judge) types(ctx context.Context, m Mail) ([]sender.EmailType, error) {
	switch {
	case !m.Broadcast.IsZero():
		b, err := broadcast.Head(ctx, j.db, j.c.Tenant, m.Broadcast)
		if err != nil {
			return nil, err
		}
		if err := j.ofBroadcast(ctx, b); err != nil {
			return nil, err
		}
		return j.typeByID(ctx, b.EmailType)
	case !m.Sequence.IsZero():
		s, err := sequence.Load(ctx, j.db, j.c.Tenant, m.Sequence)
		if err != nil {
			return nil, err
		}
		var types []sender.EmailType
		for _, key := range s.EmailTypes() {
			t, err := sender.EmailTypeByKey(ctx, j.db, j.c.Tenant, key)
			if err != nil {
				if errors.Is(err, sender.ErrUnknownEmailType) {
					continue // deleted
				}
				return nil, err
			}
			types = append(types, t)
		}
		if len(types) == 0 {
			types = []sender.EmailType{{}}
		}
		return types, nil
	case m.TypeKey != "":
		t, err := sender.EmailTypeByKey(ctx, j.db, j.c.Tenant, m.TypeKey)
		return []sender.EmailType{t}, err
	}
	t, err := tenant.ByID(ctx, j.db, j.c.Tenant)
	if err != nil {
		return nil, err
	}
	return j.typeByID(ctx, t.Settings.DefaultEmailType)
}

// typeByID returns an email type; an empty one if it was deleted, or none is chosen.
func (j *judge) typeByID(ctx context.Context, typ id.EmailType) ([]sender.EmailType, error) {
	if typ.IsZero() {
		return []sender.EmailType{{}}, nil
	}
	t, err := sender.EmailTypeByID(ctx, j.db, j.c.Tenant, typ)
	if errors.Is(err, sender.ErrEmailTypeNotFound) {
		return []sender.EmailType{{}}, nil
	}
	return []sender.EmailType{t}, err
}

// ofBroadcast makes the checks of a broadcast.
func (j *judge) ofBroadcast(ctx context.Context, b broadcast.Broadcast) error {
	r, err := outbox.Recipient(ctx, j.db, b.Tenant, b.Send, j.c.ID)
	if err == nil {
		j.before = append(j.before, ofRecipient(r))
		return nil
	}
	if !errors.Is(err, outbox.ErrNoRecipient) {
		return err
	}
	audience, err := j.audience(ctx, b)
	if err != nil {
		return err
	}
	j.before = append(j.before, audience)
	run, err := broadcast.LoadRun(ctx, j.db, b.Tenant, b.ID)
	if err != nil {
		return err
	}
	if run.PreparedAt != nil || run.Planning != nil && run.Planning.Stage != broadcast.Collect {
		j.before = append(j.before, Check{Name: Recipient, Reason: NoRecipient, Since: b.StartedAt,
			Detail: "the audience was read when the send began, and the contact was not in it or was excluded"})
	}
	return nil
}

// ofRecipient returns the check of a message.
func ofRecipient(r outbox.Record) Check {
	c := Check{Name: Recipient, OK: true, Reason: string(r.State), Since: r.SentAt, Detail: "the contact's message is " + strings.ReplaceAll(string(r.State), "_", " ")}
	switch r.State {
	case outbox.Skipped:
		c.OK, c.Reason, c.Detail = false, r.SkipReason, "the contact's message was skipped: "+r.SkipReason
	case outbox.Bounced, outbox.Failed, outbox.HeldBack, outbox.MessageCancelled:
		c.OK = false
	}
	if c.Since == nil {
		c.Since = r.EndedAt
	}
	return c
}

// audience checks which segments of a broadcast have the contact. Each is evaluated for this contact
// alone.
func (j *judge) audience(ctx context.Context, b broadcast.Broadcast) (Check, error) {
	keys, err := segment.Keys(ctx, j.db, b.Tenant, slices.Concat(b.Include, b.Exclude))
	if err != nil {
		return Check{}, err
	}
	within := func(list []id.Segment) (string, error) {
		for _, s := range list {
			a := segment.Audience{Tenant: b.Tenant, Include: []id.Segment{s}}
			has, err := a.Has(ctx, j.db, j.c.ID, j.now)
			if err != nil {
				return "", err
			}
			if has {
				return keys[s], nil
			}
		}
		return "", nil
	}
	in, err := within(b.Include)
	if err != nil {
		return Check{}, err
	}
	if in == "" {
		return Check{Name: Audience, Reason: InNoSegment, Detail: "the contact is in no segment that the broadcast includes", Action: ChangeSegments}, nil
	}
	out, err := within(b.Exclude)
	if err != nil {
		return Check{}, err
	}
	if out != "" {
		return Check{Name: Audience, Reason: InExcluded, Detail: "the contact is in the excluded segment " + out, Action: ChangeSegments}, nil
	}
	return Check{Name: Audience, OK: true, Detail: "the contact is in the segment " + in}, nil
}

// explain adds to a failed check why it failed, since when, and what can be done.
func (j *judge) explain(check *Check, t sender.EmailType) {
	c := j.c
	switch check.Name {
	case contact.SkipPending:
		check.Since, check.Detail = &c.CreatedAt, "the contact is pending: it has not confirmed, and no program has vouched for it"
	case contact.SkipNotActive:
		check.Reason, check.Detail = string(c.Status), "the contact's status is "+string(c.Status)
		switch c.Status {
		case contact.Suppressed:
			check.Since, check.Action, check.Detail = c.SuppressedAt, Restore, "the contact is deleted"
			if c.AnonymizedAt != nil {
				check.Since, check.Action, check.Detail = c.AnonymizedAt, "", "the contact was anonymised"
			}
		case contact.Unsubscribed:
			check.Since, check.Detail = c.UnsubscribedAt, "the contact has unsubscribed from all mail"
			check.Action = ResetStatus
		case contact.Bounced, contact.Complained:
			check.Action = ResetStatus
		}
	case contact.SkipDoNotContact:
		check.Detail, check.Action = "the contact is marked as not to be contacted", ClearDoNotContact
	case contact.SkipSuppressedAddress:
		check.Reason, check.Since, check.Action = j.entry.Reason, &j.entry.AddedAt, RemoveSuppression
		check.Detail = "the address is on the suppression list"
	case contact.SkipUnsubscribedCategory, contact.SkipUnsubscribedType:
		check.Detail = fmt.Sprintf("the contact has unsubscribed from %s", t.DisplayName)
		for _, r := range j.choices {
			same := r.TypeKey == t.Key && r.TypeKey != "" || r.Category == t.Category && !r.Category.IsZero()
			if same && !r.Granted && (check.Since == nil || r.At.After(*check.Since)) {
				check.Since, check.Reason = &r.At, r.Source
			}
		}
	case contact.SkipInvalidEmail:
		check.Detail, check.Action = "the address is not valid", ChangeEmail
	}
}
