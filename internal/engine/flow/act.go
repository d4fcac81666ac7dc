package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/event"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/segment"
	"github.com/packetboat/packetboat/internal/sequence"
)

// eventOf is a custom event that a step records.
type eventOf = event.Input

// act carries out a step that changes contacts, or other records about them.
func (w *work) act(ctx context.Context, group []*traveler, s sequence.Step) error {
	var err error
	switch s := s.(type) {
	case sequence.ListStep:
		err = w.changeList(ctx, group, s)
	case sequence.TagStep:
		ch := contact.Change{Tags: &s.Tags}
		if s.Action == "remove" {
			ch = contact.Change{RemoveTags: s.Tags}
		}
		err = w.change(ctx, group, func(*traveler) contact.Change { return ch })
	case sequence.StageStep:
		err = w.change(ctx, group, func(*traveler) contact.Change { return contact.Change{Stage: new(s.Stage.String())} })
	case sequence.SubscriptionStep:
		on := s.Action == "subscribe"
		err = w.change(ctx, group, func(*traveler) contact.Change {
			return contact.Change{Subscriptions: map[string]*bool{s.EmailType: &on}}
		})
	case sequence.UpdateStep:
		err = w.change(ctx, group, func(t *traveler) contact.Change { return w.fields(t, s) })
	case sequence.EventStep:
		for _, t := range group {
			w.events = append(w.events, eventOf{Name: s.Name, Contact: t.Contact, Properties: s.Properties, OccurredAt: w.now})
		}
	case sequence.EnrollStep:
		for _, t := range group {
			w.enroll[s.Sequence] = append(w.enroll[s.Sequence], sequence.Candidate{Contact: t.Contact})
		}
	}
	if err != nil {
		return err
	}
	for _, t := range group {
		w.goTo(t, "")
	}
	return nil
}

// change changes the contacts of a group. A contact that a fault prevents from changing is logged
// and continues.
func (w *work) change(ctx context.Context, group []*traveler, of func(*traveler) contact.Change) error {
	drafts := make([]contact.Draft, len(group))
	ids := make([]id.Contact, len(group))
	for i, t := range group {
		drafts[i] = contact.Draft{ID: t.Contact, Change: of(t)}
		ids[i] = t.Contact
	}
	outcomes, err := contact.SaveAll(ctx, w.tx, w.tenant, drafts, w.rules, w.now)
	if err != nil {
		return err
	}
	for i, o := range outcomes {
		if f, ok := fault.As(o.Err); ok {
			w.log.Warn("step of a sequence skipped", "tenant", w.tenant, "sequence", group[i].Sequence, "node", group[i].Node, "contact", ids[i], "reason", f.Message)
		} else if o.Err != nil {
			return o.Err
		}
	}
	return w.reload(ctx, ids)
}

// fields returns the change of an update, with its Liquid rendered for the contact.
func (w *work) fields(t *traveler, s sequence.UpdateStep) contact.Change {
	ch := contact.Change{Texts: map[contact.Text]*string{}, CustomFields: map[string]any{}}
	for name, v := range s.Fields {
		field, _ := contact.ParseText(name)
		if v == nil {
			ch.Texts[field] = nil
			continue
		}
		ch.Texts[field] = new(w.render(t, fmt.Sprint(v)))
	}
	for key, v := range s.CustomFields {
		if text, ok := v.(string); ok {
			v = w.render(t, text)
		}
		ch.CustomFields[key] = v
	}
	return ch
}

// render renders a short Liquid text for the contact of an enrollment. A text that fails to render
// is empty.
func (w *work) render(t *traveler, text string) string {
	template, err := liquid.Parse(text, liquid.Options{})
	if err != nil {
		return ""
	}
	out, err := template.Append(context.Background(), nil, scope{w.people[t.Contact], t.Trigger, w.now}, nil)
	if err != nil {
		return ""
	}
	return string(out)
}

// changeList adds contacts to a static list or removes them. A list that was deleted is skipped.
func (w *work) changeList(ctx context.Context, group []*traveler, s sequence.ListStep) error {
	found, err := segment.ByKeys(ctx, w.tx, w.tenant, []string{s.Segment})
	if _, gone := fault.As(err); gone || err == nil && len(found) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	people := segment.People{IDs: make([]id.Contact, len(group))}
	for i, t := range group {
		people.IDs[i] = t.Contact
	}
	if s.Action == "add" {
		_, err = segment.Add(ctx, w.tx, w.tenant, found[0].ID, people, w.now)
	} else {
		_, err = segment.Remove(ctx, w.tx, w.tenant, found[0].ID, people, w.now)
	}
	return err
}

// recordEvents records the events of steps.
func (w *work) recordEvents(ctx context.Context) error {
	if len(w.events) == 0 {
		return nil
	}
	_, err := event.Record(ctx, w.tx, w.tenant, w.events, w.now)
	return err
}

// enrollOthers enrolls contacts in the sequences that steps name.
func (w *work) enrollOthers(ctx context.Context) error {
	ids := make([]id.Sequence, 0, len(w.enroll))
	for s := range w.enroll {
		ids = append(ids, s)
	}
	slices.SortFunc(ids, id.Compare)
	loaded, err := sequence.ByID(ctx, w.tx, w.tenant, ids)
	if err != nil {
		return err
	}
	for _, s := range ids {
		q, ok := loaded[s]
		if !ok || q.Status != sequence.Active {
			w.log.Warn("step of a sequence skipped", "tenant", w.tenant, "contacts", len(w.enroll[s]), "reason", "the sequence to enroll in is not active", "into", s)
			continue
		}
		if _, err := sequence.EnrollAll(ctx, w.tx, q, w.enroll[s], w.now); err != nil {
			return err
		}
	}
	return nil
}

// sortedByContact sorts messages in the order of their contacts.
func sortedByContact(list []outbox.Message) []outbox.Message {
	slices.SortStableFunc(list, func(a, b outbox.Message) int { return id.Compare(a.Contact, b.Contact) })
	return list
}

// scope resolves the names in the Liquid of an update.
type scope struct {
	contact *contact.Contact
	trigger json.RawMessage
	now     time.Time
}

// Now returns the time of rendering.
func (s scope) Now() time.Time { return s.now }

// Lookup returns the value of a name: the contact, the event that enrolled it, or a field of the
// contact.
func (s scope) Lookup(name string) (any, bool) {
	switch name {
	case "contact":
		return person{s.contact}, true
	case "event":
		e, _ := event.DecodeTrigger(s.trigger) // was encoded by Encode
		return e, true
	}
	if v, ok := s.contact.Value(name); ok {
		return v, true
	}
	v, ok := s.contact.CustomFields[name]
	return v, ok
}

// person is {{ contact }}.
type person struct{ *contact.Contact }

// Field returns one field of the contact.
func (p person) Field(name string) any {
	if name == "custom_fields" {
		return p.CustomFields
	}
	v, _ := p.Value(name)
	return v
}

// Names returns the names of the fields.
func (person) Names() []string { return contact.ColumnNames() }
