package sequence

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Follower enrolls contacts when triggers fire, ends waits and enrollments when what they wait for
// happens, and has engine/flow look at enrollments whose rules an entry may change.
func Follower(now func() time.Time) journal.Follower {
	return journal.Follower{
		Name: "sequence",
		Types: []journal.Type{
			journal.CustomEvent, journal.PageViewed, journal.FormSubmitted, journal.ListAdded, journal.ListRemoved,
			journal.TagAdded, journal.TagRemoved, journal.StageChanged, journal.ContactCreated, journal.ContactUpdated,
			journal.EmailOpened, journal.EmailClicked, journal.EmailBounced, journal.BounceApplied, journal.EmailComplained, journal.EmailUnsubscribed,
			journal.SegmentEntered, journal.SegmentLeft, journal.DateReached, journal.SubscriptionChanged, journal.SuppressionAdded, journal.ScoreChanged, journal.ContactDeleted, journal.ContactAnonymized,
		},
		Follow: journal.PerTenant(func(ctx context.Context, tx *sqldb.DB, t id.Tenant, entries []journal.Entry) error {
			return follow(ctx, tx, t, entries, now())
		}),
	}
}

// following is the work of one batch of a tenant's entries.
type following struct {
	tx      *sqldb.DB
	tenant  id.Tenant
	now     time.Time
	env     rule.Env
	entries []journal.Entry
	list    []*Program // active sequences, and paused ones
}

