package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/automation"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/people/contact"
	customfield "github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// automate creates an active automation.
func (f *fixture) automate(typ trigger.Type, config, definition any, actions ...object) automation.Automation {
	f.Helper()
	ch := automation.Change{Name: new("Rule"), TriggerType: &typ, TriggerConfig: encoded(config), Actions: &[]automation.Action{}}
	if definition != nil {
		ch.Definition = encoded(definition)
	}
	for _, a := range actions {
		*ch.Actions = append(*ch.Actions, automation.Action{Type: a["type"].(sequence.NodeType), Config: encoded(a["config"])})
	}
	a, err := automation.Create(f.Context(), f.DB, f.engine.Box, f.Tenant, ch, webhook.Rules{}, f.now)
	f.must(err)
	return a
}

func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

func does(t sequence.NodeType, config object) object { return object{"type": t, "config": config} }

func tagging(tag string) object {
	return does(sequence.TagNode, object{"action": "add", "tags": []string{tag}})
}

func onEvent(name string) object { return object{"event_name": name} }

// automations returns an engine of automations with the clock of the test.
func (f *fixture) automations(batch int) *Automations {
	return &Automations{DB: f.DB, Now: func() time.Time { return f.now }, Box: f.engine.Box, Log: f.engine.Log, Batch: batch}
}

// follow passes the journal to the followers once, and carries out all runs and steps that are due,
// until there are no more.
func (f *fixture) follow(batch int) {
	f.Helper()
	now := func() time.Time { return f.now }
	e := &journal.Engine{DB: f.DB, Log: f.engine.Log, Followers: []journal.Follower{
		contact.Follower(), trigger.Follower(now), sequence.Follower(now), automation.Follower(now),
	}}
	triggers := &trigger.Engine{DB: f.DB, Now: now, Log: f.engine.Log}
	for range 2 { // followers append entries for followers
		f.must(e.Drain(f.Context()))
		for more := true; more; {
			var err error
			more, err = triggers.Tick(f.Context())
			f.must(err)
		}
	}
	for more := true; more; {
		var err error
		more, err = f.automations(batch).Tick(f.Context())
		f.must(err)
	}
	f.tick()
}

func (f *fixture) runs(a automation.Automation) []automation.Run {
	f.Helper()
	list, _, err := automation.Runs(f.Context(), f.DB, f.Tenant, a.ID, automation.RunQuery{Limit: 500})
	f.must(err)
	return list
}

// checkSums compares the sums of an automation with its runs.
func (f *fixture) checkSums(a automation.Automation) {
	f.Helper()
	stored, err := automation.Load(f.Context(), f.DB, f.Tenant, a.ID)
	f.must(err)
	n, last := 0, time.Time{}
	for _, r := range f.runs(a) {
		if r.Status == automation.Completed || r.Status == automation.Failed {
			n++
			if r.EndedAt.After(last) {
				last = *r.EndedAt
			}
		}
	}
	if stored.Runs != n || n > 0 && !stored.LastRunAt.Equal(last) || n == 0 && stored.LastRunAt != nil {
		f.Errorf("the sums are %d runs, the last at %v; want %d, %v", stored.Runs, stored.LastRunAt, n, last)
	}
}

func (f *fixture) number(query string, args ...any) (n int) {
	f.Helper()
	f.must(f.DB.QueryRow(f.Context(), query, args...).Scan(&n))
	return n
}

