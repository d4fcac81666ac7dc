package flow

import (
	"encoding/json"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// fixture is an account with a library entry, and an engine whose clock the test sets.
type fixture struct {
	*testing.T
	*broadcasttest.Account
	engine *Engine
	now    time.Time
	entry  library.Entry
}

func newFixture(t *testing.T, db *sqldb.DB) *fixture {
	t.Helper()
	f := &fixture{T: t, Account: broadcasttest.New(t, db, "acme"), now: broadcasttest.Now}
	f.engine = &Engine{DB: db, Now: func() time.Time { return f.now }, Box: broadcasttest.Box(t), Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	entry, err := library.Create(t.Context(), f.Author(f.now), f.Tenant, library.Change{
		Name: new("Welcome"),
		Content: &draft.Change{Parts: map[draft.Field]*string{
			draft.Subject: new("Welcome to {{ sequence.name }}"), draft.BodyHTML: new(`<p>Hi {{ first_name }}, <a href="https://example.org/">start</a></p>`),
		}},
	})
	f.must(err)
	f.entry = entry
	_, err = db.Exec(t.Context(), `UPDATE tenant SET default_mta_config_id = $2 WHERE tenant_id = $1`, f.Tenant, f.Lane.ID)
	f.must(err)
	return f
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// edges are "from to" or "from label to".
func graph(entry string, nodes []sequence.Node, edges ...[3]string) sequence.Graph {
	g := sequence.Graph{Entry: entry, Nodes: nodes}
	for _, e := range edges {
		g.Edges = append(g.Edges, sequence.Edge{From: e[0], Label: e[1], To: e[2]})
	}
	return g
}

func node(nodeID string, t sequence.NodeType, config any) sequence.Node {
	raw, err := json.Marshal(config)
	if err != nil {
		panic(err)
	}
	return sequence.Node{ID: nodeID, Type: t, Config: raw}
}

type object = map[string]any

// field is a rule that tests a field of the contact.
func field(name, operator string, value any) object {
	return object{"logic": "and", "conditions": []any{object{"field": name, "operator": operator, "value": value}}}
}

// start activates a sequence with a graph.
func (f *fixture) start(g sequence.Graph, ch sequence.Change) sequence.Sequence {
	f.Helper()
	ch.Name = new("Onboarding")
	s, err := sequence.Create(f.Context(), f.DB, f.Tenant, ch, f.now)
	f.must(err)
	_, err = sequence.SetGraph(f.Context(), f.DB, f.Tenant, s.ID, g, false, f.now)
	f.must(err)
	s, err = sequence.Activate(f.Context(), f.DB, f.Tenant, s.ID, f.now)
	f.must(err)
	return s
}

func (f *fixture) enroll(s sequence.Sequence, trigger object, contacts ...id.Contact) []sequence.Enrolled {
	f.Helper()
	var raw json.RawMessage
	if trigger != nil {
		raw, _ = json.Marshal(trigger)
	}
	var list []sequence.Candidate
	for _, c := range contacts {
		list = append(list, sequence.Candidate{Contact: c, Trigger: raw})
	}
	var results []sequence.Enrolled
	f.must(f.DB.InTx(f.Context(), func(tx *sqldb.DB) (err error) {
		results, err = sequence.EnrollAll(f.Context(), tx, s, list, f.now)
		return err
	}))
	return results
}

// tick carries out all steps that are due.
func (f *fixture) tick() {
	f.Helper()
	for {
		more, err := f.engine.Tick(f.Context())
		f.must(err)
		if !more {
			return
		}
	}
}

// after moves the clock and carries out what is due.
func (f *fixture) after(d time.Duration) {
	f.Helper()
	f.now = f.now.Add(d)
	f.tick()
}

// at returns where a contact's latest enrollment is: its node, or its outcome.
func (f *fixture) at(c id.Contact) string {
	f.Helper()
	list, err := sequence.OfContact(f.Context(), f.DB, f.Tenant, c)
	f.must(err)
	if len(list) == 0 {
		return "nowhere"
	}
	if e := list[0]; e.Status != sequence.InProgress {
		return e.Outcome()
	}
	return list[0].Node
}

// mails returns how many messages each node has sent.
func (f *fixture) mails(s sequence.Sequence) map[string]int {
	f.Helper()
	sends, err := sequence.Sends(f.Context(), f.DB, f.Tenant, s.ID)
	f.must(err)
	found := map[string]int{}
	for n, send := range sends {
		p, err := outbox.Load(f.Context(), f.DB, f.Tenant, send)
		f.must(err)
		found[n] = p.Total
	}
	return found
}

func (f *fixture) load(c id.Contact) contact.Contact {
	f.Helper()
	one, err := contact.ByID(f.Context(), f.DB, f.Tenant, c)
	f.must(err)
	return one
}

// TestContactsFollowTheGraph leads contacts through every kind of step that needs no trigger.
func TestContactsFollowTheGraph(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		vip := f.AddList("Very important")
		people := f.AddContacts(f.List.ID, "c", 4)
		g := graph("hello", []sequence.Node{
			node("hello", sequence.SendNode, object{"message_id": f.entry.ID, "email_type_key": f.Type.Key}),
			node("rest", sequence.WaitNode, object{"mode": "duration", "amount": 2, "unit": "hour"}),
			node("paid", sequence.ConditionNode, object{"definition": object{"logic": "and", "conditions": []any{
				object{"type": "trigger_event", "property": "plan", "operator": "equals", "value": "pro"},
			}}}),
			node("label", sequence.TagNode, object{"action": "add", "tags": []string{"pro"}}),
			node("join", sequence.ListNode, object{"action": "add", "segment_key": vip.Key}),
			node("name", sequence.UpdateNode, object{"fields": object{"company": "{{ event.properties.plan | upcase }} Ltd"}}),
			node("record", sequence.EventNode, object{"event_name": "welcomed", "properties": object{"by": "sequence"}}),
			node("choose", sequence.BranchNode, object{"branches": []any{object{"label": "tagged", "definition": field("tags", "has_any", []string{"pro"})}}}),
			node("again", sequence.SendNode, object{"message_id": f.entry.ID, "email_type_key": f.Type.Key}),
			node("out", sequence.ExitNode, object{}),
		},
			[3]string{"hello", "", "rest"}, [3]string{"rest", "", "paid"}, [3]string{"paid", "true", "label"}, [3]string{"paid", "false", "choose"},
			[3]string{"label", "", "join"}, [3]string{"join", "", "name"}, [3]string{"name", "", "record"}, [3]string{"record", "", "choose"},
			[3]string{"choose", "tagged", "again"}, [3]string{"choose", "else", "out"})
		s := f.start(g, sequence.Change{})
		f.enroll(s, object{"properties": object{"plan": "pro"}}, people[0].ID, people[1].ID)
		f.enroll(s, object{"properties": object{"plan": "free"}}, people[2].ID)
		if again := f.enroll(s, nil, people[0].ID); again[0].New || again[0].Enrollment.IsZero() {
			t.Errorf("enrolling a contact twice returned %+v, want the enrollment it has", again[0])
		}
		f.tick()
		if got := f.at(people[0].ID); got != "rest" {
			t.Fatalf("after the mail the contact is at %q", got)
		}
		if diff := cmp.Diff(map[string]int{"hello": 3}, f.mails(s)); diff != "" {
			t.Error(diff)
		}
		f.after(119 * time.Minute)
		if got := f.at(people[0].ID); got != "rest" {
			t.Fatalf("before the end of the wait the contact is at %q", got)
		}
		f.after(time.Minute)
		for i, want := range []string{"completed", "completed", "exited_early", "nowhere"} {
			if got := f.at(people[i].ID); got != want {
				t.Errorf("contact %d is %s, want %s", i, got, want)
			}
		}
		if diff := cmp.Diff(map[string]int{"hello": 3, "again": 2}, f.mails(s)); diff != "" {
			t.Error(diff)
		}
		c := f.load(people[1].ID)
		if !slices.Contains(c.Tags, "pro") || c.Company == nil || *c.Company != "PRO Ltd" {
			t.Errorf("the contact has tags %v and company %v", c.Tags, c.Company)
		}
		var members, events int
		f.must(db.QueryRow(t.Context(), `SELECT COUNT(*) FROM segment_member WHERE tenant_id = $1 AND segment_id = $2`, f.Tenant, vip.ID).Scan(&members))
		f.must(db.QueryRow(t.Context(), `SELECT COUNT(*) FROM journal WHERE tenant_id = $1 AND type = 'event' AND name = 'welcomed'`, f.Tenant).Scan(&events))
		if members != 2 || events != 2 {
			t.Errorf("%d members and %d events, want 2 of each", members, events)
		}
		listed, err := sequence.List(t.Context(), db, f.Tenant, sequence.Filter{Search: "BOARD"})
		f.must(err)
		if len(listed) != 1 || listed[0].ID != s.ID || listed[0].Graph.Entry != "hello" {
			t.Errorf("the list of sequences is %+v", listed)
		}
		all, err := sequence.Counts(t.Context(), db, f.Tenant, s.ID)
		f.must(err)
		if got := all[""]; got != (sequence.NodeCount{Entered: 3, Completed: 2, Exited: 1}) {
			t.Errorf("the sequence's counts are %+v", got)
		}
		if got := all["paid"]; got.Entered != 3 || got.Completed != 3 {
			t.Errorf("the condition's counts are %+v", got)
		}
	})
}

// TestPausedTimersStandStill pauses a sequence during waits.
func TestPausedTimersStandStill(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "c", 3)
		s := f.start(graph("rest", []sequence.Node{
			node("rest", sequence.WaitNode, object{"mode": "duration", "amount": 10, "unit": "hour"}),
			node("tag", sequence.TagNode, object{"action": "add", "tags": []string{"done"}}),
		}, [3]string{"rest", "", "tag"}), sequence.Change{})
		f.enroll(s, nil, people[0].ID, people[1].ID)
		f.after(0)
		f.after(4 * time.Hour)
		f.enroll(s, nil, people[2].ID)
		_, err := sequence.Pause(t.Context(), db, f.Tenant, s.ID, f.now)
		f.must(err)
		f.after(100 * time.Hour)
		if got := f.at(people[0].ID); got != "in_progress" {
			t.Errorf("while paused the contact is %q", got)
		}
		s, err = sequence.Resume(t.Context(), db, f.Tenant, s.ID, f.now)
		f.must(err)
		f.after(6*time.Hour - time.Second)
		if got := f.at(people[0].ID); got != "rest" {
			t.Errorf("one second before the end of the wait the contact is at %q", got)
		}
		f.after(time.Second)
		if got := f.at(people[0].ID); got != "completed" {
			t.Errorf("at the end of the wait the contact is at %q", got)
		}
		if got := f.at(people[2].ID); got != "rest" {
			t.Errorf("the contact that came last is at %q", got)
		}
	})
}

