package trigger

import (
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/account/journal"
)

// Lookup returns the text by which a holder's trigger is found for entries: its type, and what the
// names of entries must equal. It is one of Lookups of each entry that fires the trigger.
func (t Trigger) Lookup() string {
	c := t.Config
	switch t.Type {
	case Event:
		return string(t.Type) + ":" + c.Event
	case ListAdded, SegmentEntered, SegmentLeft:
		return string(t.Type) + ":" + c.Segment
	case FormSubmitted:
		return string(t.Type) + ":" + c.Form
	case TagAdded:
		return string(t.Type) + ":" + c.Tag
	case Date:
		return string(t.Type) + ":" + c.Field
	}
	return string(t.Type)
}

// Lookups returns the texts of Lookup of all triggers that entries may fire.
func Lookups(entries []journal.Entry) []string {
	found := map[string]bool{}
	for _, e := range entries {
		switch e.Type {
		case journal.CustomEvent:
			found[string(Event)+":"+e.Name] = true
		case journal.ListAdded:
			var d listed
			if e.Decode(&d) == nil {
				found[string(ListAdded)+":"+d.Key] = true
			}
		case journal.SegmentEntered:
			found[string(SegmentEntered)+":"+e.Name] = true
		case journal.SegmentLeft:
			found[string(SegmentLeft)+":"+e.Name] = true
		case journal.FormSubmitted:
			found[string(FormSubmitted)+":"+e.Name] = true
		case journal.TagAdded:
			found[string(TagAdded)+":"+e.Name] = true
		case journal.DateReached:
			found[string(Date)+":"+e.Name] = true
		case journal.StageChanged:
			found[string(StageChanged)] = true
		case journal.ContactCreated:
			found[string(ContactCreated)] = true
		case journal.ContactUpdated:
			found[string(FieldChanged)] = true
		case journal.EmailOpened, journal.EmailClicked:
			found[string(Engagement)] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// listed is the data of an entry about a contact that was added to a list.
type listed struct {
	Key string `json:"segment_key"`
}
