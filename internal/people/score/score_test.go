package score_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/score"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 28, 11, 0, 0, 0, time.UTC) // noon in Berlin, the day before its clocks go forward

// world is a tenant with a contact in a stage of each category, and one without a stage.
type world struct {
	t      *testing.T
	db     *sqldb.DB
	tenant id.Tenant
	people map[string]id.Contact
	stages map[contact.StageCategory]id.Stage
	now    time.Time
	engine *journal.Engine
}

func each(t *testing.T, f func(w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := begin(t, db, "acme")
		other := begin(t, db, "other")
		other.appendOne(journal.CustomEvent, "prospect", "meeting_booked", nil)
		w.drain()
		f(w)
		other.want("prospect", 20, 0)
	})
}

func begin(t *testing.T, db *sqldb.DB, slug string) *world {
	t.Helper()
	w := &world{t: t, db: db, now: noon, people: map[string]id.Contact{}, stages: map[contact.StageCategory]id.Stage{}}
	w.engine = &journal.Engine{DB: db, Followers: []journal.Follower{score.Follower(rule.ScoringFilters, outbox.Broadcasts, func() time.Time { return w.now })}}
	ten, err := tenant.Create(t.Context(), db, slug, slug, "Europe/Berlin", noon)
	if err != nil {
		t.Fatal(err)
	}
	w.tenant = ten.ID
	for _, c := range append([]contact.StageCategory{""}, contact.StageCategories()...) {
		ch := contact.Change{}
		if c != "" {
			s, err := contact.CreateStage(t.Context(), db, w.tenant, contact.StageChange{Name: new(string(c)), Category: new(c)}, noon)
			if err != nil {
				t.Fatal(err)
			}
			w.stages[c] = s.ID
			ch.Stage = new(s.ID.String())
		}
		w.add(string(c), ch)
	}
	w.drain()
	return w
}

