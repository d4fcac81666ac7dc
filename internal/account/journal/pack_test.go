package journal_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// contactRecorder is a follower that records the contacts of its entries in the database, in order. It
// appends the number of entries of each call to calls.
func contactRecorder(name string, calls *[]int, types ...journal.Type) journal.Follower {
	return journal.Follower{Name: name, Types: types, Follow: func(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
		*calls = append(*calls, len(entries))
		t := tx.Table("n BIGINT", "tenant BIGINT", "contact UUID", "type TEXT", "at BIGINT")
		for i, e := range entries {
			t.Add(i, int64(e.Tenant), e.Contact, string(e.Type), e.At.UnixMicro())
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO scribed (follower, n, tenant, contact, type, at)
			SELECT $1, (SELECT COUNT(*) FROM scribed) + v.n, v.tenant, v.contact, v.type, v.at FROM `+t.As("v", 2), t.Args(name)...)
		return err
	}}
}

func recordedContacts(t *testing.T, db *sqldb.DB, follower string) []string {
	t.Helper()
	rows, err := db.Query(t.Context(), `SELECT tenant, contact, type, at FROM scribed WHERE follower = $1 ORDER BY n`, follower)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (string, error) {
		var tenant, at int64
		var contact id.Contact
		var typ string
		err := scan(&tenant, &contact, &typ, &at)
		return fmt.Sprint(tenant, contact, typ, at), err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestPackedContactsAreFollowedOneByOne(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		if _, err := db.Exec(t.Context(), `CREATE TABLE scribed (follower TEXT, n BIGINT, tenant BIGINT, contact UUID, type TEXT, at BIGINT)`); err != nil {
			t.Fatal(err)
		}
		mine, other := id.Tenant(1), id.Tenant(2)
		for other.Group() != mine.Group() {
			other++
		}
		var want, made []string
		say := func(tenant id.Tenant, c id.Contact, typ journal.Type, at time.Time) string {
			return fmt.Sprint(int64(tenant), c, typ, at.UnixMicro())
		}
		// In each append the creations come first, as they do for each contact.
		appendAll := func(tenant id.Tenant, contacts int, at time.Time, changed int) {
			var entries []journal.Entry
			var later []string
			for i := range contacts {
				c := id.New[id.Contact]()
				entries = append(entries, journal.Entry{Tenant: tenant, Type: journal.ContactCreated, Contact: c, At: at})
				made = append(made, say(tenant, c, journal.ContactCreated, at))
				want = append(want, say(tenant, c, journal.ContactCreated, at))
				if i < changed {
					entries = append(entries, journal.Entry{Tenant: tenant, Type: journal.SubscriptionChanged, Contact: c, At: at, Data: map[string]any{"subscribed": true}})
					later = append(later, say(tenant, c, journal.SubscriptionChanged, at))
				}
			}
			want = append(want, later...)
			if err := db.InTx(t.Context(), func(tx *sqldb.DB) error { return journal.Append(t.Context(), tx, entries...) }); err != nil {
				t.Fatal(err)
			}
		}
		appendAll(mine, 1050, noon, 3)
		appendAll(other, 101, noon.Add(time.Second), 0)
		appendAll(mine, 1, noon.Add(2*time.Second), 1)
		for range 4 {
			appendAll(mine, 1000, noon.Add(3*time.Second), 0)
		}
		gone := errors.New("rolled back")
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			list := slices.Repeat([]journal.Entry{{Tenant: mine, Type: journal.ContactCreated, At: noon}}, 10)
			for i := range list {
				list[i].Contact = id.New[id.Contact]()
			}
			return errors.Join(journal.Append(t.Context(), tx, list...), gone)
		})
		if !errors.Is(err, gone) {
			t.Fatal(err)
		}
		appendAll(mine, 2, noon.Add(4*time.Second), 0)

		var rows, positions int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*), COUNT(DISTINCT pos) FROM journal /* all tenants: one order for each group */`).Scan(&rows, &positions); err != nil {
			t.Fatal(err)
		}
		if n := (11 + 3) + 2 + 2 + 4*10 + 1; rows != n || positions != n {
			t.Errorf("the journal has %d rows at %d positions, want %d", rows, positions, n)
		}
		var all, some []int
		for _, calls := range []*[]int{&all, &some} { // the second process finds nothing to do
			e := &journal.Engine{DB: db, Log: slog.New(slog.DiscardHandler), Followers: []journal.Follower{contactRecorder("all", calls), contactRecorder("created", calls, journal.ContactCreated)}}
			drain(t, e)
		}
		if len(some) != 0 {
			t.Errorf("entries were passed again: %d", some)
		}
		if most := slices.Max(all); most >= 1100 {
			t.Errorf("a follower got %d entries at a time, of at most 1,099", most)
		}
		if got := recordedContacts(t, db, "all"); !slices.Equal(got, want) {
			t.Errorf("the follower of all saw %d entries, want %d in the order of appending", len(got), len(want))
		}
		if got := recordedContacts(t, db, "created"); !slices.Equal(got, made) {
			t.Errorf("the follower of new contacts saw %d entries, want %d", len(got), len(made))
		}
	})
}