// TestContactsEnrolledDuringAPauseContinue enrolls contacts with sequences that were read before
// another transaction paused or archived them.
func TestContactsEnrolledDuringAPauseContinue(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "c", 2)
		g := graph("tag", []sequence.Node{node("tag", sequence.TagNode, object{"action": "add", "tags": []string{"done"}})})
		paused, archived := f.start(g, sequence.Change{}), f.start(g, sequence.Change{})
		_, err := sequence.Pause(t.Context(), db, f.Tenant, paused.ID, f.now)
		f.must(err)
		_, err = sequence.Archive(t.Context(), db, f.Tenant, archived.ID, f.now)
		f.must(err)
		f.enroll(paused, nil, people[0].ID)
		f.enroll(archived, nil, people[1].ID)
		f.after(time.Hour)
		if tags := f.load(people[0].ID).Tags; len(tags) != 0 {
			t.Errorf("a paused sequence added the tags %v", tags)
		}
		list, err := sequence.OfContact(t.Context(), db, f.Tenant, people[1].ID)
		f.must(err)
		if len(list) != 1 || list[0].Reason != sequence.ReasonArchived {
			t.Errorf("in the archived sequence: %+v", list)
		}
		_, err = sequence.Resume(t.Context(), db, f.Tenant, paused.ID, f.now)
		f.must(err)
		f.tick()
		if got := f.at(people[0].ID); got != "completed" {
			t.Errorf("after the pause the contact is %q", got)
		}
	})
}
