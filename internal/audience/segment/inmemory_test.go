package segment_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/columnar"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Choices of contacts and segments have the same counts, whether attributes are in memory or not, and while
// contacts change.
func TestCountsAreTheSameInMemory(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		person(t, db, other, "c0@example.org")
		account, err := tenant.Create(ctx, db, "acme", "Acme", "UTC", noon)
		if err != nil {
			t.Fatal(err)
		}
		acme := account.ID
		var ids []id.Contact
		for i := range 12 {
			city := []string{"Bonn", "Kiel", "Bonn"}[i%3]
			c, err := contact.Create(ctx, db, acme, fmt.Sprintf("c%d@example.org", i), contact.Change{Texts: map[contact.Text]*string{contact.City: &city}}, contact.Rules{}, noon)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, c.ID)
		}
		inBonn := json.RawMessage(`{"logic": "and", "conditions": [{"field": "city", "operator": "equals", "value": "bonn"}]}`)
		s, err := segment.Create(ctx, db, acme, segment.Change{Name: new("Bonn"), Definition: inBonn}, noon)
		if err != nil {
			t.Fatal(err)
		}
		columnar.Of(db).MinContacts = 1
		now := noon
		loader := &columnar.Loader{DB: db, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }}
		check := func(when string, members, sendable int, byStatus map[string]int) {
			t.Helper()
			counted, err := segment.Recount(ctx, db, acme, s.ID, noon)
			if err != nil || *counted.MembersAll != members || *counted.Members != sendable {
				t.Errorf("%s: %d members, %d sendable, %v; want %d and %d", when, *counted.MembersAll, *counted.Members, err, members, sendable)
			}
			for status, want := range byStatus {
				in := segment.SelectorInput{Definition: inBonn}
				if status != "" {
					in.Status = []string{status}
				}
				chosen, err := segment.Choose(ctx, db, acme, in)
				if err != nil {
					t.Fatal(err)
				}
				if n, err := chosen.Count(ctx, db, acme, noon); n != want || err != nil {
					t.Errorf("%s: %d contacts of status %q, %v; want %d", when, n, status, err, want)
				}
			}
		}
		steps := []struct {
			name string
			do   func() error
		}{
			{"none", func() error { return nil }},
			{"unsubscribed", func() error {
				_, err := contact.UnsubscribeMany(ctx, db, acme, ids[:1], contact.UnsubscribeScope{Everything: true}, noon)
				return err
			}},
			{"deleted", func() error { _, err := contact.Delete(ctx, db, acme, ids[2:3], noon); return err }},
			{"anonymized", func() error {
				_, err := suppression.Anonymize(ctx, db, acme, ids[3:4], true, nil, noon)
				return err
			}},
			{"suppressed", func() error { _, err := suppression.Add(ctx, db, acme, "c5@example.org", "", noon); return err }},
		}
		members, sendable := []int{8, 8, 8, 7, 7}, []int{8, 7, 6, 5, 4}
		byStatus := []map[string]int{
			{"": 8, "active": 8}, {"": 8, "active": 7, "unsubscribed": 1}, {"": 7, "active": 6, "suppressed": 1},
			{"": 6, "active": 5, "suppressed": 1}, {"": 6, "active": 5, "suppressed": 1},
		}
		for range 3 {
			check("before", members[0], sendable[0], byStatus[0])
			if _, err := loader.Tick(ctx); err != nil {
				t.Fatal(err)
			}
		}
		for i, step := range steps {
			if err := step.do(); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			check(step.name, members[i], sendable[i], byStatus[i])
			now = now.Add(time.Minute)
			check(step.name, members[i], sendable[i], byStatus[i])
			if _, err := loader.Tick(ctx); err != nil { // after an erasure, all is read anew
				t.Fatal(err)
			}
		}
		// What is not logged is not seen: these counts were made in memory.
		if _, err := db.Exec(ctx, `UPDATE contact SET city = 'Graz' WHERE tenant_id = $1 AND id = $2`, acme, ids[6]); err != nil {
			t.Fatal(err)
		}
		check("a change that is not logged", 7, 4, map[string]int{"active": 5})
	})
}
