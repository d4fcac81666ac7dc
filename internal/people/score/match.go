package score

import (
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// occurrence is a journal entry with what rules compare.
type occurrence struct {
	journal.Entry
	event      string         // type of a custom event
	properties map[string]any // what filters compare
}

// verdict is the part of an entry's data about its classification.
type verdict struct {
	Classification string `json:"classification"`
	Withdrawn      bool   `json:"withdrawn"`
}

// entryContext is what rules compare beside the data of entries.
type entryContext struct {
	broadcasts map[id.Send]id.Broadcast      // of mails
	origins    map[id.Contact]contact.Origin // of created contacts
}

// occurrenceOf returns the occurrence of an entry. It reports false if the entry does not
// count: an open or click of a machine, one that is not classified yet (another entry
// follows with the verdict), or one that is withdrawn.
func occurrenceOf(e journal.Entry, more entryContext) (occurrence, bool, error) {
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
	set := func(name, value string) {
		if value != "" {
			a.properties[name] = value
		}
	}
	switch e.Type {
	case journal.ContactCreated:
		o := more.origins[e.Contact]
		set("source", o.Source)
		if len(o.Tags) > 0 {
			tags := make([]any, len(o.Tags))
			for i, t := range o.Tags {
				tags[i] = t
			}
			a.properties["tags"] = tags
		}
	case journal.PageViewed:
		set("url", e.Name)
	case journal.FormSubmitted:
		set("form_slug", e.Name)
	case journal.TagAdded, journal.TagRemoved:
		set("tag", e.Name)
	case journal.SequenceEnrolled, journal.SequenceCompleted, journal.SequenceExited:
		set("sequence_id", e.Name)
	}
	set("broadcast_id", more.broadcasts[e.Send].String())
	return a, true, nil
}

// compiledRule is a rule with parsed filters.
type compiledRule struct {
	*Rule
	filters Filters // nil: none
}

// compile parses the filters of the rules. It skips rules whose filters are not valid any
// more.
func (s Settings) compile(parse Parser) []compiledRule {
	list := make([]compiledRule, 0, len(s.Rules))
	for i := range s.Rules {
		r := compiledRule{Rule: &s.Rules[i]}
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

// matches reports whether the rule applies to an entry. Filters that compare with the
// present use the time of the entry.
func (r compiledRule) matches(a occurrence, zone *time.Location) bool {
	if r.Trigger != a.Type {
		return false
	}
	m := r.Match
	if m.EventName != "" || m.Type != "" {
		if (m.EventName == "" || m.EventName != a.Name) && (m.Type == "" || m.Type != a.event) {
			return false
		}
	}
	return r.filters == nil || r.filters.Match(a.properties, a.At, zone)
}
