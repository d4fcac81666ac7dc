package flow

import (
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/people/contact"
	fields "github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestDatesStartSequences lets birthdays come, one of them during a pause.
func TestDatesStartSequences(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "p", 3)
		_, err := fields.Create(t.Context(), db, f.Tenant, fields.Draft{Name: "Birthday", Key: "birthday", Type: fields.Date}, f.now)
		f.must(err)
		for i, day := range []string{"1990-03-04", "1990-03-08", "1990-03-06"} {
			f.change(people[i].ID, contact.Change{CustomFields: map[string]any{"birthday": day}})
		}
		s := f.start(graph("name", []sequence.Node{
			node("name", sequence.UpdateNode, object{"fields": object{"company": "{{ event.date }} {{ event.field }}"}}),
		}), sequence.Change{AllowReentry: new(true), Trigger: []byte(`{"trigger_type": "date", "trigger_config": {"field": "custom_fields.birthday", "time": "09:00", "repeat": "yearly"}}`)})
		f.evaluate()
		enrollments := func(c id.Contact) int {
			list, err := sequence.OfContact(t.Context(), db, f.Tenant, c)
			f.must(err)
			return len(list)
		}
		check := func(want ...int) {
			t.Helper()
			for i, n := range want {
				if got := enrollments(people[i].ID); got != n {
					t.Errorf("on %s: contact %d was enrolled %d times, want %d", f.now, i, got, n)
				}
			}
		}
		check(0, 0, 0)
		f.now = time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)
		f.evaluate()
		check(1, 0, 0)
		if c := f.load(people[0].ID); c.Company == nil || *c.Company != "2026-03-04 custom_fields.birthday" {
			t.Errorf("the mail merge printed %v", c.Company)
		}
		_, err = sequence.Pause(t.Context(), db, f.Tenant, s.ID, f.now)
		f.must(err)
		f.now = time.Date(2026, 3, 7, 9, 0, 0, 0, time.UTC) // contact 2 has its birthday
		f.evaluate()
		_, err = sequence.Resume(t.Context(), db, f.Tenant, s.ID, f.now)
		f.must(err)
		f.now = time.Date(2026, 3, 8, 9, 0, 0, 0, time.UTC)
		f.evaluate()
		check(1, 1, 0)
		_, err = sequence.Archive(t.Context(), db, f.Tenant, s.ID, f.now)
		f.must(err)
		f.now = f.now.AddDate(1, 0, 1)
		f.evaluate()
		check(1, 1, 0)
		var rows int
		f.must(db.QueryRow(t.Context(), `SELECT COUNT(*) FROM date_due WHERE tenant_id = $1`, f.Tenant).Scan(&rows))
		if rows != 0 {
			t.Errorf("an archived sequence has %d dates to come", rows)
		}
	})
}