// TestAnEventCarriesOutEveryAction fires an automation with each type of action.
func TestAnEventCarriesOutEveryAction(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		other := broadcasttest.New(t, db, "other")
		stranger := other.AddContacts(other.List.ID, "o", 1)[0]
		user, err := auth.CreateUser(t.Context(), db, "owner@example.org", "Owner", "x", f.now)
		f.must(err)
		f.must(auth.AddMember(t.Context(), db, f.Tenant, user.ID, auth.Owner, auth.BySystem, f.now))
		stage, err := contact.CreateStage(t.Context(), db, f.Tenant, contact.StageChange{Name: new("Client"), Category: new(contact.Customer)}, f.now)
		f.must(err)
		vip := f.AddList("Very important")
		next := f.start(waiting(), sequence.Change{})
		people := f.AddContacts(f.List.ID, "p", 3)
		f.follow(0)
		a := f.automate(trigger.Event, onEvent("paid"), field("tags", "has_none", []string{"blocked"}),
			does(sequence.ListNode, object{"action": "add", "segment_key": vip.Key}),
			tagging("payer"),
			does(sequence.UpdateNode, object{"fields": object{"company": "{{ event.company }} by {{ automation.name }}"}}),
			does(sequence.StageNode, object{"stage_id": stage.ID}),
			does(sequence.SubscriptionNode, object{"action": "subscribe", "email_type_key": f.Type.Key}),
			does(sequence.EventNode, object{"event_name": "thanked", "properties": object{"how": "by mail"}}),
			does(sequence.WebhookNode, object{"url": "https://hooks.example.com/paid", "headers": object{"X-Plan": "{{ event.plan }}"}}),
			does(sequence.NotifyNode, object{"to": []string{"Owner@example.org"}, "subject": "{{ email }} paid", "body": "{{ event.value }}"}),
			does(sequence.EnrollNode, object{"sequence_id": next.ID}),
		)
		f.change(people[1].ID, contact.Change{Tags: &[]string{"blocked"}})
		f.record("paid", people[0].ID, object{"company": "ACME", "value": 12.0, "plan": "pro"})
		f.record("paid", people[1].ID, nil)
		f.record("asked", people[2].ID, nil)
		f.follow(0)
		runs := f.runs(a)
		if len(runs) != 1 || runs[0].Contact != people[0].ID || runs[0].Status != automation.Completed || runs[0].EndedAt == nil {
			t.Fatalf("the runs are %+v, want one of the contact that paid", runs)
		}
		if started, err := runs[0].Event(); err != nil || started.Name != "paid" || started.Properties["value"] != json.Number("12") {
			t.Errorf("the run was started by %+v, %v", started, err)
		}
		var want []automation.Result
		for _, action := range a.Actions {
			want = append(want, automation.Result{Type: action.Type, Status: automation.ActionDone})
		}
		if diff := cmp.Diff(want, runs[0].Results); diff != "" {
			t.Errorf("the results (-want +got): %s", diff)
		}
		c := f.load(people[0].ID)
		if !slices.Equal(c.Tags, []string{"payer"}) || *c.Company != "ACME by Rule" || c.Stage != stage.ID {
			t.Errorf("the contact has tags %v, company %v and stage %v", c.Tags, *c.Company, c.Stage)
		}
		if got := f.at(people[0].ID); got != "rest" {
			t.Errorf("in the sequence the contact is at %q", got)
		}
		if n := f.number(`SELECT COUNT(*) FROM segment_member WHERE tenant_id = $1 AND segment_id = $2`, f.Tenant, vip.ID); n != 1 {
			t.Errorf("the list has %d members, want 1", n)
		}
		for _, query := range []string{
			`SELECT COUNT(*) FROM journal WHERE tenant_id = $1 AND type = 'event' AND name = 'thanked'`,
			`SELECT COUNT(*) FROM journal WHERE tenant_id = $1 AND type = 'sequence_enrolled'`,
			`SELECT COUNT(*) FROM notice WHERE tenant_id = $1 AND recipient = 'owner@example.org' AND body = '12'`,
			`SELECT COUNT(*) FROM webhook_delivery WHERE tenant_id = $1 AND event_type = 'automation.action' AND timeout_s > 0`,
		} {
			if got := f.number(query, f.Tenant); got != 1 {
				t.Errorf("%s: %d, want 1", query, got)
			}
		}
		var body string
		f.must(db.QueryRow(t.Context(), `SELECT body FROM webhook_delivery WHERE tenant_id = $1`, f.Tenant).Scan(&body))
		for _, part := range []string{`"type":"automation.action"`, a.ID.String(), runs[0].ID.String(), `"email":"` + c.Email + `"`, `"name":"paid"`} {
			if !strings.Contains(body, part) {
				t.Errorf("the request lacks %s: %s", part, body)
			}
		}
		f.checkSums(a)
		if n := f.number(`SELECT COUNT(*) FROM automation_run WHERE tenant_id = $1`, other.Tenant); n != 0 {
			t.Errorf("another tenant has %d runs", n)
		}
		one, err := contact.ByID(t.Context(), db, other.Tenant, stranger.ID)
		f.must(err)
		if len(one.Tags) != 0 || !one.UpdatedAt.Equal(stranger.UpdatedAt) {
			t.Errorf("a contact of another tenant changed: %+v", one)
		}
	})
}

