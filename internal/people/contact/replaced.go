package contact

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Replaced is what drafts replaced in a contact, so that it can be taken back (TakeBack). It encodes to JSON.
type Replaced struct {
	Contact  id.Contact        `json:"c"`
	Revision int64             `json:"r"`           // after the drafts
	Values   map[string]Former `json:"v,omitempty"` // by field
	Tags     []string          `json:"t,omitempty"` // that were added
	Scores   *[2]float64       `json:"s,omitempty"` // the prospect and the customer score that a new stage set to zero
	Stage    id.Stage          `json:"g,omitzero"`  // the one with these scores
	Refused  bool              `json:"n,omitempty"` // the contact gets less mail: this is not taken back
	Again    bool              `json:"a,omitempty"` // the same work may have replaced more in the contact before
}

// Former is a former value of a field. Of the one that replaced it there is only a hash, which says whether it is still
// there.
type Former struct {
	Was any    `json:"w,omitempty"` // as in JSON; nil: none
	Now uint32 `json:"n"`
}

// The names of fields in Replaced besides those of text columns.
const (
	stageField    = "stage_id"
	blockedField  = "do_not_contact"
	statusField   = "global_status"
	customField   = "custom_fields."
	typeField     = "subscriptions."
	categoryField = "category_subscriptions."
)

// hashValue returns a hash of a value that encodes to JSON, 0 for nil.
func hashValue(v any) uint32 {
	if v == nil {
		return 0
	}
	text, err := json.Marshal(v)
	if err != nil { // values that are stored encode
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write(text)
	return max(h.Sum32(), 1)
}

// traced returns the value of a field by its name in Replaced, nil if there is none.
func (c *Contact) traced(name string) any {
	if _, ok := ParseText(name); ok {
		if text := *c.text(Text(name)); text != nil {
			return *text
		}
		return nil
	}
	switch name {
	case stageField:
		if c.Stage.IsZero() {
			return nil
		}
		return c.Stage.String()
	case blockedField:
		return c.DoNotContact
	case statusField:
		return string(c.Status)
	}
	if key, ok := strings.CutPrefix(name, customField); ok {
		return c.CustomFields[key]
	}
	var on, given bool
	if key, ok := strings.CutPrefix(name, typeField); ok {
		on, given = c.Subscriptions[key]
	} else if key, ok := strings.CutPrefix(name, categoryField); ok {
		category, _ := id.Parse[id.Category](key)
		on, given = c.CategorySubscriptions[category]
	}
	if !given {
		return nil
	}
	return on
}

// replacedBy returns what a change of c to now replaced; nil: nothing.
func (c *Contact) replacedBy(now *Contact) *Replaced {
	if c.Revision == now.Revision {
		return nil
	}
	r := &Replaced{Contact: c.ID, Revision: now.Revision, Values: map[string]Former{}, Tags: difference(now.Tags, c.Tags)}
	note := func(name string) {
		was, is := c.traced(name), now.traced(name)
		if hash := hashValue(is); hash != hashValue(was) {
			r.Values[name] = Former{was, hash}
		}
	}
	for _, t := range allTexts {
		if !equalText(*c.text(t), *now.text(t)) {
			note(string(t))
		}
	}
	for key := range now.CustomFields {
		note(customField + key)
	}
	for key := range c.CustomFields {
		note(customField + key)
	}
	note(stageField)
	if c.ProspectScore != now.ProspectScore || c.CustomerScore != now.CustomerScore {
		r.Scores, r.Stage = &[2]float64{c.ProspectScore, c.CustomerScore}, c.Stage
	}
	r.noteConsent(c, now, note)
	return r
}

// noteConsent notes changes of what mail the contact gets: what allows more is a value to take back, unlike what
// allows less.
func (r *Replaced) noteConsent(was, is *Contact, note func(name string)) {
	for key, on := range is.Subscriptions {
		if before, given := was.Subscriptions[key]; on {
			note(typeField + key)
		} else if !given || before {
			r.Refused = true
		}
	}
	for key, on := range is.CategorySubscriptions {
		if before, given := was.CategorySubscriptions[key]; on {
			note(categoryField + key.String())
		} else if !given || before {
			r.Refused = true
		}
	}
	switch {
	case was.DoNotContact && !is.DoNotContact:
		note(blockedField)
	case is.DoNotContact && !was.DoNotContact:
		r.Refused = true
	}
	switch {
	case was.Status == Pending && is.Status == Active:
		note(statusField)
	case is.Status != was.Status, is.StatusBeforeSuppress != was.StatusBeforeSuppress, sqldb.NullMicros(is.UnsubscribedAt) != sqldb.NullMicros(was.UnsubscribedAt):
		r.Refused = true
	}
}

// With returns what is replaced by r and, after it, by later.
func (r Replaced) With(later Replaced) Replaced {
	values := maps.Clone(r.Values)
	for name, v := range later.Values {
		if first, both := values[name]; both {
			v.Was = first.Was
		}
		values[name] = v
	}
	later.Values, later.Refused = values, r.Refused || later.Refused
	later.Again = r.Again || later.Again
	later.Tags = append(slices.Clone(r.Tags), difference(later.Tags, r.Tags)...)
	if r.Scores != nil {
		later.Scores, later.Stage = r.Scores, r.Stage
	}
	return later
}
