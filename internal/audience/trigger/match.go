package trigger

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// EntryTypes returns the types of entries that may fire triggers.
func EntryTypes() []journal.Type {
	return []journal.Type{
		journal.CustomEvent, journal.SegmentEntered, journal.SegmentLeft, journal.ListAdded, journal.FormSubmitted, journal.TagAdded, journal.StageChanged,
		journal.ContactCreated, journal.ContactUpdated, journal.DateReached, journal.EmailOpened, journal.EmailClicked,
	}
}

// Match is an entry that fired a trigger.
type Match struct {
	Entry   id.Entry // contacts that were created together may share it
	Contact id.Contact
	At      time.Time       // when it occurred
	Data    json.RawMessage // an encoded journal.Trigger
}

// Matcher finds those of a tenant's entries that fire triggers. It is for one transaction.
type Matcher struct {
	tx      *sqldb.DB
	env     rule.Env
	entries []journal.Entry

	broadcasts map[id.Send]id.Broadcast // of the entries; nil: not loaded yet
	watchers   map[watcher]time.Time    // since when; nil: not loaded yet
}

// NewMatcher returns a matcher for entries of the tenant of env, all about contacts.
func NewMatcher(tx *sqldb.DB, env rule.Env, entries []journal.Entry) *Matcher {
	return &Matcher{tx: tx, env: env, entries: entries}
}

// Fired returns the entries that fire the trigger of a holder, in order. Their contacts exist, are not
// deleted, and satisfy the trigger's rule.
func (m *Matcher) Fired(ctx context.Context, h Holder, t Trigger) ([]Match, error) {
	if t.onSegment() && m.watchers == nil {
		var err error
		if m.watchers, err = watchers(ctx, m.tx, m.env.Tenant); err != nil {
			return nil, err
		}
	}
	if t.Type == Engagement && m.broadcasts == nil {
		var sends []id.Send
		for _, e := range m.entries {
			if !e.Send.IsZero() && !slices.Contains(sends, e.Send) {
				sends = append(sends, e.Send)
			}
		}
		var err error
		if m.broadcasts, err = outbox.Broadcasts(ctx, m.tx, m.env.Tenant, sends); err != nil {
			return nil, err
		}
	}
	var list []Match
	for _, e := range m.entries {
		properties, fires, err := m.fires(h, t, e)
		if err != nil {
			return nil, err
		}
		if !fires {
			continue
		}
		kept, err := journal.Trigger{Name: e.Name, Type: string(e.Type), At: e.At, Properties: properties}.Encode()
		if err != nil {
			return nil, err
		}
		list = append(list, Match{Entry: e.ID, Contact: e.Contact, At: e.At, Data: kept})
	}
	return m.admit(ctx, t, list)
}

// admit returns the matches whose contacts exist, are not deleted, and satisfy the trigger's rules.
func (m *Matcher) admit(ctx context.Context, t Trigger, list []Match) ([]Match, error) {
	if len(list) == 0 {
		return nil, nil
	}
	ids := make([]id.Contact, len(list))
	for i, f := range list {
		ids[i] = f.Contact
	}
	people, err := contact.Load(ctx, m.tx, m.env.Tenant, ids)
	if err != nil {
		return nil, err
	}
	reachable := map[id.Contact]bool{}
	for _, c := range people {
		reachable[c.ID] = c.AnonymizedAt == nil && c.Status != contact.Suppressed
	}
	list = slices.DeleteFunc(list, func(f Match) bool { return !reachable[f.Contact] })
	for _, definition := range t.rules() {
		subjects := make([]Subject, len(list))
		for i, f := range list {
			subjects[i] = Subject{Contact: f.Contact, Trigger: f.Data}
		}
		satisfies, err := Holding(ctx, m.tx, m.env, definition, subjects)
		if err != nil {
			return nil, err
		}
		var satisfying []Match
		for i, f := range list {
			if satisfies[i] {
				satisfying = append(satisfying, f)
			}
		}
		list = satisfying
	}
	return list, nil
}

// rules returns the rules that a contact must satisfy for the trigger: that of the trigger's author,
// and those that its other fields mean.
func (t Trigger) rules() []json.RawMessage {
	var list []json.RawMessage
	if source := t.Config.Source; source != "" {
		list = append(list, oneLeaf(map[string]any{"field": "source", "operator": rule.Equals, "value": source}))
	}
	if t.Config.To != nil {
		list = append(list, t.valueRule())
	}
	if len(t.Config.Definition) > 0 {
		list = append(list, t.Config.Definition)
	}
	if len(t.Filter) > 0 {
		list = append(list, t.Filter)
	}
	return list
}

