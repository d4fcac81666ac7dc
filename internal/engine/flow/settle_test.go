package flow

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// statuses counts the enrollments of a sequence by status and reason, as callers see them.
func (f *fixture) statuses(s sequence.Sequence, only ...sequence.EnrollmentStatus) map[string]int {
	f.Helper()
	found := map[string]int{}
	q := sequence.EnrollmentQuery{Statuses: only, Limit: 3}
	for more := true; more; {
		var list []sequence.Enrollment
		var err error
		list, more, err = sequence.Enrollments(f.Context(), f.DB, f.Tenant, s.ID, q)
		f.must(err)
		for _, e := range list {
			found[string(e.Status)+string(e.Reason)]++
			q.Before = e.ID
		}
	}
	return found
}

func ids(people []contact.Contact) []id.Contact {
	list := make([]id.Contact, len(people))
	for i, p := range people {
		list[i] = p.ID
	}
	return list
}

// settle lets the enrollments of all sequences follow one page of changes.
func (f *fixture) settle() (more bool) {
	f.Helper()
	list, err := sequence.ListUnsettled(f.Context(), f.DB)
	f.must(err)
	for _, u := range list {
		f.must(sequence.SettleSome(f.Context(), f.DB, u.Tenant, u.Sequence, f.engine.Batch, f.now))
	}
	return len(list) > 0
}

// TestPausesHoldAtOnce pauses and resumes a sequence several times, while its enrollments follow in
// pages of three or not at all. Each wait takes the time that it says, without that of the pauses.
func TestPausesHoldAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		f.engine.Batch = 3
		people := f.AddContacts(f.List.ID, "c", 10)
		for pages := range 5 {
			s := f.start(graph("rest", []sequence.Node{
				node("rest", sequence.WaitNode, object{"mode": "duration", "amount": 10, "unit": "hour"}),
			}), sequence.Change{})
			f.enroll(s, nil, ids(people)...)
			f.after(4 * time.Hour) // six are left
			f.after(0)
			for range 3 {
				_, err := sequence.Pause(t.Context(), db, f.Tenant, s.ID, f.now)
				f.must(err)
				if diff := cmp.Diff(map[string]int{"paused": 10}, f.statuses(s)); diff != "" {
					t.Fatalf("after the pause: %s", diff)
				}
				if got := f.statuses(s, sequence.InProgress); len(got) > 0 {
					t.Errorf("active in a paused sequence: %v", got)
				}
				for range pages {
					f.settle()
				}
				f.now = f.now.Add(100 * time.Hour)
				// Steps are due by their old times; only these are looked at, without the pages.
				n, err := f.engine.batch(t.Context(), f.Tenant)
				f.must(err)
				if pages == 0 && n == 0 {
					t.Error("no enrollment was due by its old time")
				}
				_, err = sequence.Resume(t.Context(), db, f.Tenant, s.ID, f.now)
				f.must(err)
				if diff := cmp.Diff(map[string]int{"active": 10}, f.statuses(s, sequence.InProgress)); diff != "" {
					t.Fatalf("after the pause: %s", diff)
				}
				for range pages {
					f.settle()
				}
				f.now = f.now.Add(time.Hour)
				_, err = f.engine.batch(t.Context(), f.Tenant)
				f.must(err)
			}
			f.after(7*time.Hour - time.Second)
			if diff := cmp.Diff(map[string]int{"active": 10}, f.statuses(s)); diff != "" {
				t.Errorf("%d pages: a second before the end of the waits: %s", pages, diff)
			}
			f.after(time.Second)
			if diff := cmp.Diff(map[string]int{"completed": 10}, f.statuses(s)); diff != "" {
				t.Errorf("%d pages: at the end of the waits: %s", pages, diff)
			}
			if f.settle() {
				t.Error("a change has yet to be followed")
			}
		}
	})
}