func (w *world) add(name string, ch contact.Change) {
	w.t.Helper()
	c, err := contact.Create(w.t.Context(), w.db, w.tenant, fmt.Sprintf("%sx@example.org", name), ch, contact.Rules{}, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	w.people[name] = c.ID
}

func (w *world) appendOne(typ journal.Type, who, name string, data any) {
	w.t.Helper()
	err := journal.Append(w.t.Context(), w.db, journal.Entry{Tenant: w.tenant, Type: typ, Name: name, Contact: w.people[who], At: w.now, Data: data})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) drain() {
	w.t.Helper()
	if err := w.engine.Drain(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(who string) contact.Contact {
	w.t.Helper()
	c, err := contact.ByID(w.t.Context(), w.db, w.tenant, w.people[who])
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *world) want(who string, prospect, customer float64) {
	w.t.Helper()
	if c := w.get(who); c.ProspectScore != prospect || c.CustomerScore != customer {
		w.t.Errorf("scores of %q are %v and %v, want %v and %v", who, c.ProspectScore, c.CustomerScore, prospect, customer)
	}
}

func (w *world) change(change func(s *score.Settings)) {
	w.t.Helper()
	if _, err := score.Change(w.t.Context(), w.db, w.tenant, rule.ScoringFilters, change, w.now); err != nil {
		w.t.Fatal(err)
	}
}

type said = map[string]any

var human = said{"classification": "human", "first": true}

func TestDefaultRules(t *testing.T) {
	each(t, func(w *world) {
		for i, tt := range []struct {
			typ  journal.Type
			name string
			data any
			want float64
		}{
			{journal.EmailOpened, "", human, 1},
			{journal.EmailOpened, "", said{"classification": "privacy"}, 1},
			{journal.EmailOpened, "", said{"classification": "bot"}, 0},
			{journal.EmailOpened, "", said{"classification": "pending"}, 0},
			{journal.EmailOpened, "", nil, 0},
			{journal.EmailClicked, "", human, 5},
			{journal.EmailClicked, "", said{"classification": "bot", "withdrawn": true}, 0},
			{journal.PageViewed, "https://example.org/", nil, 1},
			{journal.PageViewed, "https://example.org/", said{"classification": "pending"}, 0},
			{journal.FormSubmitted, "contact", nil, 10},
			{journal.CustomEvent, "meeting_booked", nil, 20},
			{journal.CustomEvent, "Call", journal.Event{Type: "meeting_booked"}, 20},
			{journal.CustomEvent, "order_placed", journal.Event{Type: "order_placed"}, 20},
			{journal.CustomEvent, "trial_started", nil, 15},
			{journal.CustomEvent, "Order_Placed", nil, 0}, // names are case-sensitive
			{journal.CustomEvent, "logged_in", nil, 0},
			{journal.EmailUnsubscribed, "", nil, 0}, // the minimum
			{journal.EmailBounced, "", said{"class": "hard"}, 0},
			{journal.EmailDelivered, "", nil, 0},
		} {
			who := fmt.Sprint("p", i)
			w.add(who, contact.Change{Stage: new(w.stages[contact.Prospect].String())})
			w.appendOne(tt.typ, who, tt.name, tt.data)
			w.drain()
			if c := w.get(who); c.ProspectScore != tt.want || c.CustomerScore != 0 {
				w.t.Errorf("%s %s %v gave %v, want %v", tt.typ, tt.name, tt.data, c.ProspectScore, tt.want)
			}
		}
	})
}

func TestTheStagesCategoryDeterminesTheScore(t *testing.T) {
	each(t, func(w *world) {
		for who := range w.people {
			w.appendOne(journal.FormSubmitted, who, "f", nil)
		}
		w.drain()
		w.want("prospect", 10, 0)
		w.want("customer", 0, 10)
		for _, who := range []string{"", "churned", "disqualified", "partner"} {
			w.want(who, 0, 0)
		}
		if c := w.get("prospect"); c.ScoreUpdatedAt == nil || !c.ScoreUpdatedAt.Equal(noon) || !c.UpdatedAt.Equal(c.CreatedAt) {
			w.t.Errorf("score_updated_at is %v, updated_at %v", c.ScoreUpdatedAt, c.UpdatedAt)
		}
		if c := w.get("partner"); c.ScoreUpdatedAt != nil {
			w.t.Errorf("score_updated_at of a contact without scores is %v", c.ScoreUpdatedAt)
		}
		// A move to another category resets both, within one it resets nothing.
		second, err := contact.CreateStage(w.t.Context(), w.db, w.tenant, contact.StageChange{Name: new("Warm"), Category: new(contact.Prospect)}, noon)
		if err != nil {
			w.t.Fatal(err)
		}
		move := func(to id.Stage) {
			if _, _, err := contact.Upsert(w.t.Context(), w.db, w.tenant, "prospectx@example.org", contact.Change{Stage: new(to.String())}, contact.Rules{}, noon.Add(time.Hour)); err != nil {
				w.t.Fatal(err)
			}
		}
		move(second.ID)
		w.want("prospect", 10, 0)
		move(w.stages[contact.Customer])
		w.want("prospect", 0, 0)
		w.appendOne(journal.FormSubmitted, "prospect", "f", nil)
		w.drain()
		w.want("prospect", 0, 10)
	})
}

func TestScoreChangesAreJournaled(t *testing.T) {
	each(t, func(w *world) {
		w.appendOne(journal.EmailClicked, "prospect", "", human)
		w.appendOne(journal.CustomEvent, "prospect", "order_placed", nil)
		w.appendOne(journal.EmailClicked, "prospect", "", human)
		w.appendOne(journal.EmailComplained, "customer", "", nil) // is 0 already
		w.drain()
		for _, to := range []contact.StageCategory{contact.Customer, contact.Prospect} { // the second time both scores are 0
			if _, _, err := contact.Upsert(w.t.Context(), w.db, w.tenant, "prospectx@example.org", contact.Change{Stage: new(w.stages[to].String())}, contact.Rules{}, noon); err != nil {
				w.t.Fatal(err)
			}
		}
		var changes []score.Changed
		e := &journal.Engine{DB: w.db, Followers: []journal.Follower{{Name: "test", Follow: func(_ context.Context, _ *sqldb.DB, list []journal.Entry) error {
			changes = nil
			for _, e := range list {
				if e.Type == journal.ScoreChanged && e.Tenant == w.tenant {
					var m score.Changed
					if err := e.Decode(&m); err != nil {
						return err
					}
					changes = append(changes, m)
				}
			}
			return nil
		}}}}
		if err := e.Drain(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		if got, want := fmt.Sprint(changes), "[{prospect 0 30 [email_clicked order_placed] false false} {prospect 30 0 [] false true}]"; got != want {
			w.t.Errorf("score_changed entries %s, want %s", got, want)
		}
	})
}

func TestADailyCapEndsAtTheAccountsMidnight(t *testing.T) {
	each(t, func(w *world) {
		at := func(s string) {
			w.t.Helper()
			var err error
			if w.now, err = time.Parse(time.RFC3339, s); err != nil {
				w.t.Fatal(err)
			}
		}
		open := func(n int) {
			for range n {
				w.appendOne(journal.EmailOpened, "prospect", "", human)
			}
		}
		at("2026-03-28T22:59:59Z") // 23:59:59 in Berlin
		open(5)
		w.drain()
		w.want("prospect", 3, 0)
		at("2026-03-28T23:00:00Z")
		open(2)
		w.drain()
		w.want("prospect", 5, 0)
		at("2026-03-29T21:59:59Z") // that day has 23 hours
		open(2)
		w.drain()
		w.want("prospect", 6, 0)
		at("2026-03-29T22:00:00Z")
		open(1)
		at("2026-03-29T21:00:00Z") // processed late
		open(1)
		w.drain()
		w.want("prospect", 7, 0)
	})
}

func TestEachEntryCountsOnceAcrossACrash(t *testing.T) {
	each(t, func(w *world) {
		follower := w.engine.Followers[0]
		crashed := errors.New("crashed")
		crash := true
		w.engine.Followers[0].Follow = func(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
			if err := follower.Follow(ctx, tx, entries); err != nil {
				return err
			}
			if crash {
				return crashed
			}
			return nil
		}
		for range 2 {
			w.appendOne(journal.EmailClicked, "prospect", "", human)
			w.appendOne(journal.EmailOpened, "prospect", "", human)
		}
		if err := w.engine.Drain(w.t.Context()); !errors.Is(err, crashed) {
			w.t.Fatalf("Drain = %v", err)
		}
		w.want("prospect", 0, 0)
		crash = false
		w.drain()
		w.drain()
		w.want("prospect", 12, 0)
		again := &journal.Engine{DB: w.db, Followers: []journal.Follower{follower}} // another process
		if err := again.Drain(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		w.want("prospect", 12, 0)
	})
}

func TestContactsThatAreNotScored(t *testing.T) {
	each(t, func(w *world) {
		for status, set := range map[string]string{
			"pending":    `global_status = 'pending'`,
			"deleted":    `global_status = 'suppressed'`,
			"anonymised": `global_status = 'suppressed', anonymized_at = 1`,
		} {
			w.add(status, contact.Change{Stage: new(w.stages[contact.Prospect].String())})
			if _, err := w.db.Exec(w.t.Context(), `UPDATE contact SET `+set+` WHERE tenant_id = $1 AND id = $2`, w.tenant, w.people[status]); err != nil {
				w.t.Fatal(err)
			}
			w.appendOne(journal.FormSubmitted, status, "f", nil)
			w.drain()
			w.want(status, 0, 0)
		}
		w.people["nobody"] = id.New[id.Contact]()
		w.appendOne(journal.FormSubmitted, "nobody", "f", nil)
		w.change(func(s *score.Settings) { s.Enabled = false })
		w.appendOne(journal.FormSubmitted, "prospect", "f", nil)
		w.drain()
		w.change(func(s *score.Settings) { s.Enabled = true })
		w.drain()
		w.want("prospect", 0, 0)
	})
}

func TestRulesMatchEntries(t *testing.T) {
	each(t, func(w *world) {
		w.change(func(s *score.Settings) {
			s.Rules = []score.Rule{
				{Trigger: journal.CustomEvent, Match: score.Match{EventName: "order_placed", Filters: json.RawMessage(`[
					{"property": "value", "operator": "gte", "value": 100}, {"property": "items[].sku", "operator": "in", "value": ["A", "B"]}]`)}, Points: 7},
				{Trigger: journal.PageViewed, Match: score.Match{Filters: json.RawMessage(`[{"property": "url", "operator": "contains", "value": "/pricing"}]`)}, Points: 3},
				{Trigger: journal.TagAdded, Match: score.Match{Filters: json.RawMessage(`[{"property": "tag", "operator": "equals", "value": "vip"}]`)}, Points: 2},
				{Trigger: journal.SequenceCompleted, Points: 1},
				{Trigger: journal.ContactCreated, Match: score.Match{Filters: json.RawMessage(`[
					{"property": "source", "operator": "equals", "value": "fair"}, {"property": "tags", "operator": "in", "value": ["red", "vip"]}]`)}, Points: 5},
			}
		})
		stage := new(w.stages[contact.Prospect].String())
		w.add("fair", contact.Change{Stage: stage, SourceIfNew: "fair", Tags: &[]string{"VIP", "new"}})
		w.add("shop", contact.Change{Stage: stage, SourceIfNew: "shop", Tags: &[]string{"vip"}})
		w.add("untagged", contact.Change{Stage: stage, SourceIfNew: "fair"})
		w.drain()
		w.want("fair", 5, 0)
		w.want("shop", 0, 0)
		w.want("untagged", 0, 0)
		for _, tt := range []struct {
			typ  journal.Type
			name string
			data any
			want float64
		}{
			{journal.CustomEvent, "order_placed", said{"properties": said{"value": 100, "items": []any{said{"sku": "b"}}}}, 7},
			{journal.CustomEvent, "order_placed", said{"properties": said{"value": 99, "items": []any{said{"sku": "b"}}}}, 7},
			{journal.CustomEvent, "cart", said{"type": "order_placed", "properties": said{"value": 100, "items": []any{said{"sku": "b"}}}}, 7},
			{journal.PageViewed, "https://example.org/Pricing?x", nil, 10},
			{journal.PageViewed, "https://example.org/", said{"title": "/pricing"}, 10},
			{journal.TagAdded, "VIP", nil, 12},
			{journal.SequenceCompleted, "s", nil, 13},
		} {
			w.appendOne(tt.typ, "prospect", tt.name, tt.data)
			w.drain()
			w.want("prospect", tt.want, 0)
		}
	})
}

func TestAllProblemsOfSettingsAreReported(t *testing.T) {
	t.Parallel()
	db := dbtest.One(t)
	_, err := score.Change(t.Context(), db, idtest.TenantNamed("t"), rule.ScoringFilters, func(s *score.Settings) {
		s.Rules = []score.Rule{
			{ID: "a b", Trigger: "email_read", Points: 1001, DailyCap: -1},
			{ID: "x", Trigger: journal.EmailOpened, Match: score.Match{EventName: "e", Filters: json.RawMessage(`[{"property": "", "operator": "equals", "value": "v"}]`)}},
			{ID: "x", Trigger: journal.CustomEvent, Match: score.Match{Filters: json.RawMessage(`[{"property": "p", "operator": "equals"}]`)}},
		}
		s.Decay = score.DecaySettings{AfterDays: 0, Percent: 101}
		s.Min, s.Max = 1, 0
	}, noon)
	f, ok := fault.As(err)
	if !ok {
		t.Fatalf("Change = %v", err)
	}
	var paths []string
	for _, p := range f.Details.(fault.Fields).Fields {
		paths = append(paths, p.Path)
	}
	want := "[rules[0].id rules[0].trigger rules[0].points rules[0].daily_cap rules[1].match.event_name rules[1].match.filters[0].property " +
		"rules[2].id rules[2].match.filters[0].value decay.after_days decay.percent min max]"
	if got := fmt.Sprint(paths); got != want {
		t.Errorf("problems at %s,\nwant %s", got, want)
	}
	_, err = score.Change(t.Context(), db, idtest.TenantNamed("t"), rule.ScoringFilters, func(s *score.Settings) { s.Rules = make([]score.Rule, 101) }, noon)
	if !errors.Is(err, score.ErrLimit) {
		t.Errorf("101 rules: %v", err)
	}
	if s, err := score.Load(t.Context(), db, idtest.TenantNamed("t")); err != nil || len(s.Rules) != 9 {
		t.Errorf("after a failed Change there are %d rules, %v", len(s.Rules), err)
	}
}