func follow(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []journal.Entry, now time.Time) error {
	rows, err := tx.Query(ctx, `SELECT id FROM sequence WHERE tenant_id = $1 AND status IN ('active', 'paused') ORDER BY id`, tenant)
	ids, err := sqldb.Collect(rows, err, func(scan func(...any) error) (id.Sequence, error) {
		var s id.Sequence
		err := scan(&s)
		return s, err
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	loaded, err := ByID(ctx, tx, tenant, ids)
	if err != nil {
		return err
	}
	f := &following{tx: tx, tenant: tenant, now: now, entries: entries}
	if f.env, err = segment.Env(ctx, tx, tenant, now); err != nil {
		return err
	}
	for _, s := range ids {
		f.list = append(f.list, Compile(loaded[s], f.env))
	}
	for _, apply := range []func(context.Context) error{f.exitUnmailable, f.exitOnEvents, f.meetWaits, f.trigger, f.nudge} {
		if err := apply(ctx); err != nil {
			return err
		}
	}
	return nil
}

// contactsOf returns the contacts of entries for which a predicate holds.
func (f *following) contactsOf(selected func(journal.Entry) bool) []id.Contact {
	seen := map[id.Contact]bool{}
	var list []id.Contact
	for _, e := range f.entries {
		if !seen[e.Contact] && selected(e) {
			seen[e.Contact] = true
			list = append(list, e.Contact)
		}
	}
	return list
}

// exitUnmailable ends all enrollments of contacts that were deleted, or may not be mailed any more.
func (f *following) exitUnmailable(ctx context.Context) error {
	ids := f.contactsOf(func(e journal.Entry) bool {
		switch e.Type {
		case journal.EmailBounced, journal.BounceApplied, journal.EmailComplained, journal.EmailUnsubscribed, journal.SubscriptionChanged,
			journal.SuppressionAdded, journal.ContactDeleted, journal.ContactAnonymized:
			return true
		case journal.ContactUpdated:
			return trigger.Changes(e, "do_not_contact")
		}
		return false
	})
	if len(ids) == 0 {
		return nil
	}
	people, err := contact.Load(ctx, f.tx, f.tenant, ids)
	if err != nil {
		return err
	}
	addresses := make([]string, len(people))
	for i, c := range people {
		addresses[i] = c.Email
	}
	listed, err := suppression.Listed(ctx, f.tx, f.tenant, addresses)
	if err != nil {
		return err
	}
	reasons := map[Reason][]id.Contact{}
	for _, c := range people {
		if r := unmailable(c, listed[c.Email]); r != "" {
			reasons[r] = append(reasons[r], c.ID)
		}
	}
	for _, r := range slices.Sorted(maps.Keys(reasons)) {
		if _, err := ExitContacts(ctx, f.tx, f.tenant, id.Sequence{}, reasons[r], r, f.now); err != nil {
			return err
		}
	}
	return nil
}

// unmailable returns why a contact leaves all sequences; "" if it does not.
func unmailable(c contact.Contact, listed bool) Reason {
	switch {
	case c.AnonymizedAt != nil || c.Status == contact.Suppressed:
		return ReasonDeleted
	case c.Status == contact.Bounced || c.Status == contact.Complained || listed:
		return ReasonSuppressed
	case c.Status == contact.Unsubscribed:
		return ReasonUnsubscribed
	case c.DoNotContact:
		return ReasonDoNotContact
	}
	return ""
}

// events returns the custom events that may start or end an enrollment, with their properties.
func (f *following) events(ctx context.Context) ([]journal.Entry, []map[string]any, error) {
	var list []journal.Entry
	var properties []map[string]any
	for _, e := range f.entries {
		if e.Type != journal.CustomEvent {
			continue
		}
		fires, err := event.Triggers(e)
		if err != nil {
			return nil, nil, err
		}
		if !fires {
			continue
		}
		ev, err := e.Event()
		if err != nil {
			return nil, nil, err
		}
		list, properties = append(list, e), append(properties, ev.Properties)
	}
	return list, properties, nil
}

// exitOnEvents ends enrollments whose exit events happened.
func (f *following) exitOnEvents(ctx context.Context) error {
	entries, properties, err := f.events(ctx)
	if err != nil || len(entries) == 0 {
		return err
	}
	for _, p := range f.list {
		if p.Exits == nil {
			continue
		}
		var gone []id.Contact
		for i, e := range entries {
			if slices.ContainsFunc(p.Exits.Events, func(x ExitEvent) bool {
				return x.Name == e.Name && trigger.Passes(f.env, x.Filters, properties[i], e.At)
			}) {
				gone = append(gone, e.Contact)
			}
		}
		if len(gone) > 0 {
			if _, err := ExitContacts(ctx, f.tx, f.tenant, p.ID, gone, ReasonCondition, f.now); err != nil {
				return err
			}
		}
	}
	return nil
}

// meetWaits ends waits until an event.
func (f *following) meetWaits(ctx context.Context) error {
	entries, properties, err := f.events(ctx)
	if err != nil || len(entries) == 0 {
		return err
	}
	names, contacts := map[string]bool{}, map[id.Contact]bool{}
	for _, e := range entries {
		names[e.Name], contacts[e.Contact] = true, true
	}
	rows, err := f.tx.Query(ctx, `
		SELECT `+enrollmentColumns+` FROM enrollment
		WHERE tenant_id = $1 AND contact_id`+f.tx.In(2)+` AND exited_at IS NULL AND NOT met AND wait_event`+f.tx.In(3)+` ORDER BY id`+f.tx.ForUpdate(),
		f.tenant, sqldb.List(f.tx, slices.Collect(maps.Keys(contacts))), sqldb.List(f.tx, slices.Collect(maps.Keys(names))))
	waiting, err := sqldb.Collect(rows, err, scanEnrollment(f.tenant))
	if err != nil {
		return fmt.Errorf("find waits until an event: %w", err)
	}
	var met []id.Enrollment
	for _, w := range waiting {
		at := slices.IndexFunc(f.list, func(p *Program) bool { return p.ID == w.Sequence })
		if at < 0 {
			continue
		}
		step, ok := f.list[at].Step(w.Node).(WaitStep)
		if !ok {
			continue
		}
		for i, e := range entries {
			if e.Contact == w.Contact && e.Name == w.WaitEvent && trigger.Passes(f.env, step.Filters, properties[i], e.At) {
				met = append(met, w.ID)
				break
			}
		}
	}
	if len(met) == 0 {
		return nil
	}
	_, err = f.tx.Exec(ctx, `
		UPDATE enrollment SET met = TRUE, due_at = CASE WHEN status = 'active' THEN CAST($3 AS BIGINT) ELSE NULL END,
			left_at = CASE WHEN status = 'paused' THEN 0 ELSE NULL END
		WHERE tenant_id = $1 AND id`+f.tx.In(2), f.tenant, sqldb.List(f.tx, met), sqldb.Micros(f.now))
	if err != nil {
		return fmt.Errorf("end waits until an event: %w", err)
	}
	f.tx.Notify(Wake)
	return nil
}

// trigger enrolls the contacts of entries that fire triggers. Those that were enrolled too often
// within the last hour are left out.
func (f *following) trigger(ctx context.Context) error {
	m := trigger.NewMatcher(f.tx, f.env, f.entries)
	for _, p := range f.list {
		if p.Status != Active || p.Trigger == nil {
			continue
		}
		fired, err := m.Fired(ctx, trigger.SequenceHolder(p.ID), *p.Trigger)
		if err != nil {
			return err
		}
		if len(fired) == 0 {
			continue
		}
		list := make([]Candidate, len(fired))
		for i, e := range fired {
			list[i] = Candidate{Contact: e.Contact, Trigger: e.Data}
		}
		if _, err := EnrollAll(ctx, f.tx, p.Sequence, list, f.now); err != nil {
			return err
		}
	}
	return nil
}

// nudge makes enrollments due whose exit conditions, goals or waits a change of their contacts may
// affect.
func (f *following) nudge(ctx context.Context) error {
	var watched []id.Sequence
	for _, p := range f.list {
		if p.Status == Active && p.watches() {
			watched = append(watched, p.ID)
		}
	}
	contacts := f.contactsOf(func(journal.Entry) bool { return true })
	if len(watched) == 0 || len(contacts) == 0 {
		return nil
	}
	n, err := f.tx.Exec(ctx, `
		UPDATE enrollment SET due_at = $4
		WHERE tenant_id = $1 AND contact_id`+f.tx.In(2)+` AND sequence_id`+f.tx.In(3)+` AND exited_at IS NULL AND due_at > $4`,
		f.tenant, sqldb.List(f.tx, contacts), sqldb.List(f.tx, watched), sqldb.Micros(f.now))
	if err != nil {
		return fmt.Errorf("look at enrollments of changed contacts: %w", err)
	}
	if n > 0 {
		f.tx.Notify(Wake)
	}
	return nil
}

// watches reports whether a change of a contact may move its enrollment before its wait ends.
func (p *Program) watches() bool {
	if p.Exits != nil && (len(p.Exits.Definition) > 0 || p.Exits.SegmentLeft != "") || len(p.goals) > 0 {
		return true
	}
	for _, s := range p.steps {
		if w, ok := s.(WaitStep); ok && (w.Mode == UntilSegment || w.Mode == UntilEngagement) {
			return true
		}
	}
	return false
}