// TestOverdueContactsContinueOverAQuarterOfAnHour resumes contacts whose waits ended in the pause.
func TestOverdueContactsContinueOverAQuarterOfAnHour(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		f.engine.Batch = 20
		people := f.AddContacts(f.List.ID, "c", 60)
		waits := f.start(graph("rest", []sequence.Node{
			node("rest", sequence.WaitNode, object{"mode": "duration", "amount": 10, "unit": "hour"}),
		}), sequence.Change{})
		f.enroll(waits, nil, ids(people[:7])...)
		f.after(0)
		s := f.start(graph("tag", []sequence.Node{
			node("tag", sequence.TagNode, object{"action": "add", "tags": []string{"done"}}),
		}), sequence.Change{})
		f.enroll(s, nil, ids(people)...)
		s, err := sequence.Pause(t.Context(), db, f.Tenant, s.ID, f.now)
		f.must(err)
		waits, err = sequence.Pause(t.Context(), db, f.Tenant, waits.ID, f.now)
		f.must(err)
		for range 2 { // before and after the enrollments have followed
			for _, want := range []struct {
				of              sequence.Sequence
				inside, overdue int
			}{{s, 60, 60}, {waits, 7, 0}} {
				r, err := sequence.LoadReport(t.Context(), db, want.of)
				f.must(err)
				totals, err := sequence.Totals(t.Context(), db, f.Tenant)
				f.must(err)
				if inside := want.of.Inside(totals[want.of.ID]); inside != want.inside || r.Active != want.inside || r.Overdue != want.overdue {
					t.Errorf("of %d contacts in the report and %d in all, %d are overdue, want %d and %d", r.Active, inside, r.Overdue, want.inside, want.overdue)
				}
			}
			for f.settle() {
			}
		}
		f.after(time.Hour)
		_, err = sequence.Resume(t.Context(), db, f.Tenant, s.ID, f.now)
		f.must(err)
		last := 0
		for quarter := 1; quarter <= 3; quarter++ {
			f.after(5 * time.Minute)
			done := f.statuses(s)["completed"]
			if moved := done - last; moved < 5 || moved > 40 {
				t.Errorf("in minutes %d to %d %d of 60 contacts continued, want about 20", 5*quarter-5, 5*quarter, moved)
			}
			last = done
		}
		if last != 60 {
			t.Errorf("after 15 minutes %d of 60 contacts have continued", last)
		}
	})
}

// TestArchivedSequencesEmptyInPages archives a sequence, activates it again before its contacts have
// left, and removes a node with contacts. What callers see holds at once; the entries of the journal
// and the counts follow, each once.
func TestArchivedSequencesEmptyInPages(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		f.engine.Batch = 3
		people := f.AddContacts(f.List.ID, "c", 10)
		s := f.start(waiting(), sequence.Change{AllowReentry: new(true)})
		f.enroll(s, nil, ids(people)...)
		f.after(0)
		must := func(s sequence.Sequence, err error) sequence.Sequence { f.must(err); return s }
		must(sequence.Archive(t.Context(), db, f.Tenant, s.ID, f.now))
		if diff := cmp.Diff(map[string]int{"exitedsequence_archived": 10}, f.statuses(s, sequence.Exited)); diff != "" {
			t.Errorf("after it was archived: %s", diff)
		}
		if got := f.statuses(s, sequence.InProgress, sequence.Waiting); len(got) > 0 {
			t.Errorf("in the archived sequence: %v", got)
		}
		f.settle()
		must(sequence.Unarchive(t.Context(), db, f.Tenant, s.ID, f.now))
		s = must(sequence.Activate(t.Context(), db, f.Tenant, s.ID, f.now))
		for i, r := range f.enroll(s, nil, ids(people)...) {
			if !r.New {
				t.Errorf("contact %d left the sequence, but cannot enter it again", i)
			}
		}
		f.after(0)
		want := map[string]int{"exitedsequence_archived": 10, "active": 10}
		if diff := cmp.Diff(want, f.statuses(s)); diff != "" {
			t.Error(diff)
		}
		must(sequence.Pause(t.Context(), db, f.Tenant, s.ID, f.now))
		g := waiting()
		g.Nodes[0].ID, g.Entry = "other", "other"
		r, err := sequence.SetGraph(t.Context(), db, f.Tenant, s.ID, g, false, f.now)
		f.must(err)
		if r.Leaving != 10 {
			t.Errorf("%d contacts leave, want 10", r.Leaving)
		}
		want = map[string]int{"exitedsequence_archived": 10, "exitednode_removed": 10}
		if diff := cmp.Diff(want, f.statuses(s, sequence.Exited)); diff != "" {
			t.Error(diff)
		}
		f.tick()
		if diff := cmp.Diff(want, f.statuses(s)); diff != "" {
			t.Error(diff)
		}
		var entries, contacts int
		f.must(db.QueryRow(t.Context(), `SELECT COUNT(*), COUNT(DISTINCT data) FROM journal WHERE tenant_id = $1 AND type = 'sequence_exited'`, f.Tenant).Scan(&entries, &contacts))
		if entries != 20 || contacts != 20 {
			t.Errorf("%d entries of %d enrollments, want 20", entries, contacts)
		}
		all, err := sequence.Counts(t.Context(), db, f.Tenant, s.ID)
		f.must(err)
		if diff := cmp.Diff(sequence.NodeCount{Entered: 20, Exited: 20}, all[""]); diff != "" {
			t.Error(diff)
		}
	})
}