// TestActionsThatDoNothingSaySo enrolls a contact twice, and refers to records that were deleted.
func TestActionsThatDoNothingSaySo(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		next, paused := f.start(waiting(), sequence.Change{}), f.start(waiting(), sequence.Change{})
		gone := f.AddList("Gone")
		p := f.AddContacts(f.List.ID, "p", 1)[0]
		a := f.automate(trigger.TagAdded, object{"tag": "vip"}, nil,
			does(sequence.EnrollNode, object{"sequence_id": next.ID}),
			does(sequence.EnrollNode, object{"sequence_id": paused.ID}),
			does(sequence.ListNode, object{"action": "add", "segment_key": gone.Key}),
			tagging("done"))
		f.must(segment.Delete(t.Context(), db, f.Tenant, gone.ID, usage.Finders{}))
		_, err := sequence.Pause(t.Context(), db, f.Tenant, paused.ID, f.now)
		f.must(err)
		f.enroll(next, nil, p.ID)
		f.change(p.ID, contact.Change{Tags: &[]string{"vip"}})
		f.follow(0)
		runs := f.runs(a)
		if len(runs) != 1 || runs[0].Status != automation.Failed || runs[0].Reason != automation.ReasonAction {
			t.Fatalf("the runs are %+v, want one that failed", runs)
		}
		var got []automation.ActionStatus
		for _, r := range runs[0].Results {
			got = append(got, r.Status)
			if (r.Reason == "") != (r.Status == automation.ActionDone) {
				t.Errorf("the reason of %+v", r)
			}
		}
		for _, status := range []automation.Status{automation.Paused, automation.Active} {
			_, err := automation.Update(t.Context(), db, nil, f.Tenant, a.ID, automation.Change{Status: &status}, webhook.Rules{}, f.now)
			if _, refused := fault.As(err); refused != (status == automation.Active) {
				t.Errorf("making an automation %s whose list was deleted: %v", status, err)
			}
		}
		if diff := cmp.Diff([]automation.ActionStatus{automation.ActionSkipped, automation.ActionFailed, automation.ActionFailed, automation.ActionDone}, got); diff != "" {
			t.Error(diff)
		}
		f.checkSums(a)
	})
}

