package flow

import (
	"encoding/json"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// evaluate does what triggers have to do, and passes on what they report.
func (f *fixture) evaluate() {
	f.Helper()
	now := func() time.Time { return f.now }
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	triggers := &trigger.Engine{DB: f.DB, Now: now, Log: log}
	follow := &journal.Engine{DB: f.DB, Log: log, Followers: []journal.Follower{trigger.Follower(now), sequence.Follower(now)}}
	for range 2 { // followers append entries for followers
		for more := true; more; {
			var err error
			more, err = triggers.Tick(f.Context())
			f.must(err)
		}
		f.must(follow.Drain(f.Context()))
	}
	f.tick()
}

// TestSegmentsStartAndEndSequences lets contacts enter and leave a segment by a change and by the
// passage of time.
func TestSegmentsStartAndEndSequences(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "p", 3)
		lately, err := segment.Create(t.Context(), db, f.Tenant, segment.Change{Name: new("Lately"), Definition: json.RawMessage(
			`{"logic": "and", "conditions": [{"type": "event", "event_name": "paid", "operator": "did", "window": {"in_the_last": {"amount": 2, "unit": "hour"}}}]}`)}, f.now)
		f.must(err)
		f.record("paid", people[0].ID, nil)
		config := `"trigger_config": {"segment_key": "` + lately.Key + `"`
		fromNow := f.start(waiting(), sequence.Change{Trigger: []byte(`{"trigger_type": "segment_entered", ` + config + `}}`), Exits: []byte(`{"on_segment_left": "` + lately.Key + `"}`)})
		fromAll := f.start(waiting(), sequence.Change{Trigger: []byte(`{"trigger_type": "segment_entered", ` + config + `, "include_existing": true}}`)})
		after := f.start(graph("gone", []sequence.Node{
			node("gone", sequence.WaitNode, object{"mode": "until_segment", "segment_key": lately.Key, "state": "not_in", "timeout": object{"amount": 1, "unit": "week"}}),
			node("tag", sequence.TagNode, object{"action": "add", "tags": []string{"lapsed"}}),
		}, [3]string{"gone", "met", "tag"}), sequence.Change{})
		left := f.start(waiting(), sequence.Change{Trigger: []byte(`{"trigger_type": "segment_left", ` + config + `}}`)})
		f.now = f.now.Add(time.Minute)
		f.evaluate()
		f.now = f.now.Add(time.Minute)
		f.record("paid", people[1].ID, nil)
		f.enroll(after, nil, people[1].ID)
		f.evaluate()
		states := func(s sequence.Sequence) map[id.Contact]sequence.EnrollmentStatus {
			list, _, err := sequence.Enrollments(t.Context(), db, f.Tenant, s.ID, sequence.EnrollmentQuery{Limit: 10})
			f.must(err)
			all := map[id.Contact]sequence.EnrollmentStatus{}
			for _, e := range list {
				all[e.Contact] = e.Status
			}
			return all
		}
		if got := states(fromNow); len(got) != 1 || got[people[1].ID] != sequence.InProgress {
			t.Errorf("entered: enrollments %v, want one of the contact that entered", got)
		}
		if got := states(fromAll); len(got) != 2 || got[people[0].ID] != sequence.InProgress || got[people[1].ID] != sequence.InProgress {
			t.Errorf("entered, with existing members: enrollments %v", got)
		}
		if got := states(left); len(got) != 0 {
			t.Errorf("left: enrollments %v before anyone left", got)
		}
		f.now = f.now.Add(3 * time.Hour) // nothing happens but that time passes
		f.evaluate()
		if got := states(fromNow); got[people[1].ID] != sequence.Exited {
			t.Errorf("entered: enrollments %v after the contact left", got)
		}
		if got := states(left); len(got) != 2 {
			t.Errorf("left: enrollments %v, want two", got)
		}
		if got := states(after); got[people[1].ID] != sequence.Completed {
			t.Errorf("wait until not in the segment: enrollments %v after the contact left", got)
		}
		if list, err := contact.Load(t.Context(), db, f.Tenant, []id.Contact{people[1].ID}); err != nil || len(list[0].Tags) != 1 {
			t.Errorf("the contact after the wait: %+v, %v", list, err)
		}
	})
}