// TestContactsOfRemovedNodesLeave edits the graph of a paused sequence with contacts at several nodes.
func TestContactsOfRemovedNodesLeave(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "c", 2)
		wait := func(name string) sequence.Node {
			return node(name, sequence.WaitNode, object{"mode": "duration", "amount": 1, "unit": "hour"})
		}
		s := f.start(graph("a", []sequence.Node{wait("a"), wait("b")}, [3]string{"a", "", "b"}), sequence.Change{})
		f.enroll(s, nil, people[0].ID)
		f.after(0)
		f.after(time.Hour) // the first is at b
		f.enroll(s, nil, people[1].ID)
		f.after(0)
		_, err := sequence.Pause(t.Context(), db, f.Tenant, s.ID, f.now)
		f.must(err)
		r, err := sequence.SetGraph(t.Context(), db, f.Tenant, s.ID, graph("a", []sequence.Node{wait("a"), wait("c")}, [3]string{"a", "", "c"}), false, f.now)
		f.must(err)
		if r.Leaving != 1 {
			t.Errorf("%d contacts leave, want 1", r.Leaving)
		}
		_, err = sequence.Resume(t.Context(), db, f.Tenant, s.ID, f.now)
		f.must(err)
		f.after(time.Hour)
		list, err := sequence.OfContact(t.Context(), db, f.Tenant, people[0].ID)
		f.must(err)
		if got := fmt.Sprint(list[0].Outcome(), list[0].Reason); got != "exited_early"+string(sequence.ReasonNodeRemoved) {
			t.Errorf("the contact of the removed node is %s", got)
		}
		if got := f.at(people[1].ID); got != "c" {
			t.Errorf("the contact of the node that stayed is at %q, want the new node", got)
		}
	})
}

// TestResumedContactsAreLookedAt lets rules begin to hold while a sequence is paused.
func TestResumedContactsAreLookedAt(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "c", 3)
		s := f.start(graph("paid", []sequence.Node{
			node("paid", sequence.WaitNode, object{"mode": "until_event", "event_name": "paid", "timeout": object{"amount": 1, "unit": "week"}}),
			node("rest", sequence.WaitNode, object{"mode": "duration", "amount": 1, "unit": "week"}),
			node("won", sequence.GoalNode, object{"definition": field("tags", "has_any", []string{"won"})}),
		}, [3]string{"paid", "met", "rest"}), sequence.Change{Exits: []byte(`{"events": [{"event_name": "refunded"}]}`)})
		f.enroll(s, nil, ids(people)...)
		f.after(0)
		_, err := sequence.Pause(t.Context(), db, f.Tenant, s.ID, f.now)
		f.must(err)
		f.record("paid", people[0].ID, nil)
		f.change(people[1].ID, contact.Change{Tags: &[]string{"won"}})
		f.record("refunded", people[2].ID, nil)
		f.drain()
		for i, want := range []string{"in_progress", "in_progress", "exited_early"} {
			if got := f.at(people[i].ID); got != want {
				t.Errorf("while paused contact %d is %s, want %s", i, got, want)
			}
		}
		_, err = sequence.Resume(t.Context(), db, f.Tenant, s.ID, f.now)
		f.must(err)
		f.after(15 * time.Minute)
		for i, want := range []string{"rest", "converted", "exited_early"} {
			if got := f.at(people[i].ID); got != want {
				t.Errorf("after the pause contact %d is %s, want %s", i, got, want)
			}
		}
	})
}