// TestTriggersStartRuns fires each kind of trigger, and does what must not fire it.
func TestTriggersStartRuns(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		_, err := contact.CreateStage(t.Context(), db, f.Tenant, contact.StageChange{Name: new("Lead"), Category: new(contact.Prospect)}, f.now) // the default
		f.must(err)
		stage, err := contact.CreateStage(t.Context(), db, f.Tenant, contact.StageChange{Name: new("Trial"), Category: new(contact.Prospect)}, f.now)
		f.must(err)
		list := f.AddList("Other")
		german, err := segment.Create(t.Context(), db, f.Tenant, segment.Change{Name: new("German"), Definition: encoded(field("country", "equals", "DE"))}, f.now)
		f.must(err)
		people := f.AddContacts(f.List.ID, "p", 2)
		yes, no := people[0].ID, people[1].ID
		country := func(c id.Contact, to string) {
			f.change(c, contact.Change{Texts: map[contact.Text]*string{contact.Country: &to}})
		}
		journalled := func(e journal.Entry) {
			e.Tenant, e.At = f.Tenant, f.now
			f.must(db.InTx(t.Context(), func(tx *sqldb.DB) error { return journal.Append(t.Context(), tx, e) }))
		}
		clicked := func(c id.Contact, link string) {
			journalled(journal.Entry{Type: journal.EmailClicked, Contact: c, Data: object{"first": true, "link_url": link}})
		}
		_, err = customfield.Create(t.Context(), db, f.Tenant, customfield.Draft{Name: "Renewal", Key: "renewal", Type: customfield.Date}, f.now)
		f.must(err)
		f.change(yes, contact.Change{CustomFields: map[string]any{"renewal": "2026-03-04"}}) // the test begins two days earlier
		f.change(no, contact.Change{CustomFields: map[string]any{"renewal": "2026-06-04"}})
		newcomer := id.Contact{}
		add := func(source string) {
			rules, err := sender.ContactRules(t.Context(), db, f.Tenant)
			f.must(err)
			c, err := contact.Create(t.Context(), db, f.Tenant, source+"@new.example", contact.Change{SourceIfNew: source}, rules, f.now)
			f.must(err)
			if source == "shop" {
				newcomer = c.ID
			}
		}
		seen := map[trigger.Type]bool{}
		for _, tt := range []struct {
			typ      trigger.Type
			config   object
			fire, no func()
		}{
			{trigger.Event, object{"event_name": "paid", "filters": []any{object{"property": "value", "operator": "greater_than", "value": 10}}},
				func() { f.record("paid", yes, object{"value": 11.0}) }, func() { f.record("paid", no, object{"value": 10.0}) }},
			{trigger.TagAdded, object{"tag": "vip"},
				func() { f.change(yes, contact.Change{Tags: &[]string{"vip"}}) }, func() { f.change(no, contact.Change{Tags: &[]string{"not"}}) }},
			{trigger.ListAdded, object{"segment_key": list.Key},
				func() {
					_, err := segment.Add(t.Context(), db, f.Tenant, list.ID, segment.People{IDs: []id.Contact{yes}}, f.now)
					f.must(err)
				},
				func() {
					_, err := segment.Remove(t.Context(), db, f.Tenant, f.List.ID, segment.People{IDs: []id.Contact{no}}, f.now)
					f.must(err)
				}},
			{trigger.StageChanged, object{"to_stage_id": stage.ID}, func() { f.change(yes, contact.Change{Stage: new(stage.ID.String())}) }, func() {}},
			{trigger.FieldChanged, object{"field": "city", "to": "Bonn"},
				func() { f.change(yes, contact.Change{Texts: map[contact.Text]*string{contact.City: new("Bonn")}}) },
				func() { f.change(no, contact.Change{Texts: map[contact.Text]*string{contact.City: new("Berlin")}}) }},
			{trigger.SegmentEntered, object{"segment_key": german.Key}, func() { country(yes, "DE") }, func() { country(no, "FR") }},
			{trigger.SegmentLeft, object{"segment_key": german.Key}, func() { country(yes, "AT") }, func() { country(no, "BE") }},
			{trigger.FormSubmitted, object{"form_slug": "signup"},
				func() { journalled(journal.Entry{Type: journal.FormSubmitted, Name: "signup", Contact: yes}) },
				func() { journalled(journal.Entry{Type: journal.FormSubmitted, Name: "contact", Contact: no}) }},
			{trigger.Engagement, object{"event": "clicked", "link_url": "https://example.org/buy"},
				func() { clicked(yes, "https://example.org/buy") }, func() { clicked(no, "https://example.org/") }},
			{trigger.Date, object{"field": "custom_fields.renewal", "offset": object{"amount": 1, "unit": "day", "direction": "before"}, "time": "09:00"},
				func() { f.now = f.now.Add(24 * time.Hour) }, func() {}},
			{trigger.ContactCreated, object{"source": "shop"}, func() { add("shop") }, func() { add("import") }},
		} {
			seen[tt.typ] = true
			a := f.automate(tt.typ, tt.config, nil, does(sequence.EventNode, object{"event_name": "noted"}))
			f.follow(0) // a watched segment is filled
			f.now = f.now.Add(time.Second)
			tt.fire()
			tt.no()
			f.follow(0)
			want := yes
			if tt.typ == trigger.ContactCreated {
				want = newcomer
			}
			if runs := f.runs(a); len(runs) != 1 || runs[0].Contact != want || runs[0].Status != automation.Completed {
				t.Errorf("%s: runs %+v, want one of the contact that fired it", tt.typ, runs)
			}
		}
		for _, typ := range trigger.Types() {
			if !seen[typ] {
				t.Errorf("no automation with a trigger of type %s was tried", typ)
			}
		}
	})
}

