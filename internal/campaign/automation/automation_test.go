package automation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/automation"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// world is an account with a clock that the test sets.
type world struct {
	*testing.T
	*broadcasttest.Account
	now time.Time
}

func newWorld(t *testing.T, db *sqldb.DB, slug string) *world {
	return &world{T: t, Account: broadcasttest.New(t, db, slug), now: broadcasttest.Now}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) onEvent(name string) automation.Automation {
	w.Helper()
	a, err := automation.Create(w.Context(), w.DB, nil, w.Tenant, automation.Change{
		Name: new("On " + name), TriggerType: new(trigger.Event), TriggerConfig: json.RawMessage(`{"event_name": "` + name + `"}`),
		Actions: &[]automation.Action{{Type: sequence.TagNode, Config: json.RawMessage(`{"action": "add", "tags": ["x"]}`)}},
	}, webhook.Rules{}, w.now)
	w.must(err)
	return a
}

// happen records an event and adds the runs that it starts.
func (w *world) happen(name string, c id.Contact) {
	w.Helper()
	results, err := event.Record(w.Context(), w.DB, w.Tenant, []event.Input{{Name: name, Contact: c, Properties: map[string]any{"secret": "blue"}}}, w.now)
	w.must(err)
	w.must(results[0].Err)
	e := &journal.Engine{DB: w.DB, Log: slog.New(slog.DiscardHandler), Followers: []journal.Follower{automation.Follower(func() time.Time { return w.now })}}
	w.must(e.Drain(w.Context()))
}

// finish ends all pending runs with results.
func (w *world) finish() {
	w.Helper()
	w.must(w.DB.InTx(w.Context(), func(tx *sqldb.DB) error {
		list, err := automation.Due(w.Context(), tx, w.Tenant, 1000, w.now)
		w.must(err)
		for i, r := range list {
			list[i] = r.Carried([]automation.Result{{Type: sequence.TagNode, Status: automation.ActionFailed, Reason: "blue is no color"}}, w.now)
		}
		return automation.Save(w.Context(), tx, w.Tenant, list)
	}))
}

func (w *world) runs(a automation.Automation, q automation.RunQuery) ([]automation.Run, bool) {
	w.Helper()
	list, more, err := automation.Runs(w.Context(), w.DB, w.Tenant, a.ID, q)
	w.must(err)
	return list, more
}

func TestPagesOfRuns(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, other := newWorld(t, db, "acme"), newWorld(t, db, "other")
		a, b, theirs := w.onEvent("paid"), w.onEvent("asked"), other.onEvent("paid")
		p, o := w.AddContacts(w.List.ID, "p", 1)[0], other.AddContacts(other.List.ID, "o", 1)[0]
		for range 5 {
			w.now = w.now.Add(time.Second)
			w.happen("paid", p.ID)
		}
		w.finish()
		w.happen("paid", p.ID)
		w.happen("asked", p.ID)
		other.happen("paid", o.ID)
		var times []time.Time
		q := automation.RunQuery{Limit: 2}
		for more := true; more; {
			var page []automation.Run
			page, more = w.runs(a, q)
			for _, r := range page {
				times, q.Before = append(times, r.CreatedAt), r.ID
			}
		}
		if len(times) != 6 {
			t.Errorf("the pages have %d runs, want 6", len(times))
		}
		for i := range times[1:] {
			if times[i].Before(times[i+1]) {
				t.Errorf("the runs are not in order: %v", times)
			}
		}
		for status, want := range map[automation.RunStatus]int{automation.Failed: 5, automation.Pending: 1, automation.Completed: 0} {
			if list, _ := w.runs(a, automation.RunQuery{Statuses: []automation.RunStatus{status}, Limit: 10}); len(list) != want {
				t.Errorf("%d runs are %s, want %d", len(list), status, want)
			}
		}
		if list, _ := w.runs(b, automation.RunQuery{Limit: 10}); len(list) != 1 {
			t.Errorf("the other automation has %d runs, want 1", len(list))
		}
		if list, _ := w.runs(theirs, automation.RunQuery{Limit: 10}); len(list) != 0 {
			t.Errorf("runs of another tenant: %+v", list)
		}
		if list, _, err := automation.Runs(t.Context(), db, other.Tenant, theirs.ID, automation.RunQuery{Limit: 10}); err != nil || len(list) != 1 {
			t.Errorf("the other tenant has %d runs, %v", len(list), err)
		}
	})
}

