package trigger_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func (w *world) replay(t trigger.Trigger, from time.Time, limit int) ([]trigger.Match, bool, error) {
	w.Helper()
	env, err := segment.Env(w.Context(), w.DB, w.Tenant, w.now)
	w.must(err)
	return trigger.Replay(w.Context(), w.DB, env, t, from, w.now.Add(time.Second), limit)
}

// TestReplaysFindWhatFired lets triggers of every type fire, and finds out afterwards when they did.
func TestReplaysFindWhatFired(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, other := newWorld(t, db, "acme"), newWorld(t, db, "other")
		w.page = 500
		list := w.AddList("Picked")
		german := w.segment("German", country("DE"))
		people := w.AddContacts(w.List.ID, "p", 6)
		strangers := other.AddContacts(other.List.ID, "o", 2)
		w.birthdays(people, "1990-03-05", "1990-03-06", "", "1991-03-06", "1990-07-01", "")
		_, err := contact.CreateStage(t.Context(), db, w.Tenant, contact.StageChange{Name: new("Lead"), Category: new(contact.Prospect)}, w.now)
		w.must(err)
		client, err := contact.CreateStage(t.Context(), db, w.Tenant, contact.StageChange{Name: new("Client"), Category: new(contact.Customer)}, w.now)
		w.must(err)
		w.drain()
		w.at(time.Minute)
		config := func(typ, format string, args ...any) string {
			return `{"trigger_type": "` + typ + `", "trigger_config": ` + fmt.Sprintf(format, args...) + `}`
		}
		var holders []trigger.Holder
		for _, raw := range []string{
			config("event", `{"event_name": "paid", "filters": [{"property": "value", "operator": "greater_than", "value": 10}]}`),
			config("event", `{"event_name": "paid", "definition": %s}`, country("DE")),
			config("segment_entered", `{"segment_key": "%s"}`, german.Key),
			config("segment_left", `{"segment_key": "%s"}`, german.Key),
			config("list_added", `{"segment_key": "%s"}`, list.Key),
			config("form_submitted", `{"form_slug": "news"}`),
			config("tag_added", `{"tag": "vip"}`),
			config("stage_changed", `{"to_stage_id": "%s"}`, client.ID),
			config("contact_created", `{}`),
			config("field_changed", `{"field": "country", "to": "DE"}`),
			config("email_engagement", `{"event": "opened"}`),
			config("email_engagement", `{"event": "clicked", "link_url": "https://example.org/"}`),
			config("date", `{"field": "custom_fields.birthday", "offset": {"amount": 1, "unit": "day", "direction": "before"}, "repeat": "yearly"}`),
		} {
			holders = append(holders, w.watch(raw, true))
		}
		w.tick()
		w.drain()
		from := w.now
		w.at(time.Minute)
		act := func(w *world, people []contact.Contact) {
			for i, c := range people[:2] {
				_, err := event.Record(t.Context(), db, w.Tenant, []event.Input{
					{Name: "paid", Contact: c.ID, Properties: map[string]any{"value": 11.0}}, {Name: "paid", Contact: c.ID, Properties: map[string]any{"value": 9.0}},
					{Name: "seen", Contact: c.ID},
				}[i:], w.now)
				w.must(err)
			}
			w.change(people[0].ID, contact.Change{Tags: &[]string{"vip"}})
			w.change(people[1].ID, contact.Change{Texts: map[contact.Text]*string{contact.Country: new("DE")}})
		}
		act(w, people)
		act(other, strangers)
		_, err = event.Record(t.Context(), db, w.Tenant, []event.Input{{Name: "paid", Contact: people[2].ID, Properties: map[string]any{"value": 12.0}}}, w.now)
		w.must(err)
		w.at(time.Minute)
		for _, c := range people[2:4] {
			w.change(c.ID, contact.Change{Tags: &[]string{"vip", "x"}, Texts: map[contact.Text]*string{contact.Country: new("DE")}})
		}
		w.change(people[2].ID, contact.Change{Tags: &[]string{"vip"}, Stage: new(client.ID.String())})
		_, err = segment.Add(t.Context(), db, w.Tenant, list.ID, segment.People{IDs: []id.Contact{people[0].ID, people[5].ID}}, w.now)
		w.must(err)
		w.drain()
		w.tick()
		w.drain()
		w.change(people[2].ID, contact.Change{Texts: map[contact.Text]*string{contact.Country: new("FR")}})
		w.change(people[3].ID, contact.Change{Texts: map[contact.Text]*string{contact.Country: new("AT")}})
		w.must(db.InTx(t.Context(), func(tx *sqldb.DB) error {
			return journal.Append(t.Context(), tx,
				journal.Entry{Tenant: w.Tenant, Type: journal.FormSubmitted, Name: "news", Contact: people[4].ID, At: w.now, Data: map[string]any{"form_name": "News"}},
				journal.Entry{Tenant: w.Tenant, Type: journal.EmailOpened, Contact: people[4].ID, At: w.now, Data: track.Engaged{First: true}},
				journal.Entry{Tenant: w.Tenant, Type: journal.EmailClicked, Contact: people[4].ID, At: w.now, Data: track.Engaged{First: true, LinkURL: "https://example.org/"}},
				journal.Entry{Tenant: w.Tenant, Type: journal.EmailClicked, Contact: people[4].ID, At: w.now, Data: track.Engaged{First: true, LinkURL: "https://example.org/x"}},
			)
		}))
		drafts := make([]contact.Draft, 5)
		for i := range drafts {
			drafts[i].Email = fmt.Sprintf("new%d@example.org", i)
		}
		_, err = contact.SaveAll(t.Context(), db, w.Tenant, drafts, contact.Rules{}, w.now) // they share a row of the journal
		w.must(err)
		w.drain()
		w.tick()
		w.drain()
		w.reach("2026-03-07 12:00 +00:00")

		for _, h := range holders {
			tr := w.holds[h.ID]
			found, more, err := w.replay(tr, from, 100)
			w.must(err)
			var got []id.Contact
			for _, f := range found {
				got = append(got, f.Contact)
				if f.At.Before(from) || f.At.After(w.now) || len(f.Data) == 0 {
					t.Errorf("%s: %+v", tr.Type, f)
				}
			}
			want := slices.Clone(w.fired[h.ID])
			slices.SortFunc(got, id.Compare)
			slices.SortFunc(want, id.Compare)
			if tr.Config.Definition != nil || tr.Config.To != nil {
				// These are evaluated with what contacts are now.
				want = slices.DeleteFunc(want, func(c id.Contact) bool { return !slices.Contains(got, c) })
			}
			if diff := cmp.Diff(want, got); diff != "" || more || len(got) == 0 {
				t.Errorf("%s %+v: fired (-) and replayed (+), more: %t\n%s", tr.Type, tr.Config, more, diff)
			}
			if first, more, err := w.replay(tr, from, 1); err != nil || len(first) != 1 || more != (len(found) > 1) || first[0].Contact != found[0].Contact {
				t.Errorf("%s: the first is %+v, more: %t, %v", tr.Type, first, more, err)
			}
		}
	})
}