// TestAnEventStartsARunOnce passes entries to followers again and again, in small batches, and counts.
func TestAnEventStartsARunOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "p", 5)
		a := f.automate(trigger.Event, onEvent("paid"), nil, tagging("payer"), does(sequence.EventNode, object{"event_name": "thanked"}))
		second := f.automate(trigger.Event, onEvent("thanked"), nil, tagging("thanked"))
		for range 3 {
			for _, p := range people {
				f.record("paid", p.ID, nil)
			}
		}
		for range 3 {
			f.follow(2)
		}
		for name, of := range map[string]automation.Automation{"first": a, "second": second} {
			each := map[id.Contact]int{}
			for _, r := range f.runs(of) {
				each[r.Contact]++
			}
			for _, p := range people {
				if each[p.ID] != 3 {
					t.Errorf("the %s automation has %d runs of a contact with 3 events", name, each[p.ID])
				}
			}
			f.checkSums(of)
		}
		if n := f.number(`SELECT COUNT(*) FROM journal WHERE tenant_id = $1 AND type = 'event' AND name = 'thanked'`, f.Tenant); n != 15 {
			t.Errorf("%d events were recorded, want 15", n)
		}
	})
}

// TestRunsOfAContactKeepTheirOrder records events whose order the field of the contact shows.
func TestRunsOfAContactKeepTheirOrder(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		p := f.AddContacts(f.List.ID, "p", 1)[0]
		f.automate(trigger.Event, onEvent("moved"), nil, does(sequence.UpdateNode, object{"fields": object{"city": "{{ city }}{{ event.to }}"}}))
		for _, to := range "abcdefg" {
			f.record("moved", p.ID, object{"to": string(to)})
		}
		f.follow(0)
		if got := f.load(p.ID).City; got == nil || *got != "abcdefg" {
			t.Errorf("the field shows %v", got)
		}
	})
}

// TestCyclesOfAutomationsEnd makes two automations fire each other, and one fire itself through a
// sequence.
func TestCyclesOfAutomationsEnd(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "p", 2)
		ping := f.automate(trigger.Event, onEvent("ping"), nil, does(sequence.EventNode, object{"event_name": "pong"}))
		pong := f.automate(trigger.Event, onEvent("pong"), nil, does(sequence.EventNode, object{"event_name": "ping"}))
		again := f.start(graph("tell", []sequence.Node{node("tell", sequence.EventNode, object{"event_name": "told"})}), sequence.Change{AllowReentry: new(true)})
		enroll := f.automate(trigger.Event, onEvent("told"), nil, does(sequence.EnrollNode, object{"sequence_id": again.ID}))
		f.record("ping", people[0].ID, nil)
		f.enroll(again, nil, people[1].ID)
		for last := -1; ; {
			f.follow(0)
			n := f.number(`SELECT COUNT(*) FROM journal WHERE tenant_id = $1 AND type = 'event'`, f.Tenant)
			if n == last {
				break
			}
			if last = n; n > 10*automation.MaxPerHour {
				t.Fatalf("after %d events there is no end", n)
			}
		}
		for name, a := range map[string]automation.Automation{"ping": ping, "pong": pong, "enroll": enroll} {
			runs := f.runs(a)
			skipped := 0
			for _, r := range runs {
				if r.Reason == automation.ReasonTooMany {
					skipped++
				}
			}
			if len(runs)-skipped > automation.MaxPerHour || skipped > 1 {
				t.Errorf("%s: %d runs, %d of them skipped", name, len(runs), skipped)
			}
			f.checkSums(a)
		}
		if n := len(f.runs(ping)); n != automation.MaxPerHour+1 {
			t.Errorf("%d runs of a cycle, want %d and the one that is skipped", n, automation.MaxPerHour)
		}
		f.now = f.now.Add(61 * time.Minute)
		f.record("ping", people[0].ID, nil)
		f.follow(0)
		if n := len(f.runs(ping)); n != automation.MaxPerHour+2 {
			t.Errorf("an hour later there are %d runs, want one more", n)
		}
	})
}