// TestPruningKeepsTheSums deletes old runs, and counts the sums again.
func TestPruningKeepsTheSums(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "acme")
		a := w.onEvent("paid")
		p := w.AddContacts(w.List.ID, "p", 1)[0]
		for range 5 {
			w.happen("paid", p.ID)
		}
		w.finish()
		cut := w.now.Add(time.Hour)
		w.now = w.now.Add(2 * time.Hour)
		w.happen("paid", p.ID)
		w.happen("paid", p.ID)
		w.finish()
		for _, want := range []int{3, 2, 0} {
			if n, err := automation.Prune(t.Context(), db, w.Tenant, cut, 3); err != nil || n != want {
				t.Errorf("pruned %d, %v; want %d", n, err, want)
			}
		}
		loaded, err := automation.Load(t.Context(), db, w.Tenant, a.ID)
		w.must(err)
		if list, _ := w.runs(a, automation.RunQuery{Limit: 10}); len(list) != 2 || loaded.Runs != 7 || !loaded.LastRunAt.Equal(w.now) {
			t.Errorf("%d runs are left; the sums are %d and %v", len(list), loaded.Runs, loaded.LastRunAt)
		}
		sums := func() automation.Count {
			list, err := automation.CountAfter(t.Context(), db, w.Tenant, id.Automation{}, 10)
			w.must(err)
			return list[0]
		}
		if got := sums(); got.Stored != 7 || got.Counted != 7 {
			t.Errorf("counting again: %+v", got)
		}
		_, err = db.Exec(t.Context(), `UPDATE automation_count SET runs = 9 WHERE tenant_id = $1`, w.Tenant)
		w.must(err)
		w.must(automation.Correct(t.Context(), db, w.Tenant, sums()))
		if got := sums(); got.Stored != 7 {
			t.Errorf("after a correction: %+v", got)
		}
	})
}

// TestErasingAContactErasesItsEvents exports and erases the runs of a contact.
func TestErasingAContactErasesItsEvents(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "acme")
		a := w.onEvent("paid")
		people := w.AddContacts(w.List.ID, "p", 2)
		w.happen("paid", people[0].ID)
		w.happen("paid", people[1].ID)
		w.finish()
		data := automation.PersonalData()
		n := 0
		for v, err := range data.Export(t.Context(), db, w.Tenant, contact.Person{ID: people[0].ID}) {
			w.must(err)
			text, err := json.Marshal(v)
			w.must(err)
			var got struct {
				Automation id.Automation `json:"automation_id"`
				Trigger    struct{ Properties map[string]any }
			}
			w.must(json.Unmarshal(text, &got))
			if n++; got.Automation != a.ID || got.Trigger.Properties["secret"] != "blue" {
				t.Errorf("exported %s", text)
			}
		}
		if n != 1 {
			t.Errorf("%d runs were exported, want 1", n)
		}
		w.must(db.InTx(t.Context(), func(tx *sqldb.DB) error {
			return data.Erase(t.Context(), tx, w.Tenant, []contact.Person{{ID: people[0].ID}})
		}))
		list, _ := w.runs(a, automation.RunQuery{Limit: 10})
		for _, r := range list {
			erased := r.Contact == people[0].ID
			if erased != (r.Trigger == nil && len(r.Results) == 0) || r.Status != automation.Failed {
				t.Errorf("after erasing %s: %+v", people[0].ID, r)
			}
		}
		loaded, err := automation.Load(t.Context(), db, w.Tenant, a.ID)
		w.must(err)
		if loaded.Runs != 2 {
			t.Errorf("the sum is %d, want 2", loaded.Runs)
		}
	})
}

// TestTheNumberOfAutomationsIsLimited creates as many as a tenant may have.
func TestTheNumberOfAutomationsIsLimited(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "acme")
		a := w.onEvent("paid")
		rows := db.Table("id UUID", "name TEXT")
		for i := range 499 {
			rows.Add(id.New[id.Automation](), fmt.Sprintf("Übung copy %d", i))
		}
		_, err := db.Exec(t.Context(), `
			INSERT INTO automation (tenant_id, id, name, created_at, updated_at, active_after, status, trigger_key, entry_trigger, actions)
			SELECT a.tenant_id, v.id, v.name, a.created_at, a.updated_at, a.active_after, 'paused', a.trigger_key, a.entry_trigger, a.actions
			FROM automation AS a CROSS JOIN `+rows.As("v", 3)+` WHERE a.tenant_id = $1 AND a.id = $2`, rows.Args(w.Tenant, a.ID)...)
		w.must(err)
		_, err = automation.Create(t.Context(), db, nil, w.Tenant, automation.Change{
			Name: new("One more"), TriggerType: new(trigger.TagAdded), TriggerConfig: json.RawMessage(`{"tag": "x"}`), Actions: &a.Actions,
		}, webhook.Rules{}, w.now)
		if !errors.Is(err, automation.ErrTooMany) {
			t.Errorf("the 501st automation: %v", err)
		}
		var all []string
		q := automation.Query{Limit: 200, Search: "Übung COPY"}
		for more := true; more; {
			var page []automation.Automation
			page, more, err = automation.List(t.Context(), db, w.Tenant, q)
			w.must(err)
			for _, one := range page {
				all, q.Before = append(all, one.Name), one.ID
			}
		}
		want := make([]string, 499)
		for i := range want {
			want[i] = fmt.Sprintf("Übung copy %d", 498-i)
		}
		if diff := cmp.Diff(want, all); diff != "" {
			t.Errorf("the pages (-want +got): %s", diff)
		}
	})
}
