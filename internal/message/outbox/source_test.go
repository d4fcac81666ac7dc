package outbox_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/score"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Results and engagement of a broadcast's mail are shown and scored as the broadcast's, those of a
// sequence's mail are not.
func TestAMailBelongsToTheSourceOfItsSend(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		spring, theirs := id.New[id.Broadcast](), id.New[id.Broadcast]()
		mail, step := id.New[id.Send](), id.New[id.Send]()
		course := id.New[id.Sequence]()
		acme, err := tenant.Create(ctx, db, "acme", "Acme", "UTC", noon)
		must(err)
		other, err := tenant.Create(ctx, db, "other", "Other", "UTC", noon)
		must(err)
		for _, s := range []outbox.Send{
			{Tenant: acme.ID, ID: mail, Source: outbox.FromBroadcast(spring)},
			{Tenant: acme.ID, ID: step, Source: outbox.FromSequence(course)},
			{Tenant: other.ID, ID: mail, Source: outbox.FromBroadcast(theirs)},
			{Tenant: other.ID, ID: step, Source: outbox.FromBroadcast(spring)},
		} {
			must(outbox.Create(ctx, db, s, outbox.Terms{}, noon))
		}
		from, err := outbox.Sources(ctx, db, acme.ID, []id.Send{mail, step, id.New[id.Send]()})
		must(err)
		if q, ok := from[step].Sequence(); len(from) != 2 || from[mail] != outbox.FromBroadcast(spring) || !ok || q != course {
			t.Errorf("the sends are of %+v", from)
		}
		if _, ok := from[step].Broadcast(); ok {
			t.Error("a sequence's send is of a broadcast")
		}

		rules, err := json.Marshal([]map[string]any{{"property": "broadcast_id", "operator": "equals", "value": spring}})
		must(err)
		_, err = score.Change(ctx, db, acme.ID, rule.ScoringFilters, func(s *score.Settings) {
			s.Enabled = true
			s.Rules = []score.Rule{{ID: "r", Trigger: journal.EmailClicked, Match: score.Match{Filters: rules}, Points: 7}}
		}, noon)
		must(err)
		stage, err := contact.CreateStage(ctx, db, acme.ID, contact.StageChange{Name: new("Lead"), Category: new(contact.Prospect)}, noon)
		must(err)
		ann, err := contact.Create(ctx, db, acme.ID, "ann@example.org", contact.Change{Stage: new(stage.ID.String())}, contact.Rules{}, noon)
		must(err)
		for _, send := range []id.Send{mail, step} {
			must(journal.Append(ctx, db, journal.Entry{
				Tenant: acme.ID, Type: journal.EmailClicked, Contact: ann.ID, Send: send, At: noon, Data: map[string]any{"classification": "human"},
			}))
		}
		must((&journal.Engine{DB: db, Followers: []journal.Follower{
			score.Follower(rule.ScoringFilters, outbox.Broadcasts, func() time.Time { return noon }),
		}}).Drain(ctx))
		if ann, err = contact.ByID(ctx, db, acme.ID, ann.ID); err != nil || ann.ProspectScore != 7 {
			t.Errorf("after two clicks: %v, %v; want 7 for the one in the broadcast's mail", ann.ProspectScore, err)
		}

		held, err := contact.Personal(ctx, db, ann, nil, outbox.Broadcasts)
		must(err)
		var named []string
		for r, err := range held[0].Records {
			must(err)
			text, err := json.Marshal(r)
			must(err)
			var e struct {
				Type      journal.Type
				Broadcast string `json:"broadcast_id"`
			}
			must(json.Unmarshal(text, &e))
			if e.Type == journal.EmailClicked {
				named = append(named, e.Broadcast)
			}
		}
		if len(named) != 2 || named[0] != spring.String() || named[1] != "" {
			t.Errorf("the export names the broadcasts %q", named)
		}
	})
}