// valueRule returns the rule that a field has the value that it must change to.
func (t Trigger) valueRule() json.RawMessage {
	leaf := map[string]any{"field": t.Config.Field, "operator": rule.Equals, "value": t.Config.To}
	if to, ok := t.Config.To.(bool); ok {
		operator := rule.IsFalse
		if to {
			operator = rule.IsTrue
		}
		leaf = map[string]any{"field": t.Config.Field, "operator": operator}
	}
	return oneLeaf(leaf)
}

// oneLeaf returns a rule of one leaf.
func oneLeaf(leaf map[string]any) json.RawMessage {
	b, _ := json.Marshal(map[string]any{"logic": rule.And, "conditions": []any{leaf}}) // strings, numbers and booleans always encode
	return b
}

// fires reports whether an entry fires a trigger, apart from its rules, and returns what is kept of
// the entry.
func (m *Matcher) fires(h Holder, t Trigger, e journal.Entry) (properties map[string]any, yes bool, err error) {
	c := t.Config
	switch {
	case t.Type == Event && e.Type == journal.CustomEvent && e.Name == c.Event:
		fires, err := event.Triggers(e)
		if err != nil || !fires {
			return nil, false, err
		}
		ev, err := e.Event()
		if err != nil || !m.passes(c.Filters, ev.Properties, e.At) {
			return nil, false, err
		}
		properties, err = e.ExactProperties()
		return properties, err == nil, err
	case t.Type == ListAdded && e.Type == journal.ListAdded:
		var d listed
		err := e.Decode(&d)
		return map[string]any{"segment_key": d.Key}, err == nil && d.Key == c.Segment, err
	case t.Type == SegmentEntered && e.Type == journal.SegmentEntered, t.Type == SegmentLeft && e.Type == journal.SegmentLeft:
		if e.Name != c.Segment {
			return nil, false, nil
		}
		var d moved
		if err := e.Decode(&d); err != nil {
			return nil, false, err
		}
		since, follows := m.watchers[watcher{d.Segment, h.ID}]
		yes = follows && (d.Holder == h.ID || d.Holder.IsZero() && !e.At.Before(since))
		return map[string]any{"segment_key": e.Name}, yes, nil
	case t.Type == FormSubmitted && e.Type == journal.FormSubmitted && e.Name == c.Form:
		err := e.Decode(&properties)
		return properties, err == nil, err
	case t.Type == TagAdded && e.Type == journal.TagAdded:
		return map[string]any{"tag": e.Name}, e.Name == c.Tag, nil
	case t.Type == StageChanged && e.Type == journal.StageChanged:
		var d struct {
			From id.Stage `json:"from"`
			To   id.Stage `json:"to"`
		}
		err := e.Decode(&d)
		return map[string]any{"from_stage_id": d.From, "to_stage_id": d.To},
			err == nil && d.To == c.ToStage && (c.FromStage.IsZero() || d.From == c.FromStage), err
	case t.Type == ContactCreated && e.Type == journal.ContactCreated:
		return nil, true, nil // a source is one of the rules
	case t.Type == FieldChanged && e.Type == journal.ContactUpdated:
		return map[string]any{"field": c.Field}, Changes(e, c.Field), nil
	case t.Type == Date && e.Type == journal.DateReached:
		var d reached
		err := e.Decode(&d)
		return map[string]any{"field": e.Name, "date": d.Date}, err == nil && d.Holder == h.ID && d.Version == t.dates().version(), err
	case t.Type == Engagement && (e.Type == journal.EmailOpened || e.Type == journal.EmailClicked):
		var d track.Engaged
		if err := e.Decode(&d); err != nil || !d.First || d.Withdrawn {
			return nil, false, err
		}
		return map[string]any{"link_url": d.LinkURL}, (c.Engagement == "clicked") == (e.Type == journal.EmailClicked) &&
			(c.Link == "" || d.LinkURL == c.Link) && (c.Broadcast.IsZero() || m.broadcasts[e.Send] == c.Broadcast), nil
	}
	return nil, false, nil
}

// passes reports whether an event passes filters, as stored.
func (m *Matcher) passes(filters json.RawMessage, properties map[string]any, at time.Time) bool {
	return Passes(m.env, filters, properties, at)
}

// Passes reports whether the properties of an event that occurred at a time pass filters, as stored.
func Passes(env rule.Env, filters json.RawMessage, properties map[string]any, at time.Time) bool {
	list, wrong := rule.ParseEventFilters(orEmptyList(filters), "filters")
	return len(wrong) == 0 && list.Match(properties, at, env.Zone)
}

// Changes reports whether an entry about a changed contact names a field.
func Changes(e journal.Entry, field string) bool {
	var d contact.Updated
	if e.Decode(&d) != nil {
		return false
	}
	if key, custom := customKey(field); custom {
		return slices.Contains(d.CustomFields, key)
	}
	return slices.Contains(d.Fields, field)
}
