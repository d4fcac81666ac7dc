package flow

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// drain passes the journal's entries to the followers, and carries out what is due.
func (f *fixture) drain() {
	f.Helper()
	e := &journal.Engine{
		DB: f.DB, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Followers: []journal.Follower{contact.Follower(), suppression.Follower(), sequence.Follower(func() time.Time { return f.now })},
	}
	f.must(e.Drain(f.Context()))
	f.tick()
}

func (f *fixture) record(name string, c id.Contact, properties object) {
	f.Helper()
	results, err := event.Record(f.Context(), f.DB, f.Tenant, []event.Input{{Name: name, Contact: c, Properties: properties}}, f.now)
	f.must(err)
	f.must(results[0].Err)
}

func (f *fixture) change(c id.Contact, ch contact.Change) {
	f.Helper()
	rules, err := sender.ContactRules(f.Context(), f.DB, f.Tenant)
	f.must(err)
	_, err = contact.Update(f.Context(), f.DB, f.Tenant, c, ch, rules, f.now)
	f.must(err)
}

// waiting is a graph whose entry waits a week, for triggers.
func waiting() sequence.Graph {
	return graph("rest", []sequence.Node{node("rest", sequence.WaitNode, object{"mode": "duration", "amount": 1, "unit": "week"})})
}

// TestTriggersEnroll fires each kind of trigger, and does what must not fire it.
func TestTriggersEnroll(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		_, err := contact.CreateStage(t.Context(), db, f.Tenant, contact.StageChange{Name: new("Lead"), Category: new(contact.Prospect)}, f.now) // the default
		f.must(err)
		stage, err := contact.CreateStage(t.Context(), db, f.Tenant, contact.StageChange{Name: new("Trial"), Category: new(contact.Prospect)}, f.now)
		f.must(err)
		other := f.AddList("Other")
		people := f.AddContacts(f.List.ID, "p", 2)
		yes, no := people[0].ID, people[1].ID
		f.drain()
		for _, tt := range []struct {
			trigger  string
			fire, no func()
		}{
			{`{"trigger_type": "event", "trigger_config": {"event_name": "paid", "filters": [{"property": "value", "operator": "greater_than", "value": 10}]}}`,
				func() { f.record("paid", yes, object{"value": 11.0}) }, func() { f.record("paid", no, object{"value": 10.0}) }},
			{`{"trigger_type": "tag_added", "trigger_config": {"tag": "vip"}}`,
				func() { f.change(yes, contact.Change{Tags: &[]string{"vip"}}) }, func() { f.change(no, contact.Change{Tags: &[]string{"not"}}) }},
			{`{"trigger_type": "list_added", "trigger_config": {"segment_key": "` + other.Key + `"}}`,
				func() {
					_, err := segment.Add(t.Context(), db, f.Tenant, other.ID, segment.People{IDs: []id.Contact{yes}}, f.now)
					f.must(err)
				},
				func() {
					_, err := segment.Remove(t.Context(), db, f.Tenant, f.List.ID, segment.People{IDs: []id.Contact{no}}, f.now)
					f.must(err)
				}},
			{`{"trigger_type": "stage_changed", "trigger_config": {"to_stage_id": "` + stage.ID.String() + `"}}`,
				func() { f.change(yes, contact.Change{Stage: new(stage.ID.String())}) }, func() {}},
			{`{"trigger_type": "field_changed", "trigger_config": {"field": "city", "to": "Bonn"}}`,
				func() { f.change(yes, contact.Change{Texts: map[contact.Text]*string{contact.City: new("Bonn")}}) },
				func() { f.change(no, contact.Change{Texts: map[contact.Text]*string{contact.City: new("Berlin")}}) }},
		} {
			s := f.start(waiting(), sequence.Change{Trigger: []byte(tt.trigger)})
			tt.fire()
			tt.no()
			f.drain()
			list, _, err := sequence.Enrollments(t.Context(), db, f.Tenant, s.ID, sequence.EnrollmentQuery{Limit: 10})
			f.must(err)
			if len(list) != 1 || list[0].Contact != yes || list[0].Node != "rest" {
				t.Errorf("%s: enrollments %+v, want one of the contact that fired it", tt.trigger, list)
			}
		}
	})
}