// TestOnlyActiveAutomationsRun fires triggers while automations are paused and archived, and pauses one
// between an event and its run.
func TestOnlyActiveAutomationsRun(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		p := f.AddContacts(f.List.ID, "p", 1)[0]
		a := f.automate(trigger.Event, onEvent("paid"), nil, tagging("payer"))
		set := func(s automation.Status) {
			t.Helper()
			_, err := automation.Update(t.Context(), db, nil, f.Tenant, a.ID, automation.Change{Status: &s}, webhook.Rules{}, f.now)
			f.must(err)
		}
		set(automation.Paused)
		f.record("paid", p.ID, nil)
		f.follow(0)
		f.record("paid", p.ID, nil)
		set(automation.Active) // before the follower sees the event
		f.follow(0)
		set(automation.Archived)
		f.record("paid", p.ID, nil)
		set(automation.Active)
		f.follow(0)
		if runs := f.runs(a); len(runs) != 0 {
			t.Errorf("what happened while the automation was not active started %+v", runs)
		}
		f.record("paid", p.ID, nil)
		e := &journal.Engine{DB: db, Log: f.engine.Log, Followers: []journal.Follower{automation.Follower(func() time.Time { return f.now })}}
		f.must(e.Drain(t.Context()))
		set(automation.Paused)
		f.follow(0)
		runs := f.runs(a)
		if len(runs) != 1 || runs[0].Status != automation.Skipped || runs[0].Reason != automation.ReasonInactive || len(f.load(p.ID).Tags) != 0 {
			t.Errorf("after a pause between event and run the runs are %+v", runs)
		}
		f.checkSums(a)
		if _, err := automation.Update(t.Context(), db, nil, f.Tenant, a.ID, automation.Change{Status: new(automation.Archived)}, webhook.Rules{}, f.now); err != nil {
			t.Error(err)
		}
		if _, err := automation.Update(t.Context(), db, nil, f.Tenant, a.ID, automation.Change{Name: new("New")}, webhook.Rules{}, f.now); !errors.Is(err, automation.ErrTransition) {
			t.Errorf("changing an archived automation: %v", err)
		}
	})
}

