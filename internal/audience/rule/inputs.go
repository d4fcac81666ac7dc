package rule

import (
	"slices"
	"strings"
)

// Inputs is what the result of a rule for a contact depends on.
type Inputs struct {
	// Fields are the names of fields, as in a Field, whose changes journal entries of type
	// contact_updated name: those in the contact's row that people or programs set.
	Fields map[string]bool
	// Sources are the other things: lists, mails, events and so on.
	Sources map[Source]bool
	// Events are the names of custom events, if Sources has FromEvents; "" stands for any.
	Events map[string]bool
	// Passing is set if the result may change without an entry in the journal: as time passes, or
	// because it depends on values that are computed later.
	Passing bool
}

// Source is something that a rule depends on, besides fields of the contact.
type Source string

// The sources.
const (
	FromLists         Source = "lists"
	FromMails         Source = "mails"
	FromEvents        Source = "events"
	FromPages         Source = "pages"
	FromForms         Source = "forms"
	FromSubscriptions Source = "subscriptions"
	FromSequences     Source = "sequences"
	FromSuppressions  Source = "suppressions"
	FromScores        Source = "scores"
	FromComputed      Source = "computed" // values that any entry may change
)

// computedFields are fields in the contact's row that are not set by name.
var computedFields = []string{
	"global_status", "status_before_suppress", "created_at", "updated_at", "anonymized_at", "suppressed_at", "unsubscribed_at", "lifecycle_stage",
}

// Inputs returns what the rule depends on, including the segments that it refers to.
func (t Tree) Inputs(s Schema) Inputs {
	in := Inputs{Fields: map[string]bool{}, Sources: map[Source]bool{}, Events: map[string]bool{}}
	in.add(t, Env{Schema: s})
	return in
}

func (in *Inputs) add(t Tree, env Env) {
	t.walk(func(c Condition, _ string) {
		switch c := c.(type) {
		case Field:
			in.addField(c, env.Schema)
		case List:
			in.from(FromLists, c.Added)
		case InSegment:
			for _, key := range c.Keys {
				if r, inner, ok := env.into(key); ok {
					in.add(r.Tree, inner)
				}
			}
		case Email:
			in.from(FromMails, c.Window)
			in.Passing = true // opens are classified later
		case Broadcast, SequenceEmail:
			in.from(FromMails, nil)
			in.Passing = true
		case Event:
			in.from(FromEvents, c.Window)
			in.addEvents(EventMatch{c.Name, c.Filters})
		case EventSequence:
			in.from(FromEvents, c.Window)
			in.addEvents(c.First)
			in.addEvents(c.Then)
			in.Passing = in.Passing || c.Operator == NotFollowed
		case PageView:
			in.from(FromPages, c.Window)
		case Form:
			in.from(FromForms, c.Window)
		case Subscription:
			in.from(FromSubscriptions, nil)
		case InSequence:
			in.from(FromSequences, c.Window)
		case Suppression:
			in.from(FromSuppressions, nil)
		}
	})
}

// from adds a source, and notes a window that moves.
func (in *Inputs) from(s Source, w *Window) {
	in.Sources[s] = true
	in.Passing = in.Passing || w != nil && w.InTheLast != nil
}

func (in *Inputs) addEvents(m EventMatch) {
	in.Events[m.Name] = true
	in.Passing = in.Passing || slices.ContainsFunc(m.Filters, func(p Property) bool { return relative(p.Operator) })
}

func (in *Inputs) addField(f Field, s Schema) {
	in.Passing = in.Passing || relative(f.Operator)
	target, _, _ := s.field(f.Name)
	switch {
	case f.Name == "stage", f.Name == "stage_id":
		in.Fields["stage_id"] = true
	case f.Name == "list":
		in.Sources[FromLists] = true
	case strings.HasPrefix(f.Name, typePrefix), strings.HasPrefix(f.Name, categoryPrefix):
		in.Sources[FromSubscriptions] = true
	case f.Name == "prospect_score", f.Name == "customer_score", f.Name == "score_updated_at":
		in.Sources[FromScores] = true
	case target.place == ofActivity, target.place == ofTouch, target.place == ofDomain, target.place == elsewhere, slices.Contains(computedFields, f.Name):
		in.Sources[FromComputed] = true
		in.Passing = true
	case f.Name == "email_domain":
		in.Fields["email"] = true
	case f.Name == "full_name":
		in.Fields["first_name"], in.Fields["last_name"] = true, true
	default:
		in.Fields[f.Name] = true
	}
}

// relative reports whether the result of an operator changes as time passes.
func relative(op Operator) bool {
	switch op {
	case InTheLast, NotInTheLast, InTheNext, MoreThanAgo, AnniversaryInNext:
		return true
	}
	return false
}