// TestWaitsEndByWhatTheyWaitFor waits for an event, a segment and a goal.
func TestWaitsEndByWhatTheyWaitFor(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "p", 4)
		day := object{"amount": 1, "unit": "day"}
		s := f.start(graph("paid", []sequence.Node{
			node("paid", sequence.WaitNode, object{"mode": "until_event", "event_name": "paid", "timeout": day,
				"filters": []any{object{"property": "value", "operator": "greater_than", "value": 10}}}),
			node("thanks", sequence.TagNode, object{"action": "add", "tags": []string{"thanked"}}),
			node("remind", sequence.TagNode, object{"action": "add", "tags": []string{"reminded"}}),
			node("listed", sequence.WaitNode, object{"mode": "until_segment", "segment_key": f.List.Key, "state": "not_in", "timeout": day}),
			node("won", sequence.GoalNode, object{"definition": field("tags", "has_any", []string{"won"})}),
		}, [3]string{"paid", "met", "thanks"}, [3]string{"paid", "timeout", "remind"}, [3]string{"thanks", "", "listed"}),
			sequence.Change{Exits: []byte(`{"events": [{"event_name": "refunded"}]}`)})
		f.enroll(s, nil, people[0].ID, people[1].ID, people[2].ID, people[3].ID)
		f.tick()
		f.record("paid", people[0].ID, object{"value": 10.0})
		f.drain()
		if got := f.at(people[0].ID); got != "paid" {
			t.Errorf("an event that does not pass the filters moved the contact to %q", got)
		}
		f.record("paid", people[0].ID, object{"value": 10.5})
		f.record("refunded", people[2].ID, nil)
		f.change(people[3].ID, contact.Change{Tags: &[]string{"won"}})
		f.drain()
		for i, want := range []string{"listed", "paid", "exited_early", "converted"} {
			if got := f.at(people[i].ID); got != want {
				t.Errorf("contact %d is at %q, want %q", i, got, want)
			}
		}
		_, err := segment.Remove(t.Context(), db, f.Tenant, f.List.ID, segment.People{IDs: []id.Contact{people[0].ID}}, f.now)
		f.must(err)
		f.drain()
		if got := f.at(people[0].ID); got != "completed" {
			t.Errorf("after it left the list the contact is at %q", got)
		}
		f.after(24 * time.Hour)
		if got := f.at(people[1].ID); got != "completed" {
			t.Errorf("after the timeout the contact is at %q", got)
		}
		if tags := f.load(people[1].ID).Tags; len(tags) != 1 || tags[0] != "reminded" {
			t.Errorf("after the timeout the contact has the tags %v", tags)
		}
	})
}

// TestContactsThatMayNotBeMailedLeave unsubscribes, deletes and blocks contacts.
func TestContactsThatMayNotBeMailedLeave(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "p", 4)
		s := f.start(waiting(), sequence.Change{})
		f.enroll(s, nil, people[0].ID, people[1].ID, people[2].ID, people[3].ID)
		f.tick()
		_, err := contact.UnsubscribeAll(t.Context(), db, f.Tenant, []id.Contact{people[0].ID}, f.now)
		f.must(err)
		_, err = contact.Delete(t.Context(), db, f.Tenant, []id.Contact{people[1].ID}, f.now)
		f.must(err)
		f.change(people[2].ID, contact.Change{DoNotContact: new(true)})
		f.drain()
		for i, want := range []sequence.Reason{sequence.ReasonUnsubscribed, sequence.ReasonDeleted, sequence.ReasonDoNotContact, ""} {
			list, err := sequence.OfContact(t.Context(), db, f.Tenant, people[i].ID)
			f.must(err)
			if list[0].Reason != want {
				t.Errorf("contact %d left because of %q, want %q", i, list[0].Reason, want)
			}
		}
	})
}