// TestADateStartsOneRunDespiteAPause lets a contact move to another time zone during a pause after its
// birthday, so that the birthday comes again.
func TestADateStartsOneRunDespiteAPause(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		_, err := customfield.Create(t.Context(), db, f.Tenant, customfield.Draft{Name: "Birthday", Key: "birthday", Type: customfield.Date}, f.now)
		f.must(err)
		p := f.AddContacts(f.List.ID, "p", 1)[0]
		f.change(p.ID, contact.Change{CustomFields: map[string]any{"birthday": "1990-03-04"}})
		a := f.automate(trigger.Date, object{"field": "custom_fields.birthday", "time": "09:00", "repeat": "yearly"}, nil, tagging("older"))
		f.follow(0)
		check := func(want int) {
			t.Helper()
			f.follow(0)
			if got := len(f.runs(a)); got != want {
				t.Errorf("at %s there are %d runs, want %d", f.now, got, want)
			}
		}
		f.now = time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)
		check(1)
		for _, s := range []automation.Status{automation.Paused, automation.Active} {
			_, err := automation.Update(t.Context(), db, nil, f.Tenant, a.ID, automation.Change{Status: &s}, webhook.Rules{}, f.now)
			f.must(err)
			f.change(p.ID, contact.Change{Texts: map[contact.Text]*string{contact.Timezone: new("America/Los_Angeles")}})
			f.now = f.now.Add(time.Hour)
			f.follow(0)
		}
		f.now = time.Date(2026, 3, 5, 9, 0, 0, 0, time.UTC)
		check(1)
		f.now = time.Date(2027, 3, 4, 17, 0, 0, 0, time.UTC)
		check(2)
	})
}

// TestARunThatCannotBeStoredDelaysNoOther damages the contact of one run.
func TestARunThatCannotBeStoredDelaysNoOther(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "p", 3)
		a := f.automate(trigger.Event, onEvent("paid"), nil, tagging("payer"))
		for _, p := range people {
			f.record("paid", p.ID, nil)
		}
		e := &journal.Engine{DB: db, Log: f.engine.Log, Followers: []journal.Follower{automation.Follower(func() time.Time { return f.now })}}
		f.must(e.Drain(t.Context()))
		_, err := db.Exec(t.Context(), `UPDATE contact SET tags = '"broken"' WHERE tenant_id = $1 AND id = $2`, f.Tenant, people[1].ID)
		f.must(err)
		for range 6 {
			for more := true; more; {
				more, err = f.automations(0).Tick(t.Context())
				f.must(err)
			}
			f.now = f.now.Add(time.Hour)
		}
		got := map[id.Contact]string{}
		for _, r := range f.runs(a) {
			got[r.Contact] = fmt.Sprint(r.Status, r.Reason)
		}
		want := map[id.Contact]string{people[0].ID: "completed", people[1].ID: "failederror", people[2].ID: "completed"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the runs (-want +got): %s", diff)
		}
		f.checkSums(a)
	})
}

// TestDeletingAnAutomationLeavesNothing deletes one with finished and pending runs.
func TestDeletingAnAutomationLeavesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "p", 7)
		a := f.automate(trigger.SegmentEntered, object{"segment_key": f.List.Key, "include_existing": true}, nil, tagging("in"))
		kept := f.automate(trigger.TagAdded, object{"tag": "in"}, nil, tagging("seen"))
		f.follow(0)
		f.follow(0)
		if n := len(f.runs(a)); n != len(people) {
			t.Fatalf("%d runs of existing members, want %d", n, len(people))
		}
		f.must(automation.Delete(t.Context(), db, f.Tenant, a.ID, f.now))
		if _, err := automation.Load(t.Context(), db, f.Tenant, a.ID); !errors.Is(err, automation.ErrNotFound) {
			t.Errorf("loading a deleted automation: %v", err)
		}
		f.follow(2)
		f.now = f.now.Add(11 * time.Minute)
		f.follow(2)
		for query, want := range map[string]int{
			`SELECT COUNT(*) FROM automation_run WHERE tenant_id = $1 AND automation_id = $2`:   0,
			`SELECT COUNT(*) FROM automation_count WHERE tenant_id = $1 AND automation_id = $2`: 0,
		} {
			if got := f.number(query, f.Tenant, a.ID); got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
		for _, table := range []string{"segment_watcher", "segment_watch", "segment_inside", "automation_deleted"} {
			if n := f.number(`SELECT COUNT(*) FROM `+table+` WHERE tenant_id = $1`, f.Tenant); n != 0 {
				t.Errorf("%d rows of %s are left", n, table)
			}
		}
		if n := len(f.runs(kept)); n != len(people) {
			t.Errorf("another automation has %d runs, want %d", n, len(people))
		}
	})
}
