package score

import (
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
)

// occurrence is a journal entry as rules see it.
type occurrence struct {
	journal.Entry
	event      string         // what kind of custom event it is
	properties map[string]any // what filters look at
}

// verdict is what an entry may say of whose doing it was.
type verdict struct {
	Classification string `json:"classification"`
	Withdrawn      bool   `json:"withdrawn"`
}

// related is what rules see of an entry beside what it says itself.
type related struct {
	broadcasts map[id.Send]id.Broadcast      // of mails
	origins    map[id.Contact]contact.Origin // of contacts that were created
}

// read returns what an entry tells, or false when it is no person's act: a
// machine's, one not yet judged (its verdict comes as another entry), or one that
// is taken back.
func read(e journal.Entry, more related) (occurrence, bool, error) {
	var v verdict
	if err := e.Decode(&v); err != nil {
		return occurrence{}, false, fmt.Errorf("journal entry %s: %w", e.ID, err)
	}
	switch {
	case v.Withdrawn, v.Classification == "bot", v.Classification == "pending":
		return occurrence{}, false, nil
	case v.Classification == "" && (e.Type == journal.EmailOpened || e.Type == journal.EmailClicked):
		return occurrence{}, false, nil
	}
	a := occurrence{Entry: e}
	if e.Type == journal.CustomEvent {
		ev, err := e.Event()
		a.event, a.properties = ev.Type, ev.Properties
		return a, true, err
	}
	if err := e.Decode(&a.properties); err != nil {
		return occurrence{}, false, fmt.Errorf("journal entry %s: %w", e.ID, err)
	}
	if a.properties == nil {
		a.properties = map[string]any{}
	}
	say := func(name, value string) {
		if value != "" {
			a.properties[name] = value
		}
	}
	switch e.Type {
	case journal.ContactCreated:
		o := more.origins[e.Contact]
		say("source", o.Source)
		if len(o.Tags) > 0 {
			tags := make([]any, len(o.Tags))
			for i, t := range o.Tags {
				tags[i] = t
			}
			a.properties["tags"] = tags
		}
	case journal.PageViewed:
		say("url", e.Name)
	case journal.FormSubmitted:
		say("form_slug", e.Name)
	case journal.TagAdded, journal.TagRemoved:
		say("tag", e.Name)
	case journal.SequenceEnrolled, journal.SequenceCompleted, journal.SequenceExited:
		say("sequence_id", e.Name)
	}
	say("broadcast_id", more.broadcasts[e.Send].String())
	return a, true, nil
}

// ready is a rule whose filters are read.
type ready struct {
	*Rule
	filters Filters // nil: none
}

// read reads the filters of the rules. A rule whose filters are not understood
// any more gives nothing.
func (s Settings) read(parse Parser) []ready {
	list := make([]ready, 0, len(s.Rules))
	for i := range s.Rules {
		r := ready{Rule: &s.Rules[i]}
		if len(r.Match.Filters) > 0 {
			var wrong []fault.Field
			if r.filters, wrong = parse(r.Match.Filters, ""); len(wrong) > 0 {
				continue
			}
		}
		list = append(list, r)
	}
	return list
}

// matches reports whether the rule speaks of the act. Filters that compare with
// the present take the time of the act for it.
func (r ready) matches(a occurrence, zone *time.Location) bool {
	if r.Trigger != a.Type {
		return false
	}
	m := r.Match
	if m.EventName != "" || m.Type != "" {
		if (m.EventName == "" || m.EventName != a.Name) && (m.Type == "" || m.Type != a.event) {
			return false
		}
	}
	return r.filters == nil || r.filters.Hold(a.properties, a.At, zone)
}