// Who enters a segment is known only since somebody follows it.
func TestSegmentsThatNobodyFollowedAreNotReplayed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "acme")
		german := w.segment("German", country("DE"))
		var p fault.Problems
		tr := trigger.Parse([]byte(`{"trigger_type": "segment_entered", "trigger_config": {"segment_key": "`+german.Key+`"}}`), "", &p)
		w.must(p.Err())
		since := func(from time.Time) (*time.Time, bool) {
			t.Helper()
			_, _, err := w.replay(*tr, from, 10)
			if !errors.Is(err, trigger.ErrNotRecorded) {
				w.must(err)
				return nil, true
			}
			f, _ := fault.As(err)
			return f.Details.(trigger.RecordedSince).Since, false
		}
		if at, ok := since(w.now); ok || at != nil {
			t.Errorf("of a segment that nobody follows: %v, %v", at, ok)
		}
		w.at(time.Hour)
		w.watch(`{"trigger_type": "segment_entered", "trigger_config": {"segment_key": "`+german.Key+`"}}`, true)
		if at, ok := since(w.now.Add(-time.Minute)); ok || at == nil || !at.Equal(w.now) {
			t.Errorf("before it was followed: %v, %v", at, ok)
		}
		if at, ok := since(w.now); !ok || at != nil {
			t.Errorf("since then: %v, %v", at, ok)
		}
		german.Key = "gone"
		tr.Config.Segment = "gone"
		if _, ok := since(w.now); ok {
			t.Error("a segment that does not exist is replayed")
		}
	})
}
