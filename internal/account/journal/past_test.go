package journal_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Entries that occurred at the same time, and those that share a row, are read once, whatever the length of a page.
func TestPastEntriesAreReadPageByPage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		mine, theirs := idtest.Tenant(), idtest.Tenant()
		add := func(tenant id.Tenant, typ journal.Type, name string, hours int, n int) (contacts []string) {
			var list []journal.Entry
			for range n {
				e := journal.Entry{Tenant: tenant, Type: typ, Name: name, Contact: id.New[id.Contact](), At: noon.Add(time.Duration(hours) * time.Hour)}
				list = append(list, e)
				contacts = append(contacts, e.Contact.String())
			}
			if err := journal.Append(t.Context(), db, list...); err != nil {
				t.Fatal(err)
			}
			return contacts
		}
		late := add(mine, journal.TagAdded, "vip", 3, 2)
		early := add(mine, journal.TagAdded, "vip", 1, 5)
		between := add(mine, journal.TagAdded, "x", 2, 1)
		add(mine, journal.TagRemoved, "vip", 2, 1)
		add(theirs, journal.TagAdded, "vip", 2, 1)
		add(mine, journal.TagAdded, "vip", 0, 1) // before
		add(mine, journal.TagAdded, "vip", 4, 1) // at the end
		created := add(mine, journal.ContactCreated, "", 1, 4)
		created = append(created, add(mine, journal.ContactCreated, "", 2, 1)...)
		for _, tt := range []struct {
			typ  journal.Type
			name string
			want []string
		}{
			{journal.TagAdded, "vip", slices.Concat(early, late)},
			{journal.TagAdded, "", slices.Concat(early, between, late)},
			{journal.ContactCreated, "", created},
			{journal.TagAdded, "none", nil},
		} {
			for _, limit := range []int{1, 2, 3, 100} {
				var got []string
				past := journal.Past{Type: tt.typ, Name: tt.name, From: noon.Add(time.Hour), Before: noon.Add(4 * time.Hour)}
				err := past.Read(t.Context(), db, mine, limit, func(page []journal.Entry) (bool, error) {
					for _, e := range page {
						got = append(got, e.Contact.String())
					}
					return true, nil
				})
				if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
					t.Errorf("%s %q by %d: %v\n%s", tt.typ, tt.name, limit, err, diff)
				}
			}
		}
		calls, failure := 0, fmt.Errorf("enough")
		past := journal.Past{Type: journal.TagAdded, Before: noon.Add(9 * time.Hour)}
		err := past.Read(t.Context(), db, mine, 1, func([]journal.Entry) (bool, error) { calls++; return calls < 3, nil })
		if calls != 3 || err != nil {
			t.Errorf("%d pages were read, %v", calls, err)
		}
		if err := past.Read(t.Context(), db, mine, 1, func([]journal.Entry) (bool, error) { return true, failure }); err != failure {
			t.Errorf("the error is %v", err)
		}
	})
}
