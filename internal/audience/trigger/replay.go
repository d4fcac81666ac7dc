package trigger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrNotRecorded reports that it is not stored when a trigger would have fired. The details are a RecordedSince.
var ErrNotRecorded = fault.New(fault.Unprocessable, "TRIGGER_NOT_RECORDED", "nothing has recorded who entered and left the segment during this time")

// RecordedSince is since when it is stored who entered and left a segment.
type RecordedSince struct {
	Since *time.Time `json:"recorded_since"` // nil: it is not
}

const (
	replayPage = 2000
	// maxReplayed is how many entries, or contacts with a date, Replay reads.
	maxReplayed = 200_000
)

// entryTypes are the types of entries that may fire triggers of a type.
var entryTypes = map[Type][]journal.Type{
	Event: {journal.CustomEvent}, SegmentEntered: {journal.SegmentEntered}, SegmentLeft: {journal.SegmentLeft}, ListAdded: {journal.ListAdded},
	FormSubmitted: {journal.FormSubmitted}, TagAdded: {journal.TagAdded}, StageChanged: {journal.StageChanged}, ContactCreated: {journal.ContactCreated},
	FieldChanged: {journal.ContactUpdated}, Engagement: {journal.EmailOpened, journal.EmailClicked},
}

// Replay returns when a trigger would have fired from a time to before another, in order: up to limit of the first
// occurrences, and whether there are more, or too much to read. The rules of the trigger are evaluated with what contacts
// are now. It writes nothing.
func Replay(ctx context.Context, db *sqldb.DB, env rule.Env, t Trigger, from, before time.Time, limit int) (list []Match, more bool, err error) {
	r := &replay{Matcher: NewMatcher(db, env, nil), trigger: t, from: from, before: before, limit: limit}
	switch {
	case t.Type == Date:
		err = r.dates(ctx)
	case t.onSegment():
		if err = r.watched(ctx); err == nil {
			err = r.entries(ctx)
		}
	default:
		err = r.entries(ctx)
	}
	if err != nil {
		return nil, false, fmt.Errorf("replay a trigger: %w", err)
	}
	slices.SortStableFunc(r.found, func(a, b Match) int { return cmp.Or(a.At.Compare(b.At), id.Compare(a.Contact, b.Contact)) })
	if len(r.found) > limit {
		r.found, r.more = r.found[:limit], true
	}
	return r.found, r.more, nil
}

type replay struct {
	*Matcher
	trigger      Trigger
	from, before time.Time
	limit        int
	read         int // entries or contacts
	found        []Match
	more         bool
}

// name returns the name that the entries of a trigger have; empty: any.
func (t Trigger) name() string {
	switch t.Type {
	case Event:
		return t.Config.Event
	case SegmentEntered, SegmentLeft:
		return t.Config.Segment
	case FormSubmitted:
		return t.Config.Form
	case TagAdded:
		return t.Config.Tag
	}
	return ""
}

// watched returns ErrNotRecorded if no holder has followed the segment for long enough.
func (r *replay) watched(ctx context.Context) error {
	of, known := r.env.Schema.Segments(r.trigger.Config.Segment)
	all, err := watchers(ctx, r.tx, r.env.Tenant)
	if err != nil {
		return err
	}
	var first *time.Time
	for w, since := range all {
		if known && w.segment == of.ID && (first == nil || since.Before(*first)) {
			first = &since
		}
	}
	if first == nil || first.After(r.from) {
		return ErrNotRecorded.With(RecordedSince{first})
	}
	r.watchers = map[watcher]time.Time{{of.ID, id.Holder{}}: *first}
	return nil
}

// entries finds the occurrences of a trigger by the entries that fire it.
func (r *replay) entries(ctx context.Context) error {
	types := entryTypes[r.trigger.Type]
	if r.trigger.Type == Engagement && r.trigger.Config.Engagement == "clicked" {
		types = types[1:]
	} else if r.trigger.Type == Engagement {
		types = types[:1]
	}
	past := journal.Past{Type: types[0], Name: r.trigger.name(), From: r.from, Before: r.before}
	return past.Read(ctx, r.tx, r.env.Tenant, replayPage, func(page []journal.Entry) (bool, error) {
		m := NewMatcher(r.tx, r.env, page)
		m.watchers = r.watchers
		fired, err := m.Fired(ctx, Holder{}, r.trigger)
		r.found = append(r.found, fired...)
		if r.read += len(page); r.read >= maxReplayed {
			r.more = true
		}
		return !r.more && len(r.found) <= r.limit, err
	})
}

// dates computes the occurrences of a trigger by date.
func (r *replay) dates(ctx context.Context) error {
	tree, err := rule.DecodeStep(oneLeaf(map[string]any{"field": r.trigger.Config.Field, "operator": rule.IsSet}), r.env.Schema)
	if err != nil { // the field was deleted
		return nil
	}
	cond, err := tree.Condition(r.tx, r.env)
	if err != nil {
		return err
	}
	for after := (id.Contact{}); ; {
		end, more, err := contact.PageEnd(ctx, r.tx, r.env.Tenant, after, replayPage)
		if err != nil {
			return err
		}
		if !more {
			end = lastID
		}
		ids, err := contact.Between(ctx, r.tx, r.env.Tenant, after, end, cond)
		if err == nil && len(ids) > 0 {
			err = r.datesOf(ctx, ids)
		}
		if err != nil || !more {
			return err
		}
		if r.read += replayPage; r.read >= maxReplayed {
			r.more = true
			return nil
		}
		after = end
	}
}

// datesOf computes the occurrences for contacts.
func (r *replay) datesOf(ctx context.Context, ids []id.Contact) error {
	d := r.trigger.dates()
	var fields contact.FieldSet
	fields.Add(d.Field)
	people, err := contact.Recipients(ctx, r.tx, r.env.Tenant, ids, fields)
	if err != nil {
		return err
	}
	var list []Match
	for _, c := range people {
		date, zone := DateOf(r.env.Schema, d.Field, c), ZoneOf(c, r.env.Zone)
		next := d.reschedule(coming{}, date, zone, r.from.Add(-time.Microsecond))
		for next.due != nil && next.due.Before(r.before) {
			row := dateRow{contact: c.ID, coming: next}
			e := row.entry(r.env.Tenant, dateWatch{dates: d}, *date, zone, *next.due)
			properties := map[string]any{"field": e.Name, "date": e.Data.(reached).Date}
			kept, err := journal.Trigger{Name: e.Name, Type: string(e.Type), At: e.At, Properties: properties}.Encode()
			if err != nil {
				return err
			}
			list = append(list, Match{Contact: c.ID, At: e.At, Data: kept})
			next = d.passed(next, date, zone)
		}
	}
	admitted, err := r.admit(ctx, r.trigger, list)
	r.found = append(r.found, admitted...)
	return err
}
