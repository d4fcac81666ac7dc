package journal_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// sameGroup returns two tenants of one group.
func sameGroup() (a, b id.Tenant) {
	a = 101
	for b = a + 1; b.Group() != a.Group(); b++ {
	}
	return a, b
}

func TestOldEntriesAreDeletedBehindTheFollowers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		acme, other := sameGroup()
		days := func(n int) time.Time { return noon.Add(-time.Duration(n) * 24 * time.Hour) }
		add := func(tenant id.Tenant, typ journal.Type, at time.Time) {
			t.Helper()
			err := db.InTx(ctx, func(tx *sqldb.DB) error {
				return journal.Append(ctx, tx, journal.Entry{Tenant: tenant, Type: typ, At: at, Contact: id.New[id.Contact]()})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		left := func() []string {
			t.Helper()
			rows, err := db.Query(ctx, `SELECT tenant_id, type, occurred_at FROM journal WHERE grp = $1 ORDER BY pos /* all tenants: one order for each group */`, acme.Group())
			list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s string, err error) {
				var tenant id.Tenant
				var typ string
				var at time.Time
				err = scan(&tenant, &typ, sqldb.ToTime(&at))
				return fmt.Sprint(tenant == acme, typ, noon.Sub(at).Hours()/24), err
			})
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		for n := 50; n > 0; n -= 5 {
			for _, tenant := range []id.Tenant{acme, other} {
				add(tenant, journal.TagAdded, days(n))
				add(tenant, journal.EmailOpened, days(n))
			}
		}
		first, second := journal.Follower{Name: "first", Follow: none}, journal.Follower{Name: "second", Follow: none}
		followers := []journal.Follower{first, second}
		old := journal.Old{Group: acme.Group(), Class: journal.ClassEvents, Days: 20, Tenants: map[id.Tenant]bool{acme: true}, Before: days(20)}
		prune := func(o journal.Old) (sum int) {
			t.Helper()
			for more := true; more; {
				var n int
				var err error
				if n, more, err = journal.Prune(ctx, db, o, followers, 7, noon); err != nil {
					t.Fatal(err)
				}
				if n > 7 {
					t.Errorf("a step deleted %d entries", n)
				}
				sum += n
			}
			return sum
		}
		if n := prune(old); n != 0 {
			t.Errorf("%d entries were deleted that no follower has processed", n)
		}
		follow := func(list ...journal.Follower) {
			t.Helper()
			if err := (&journal.Engine{DB: db, Followers: list}).Drain(ctx); err != nil {
				t.Fatal(err)
			}
		}
		follow(first)
		if n := prune(old); n != 0 {
			t.Errorf("%d entries were deleted that one follower has not processed", n)
		}
		follow(first, second)
		if n := prune(old); n != 6 { // 50, 45, 40, 35, 30, 25 days
			t.Errorf("%d entries were deleted, want 6", n)
		}
		if n := prune(old); n != 0 {
			t.Errorf("%d more entries were deleted", n)
		}
		for _, e := range left() {
			for n := 25; n <= 50; n += 5 {
				if e == fmt.Sprint(true, "tag_added", n) {
					t.Errorf("%s is still there", e)
				}
			}
		}
		if n := len(left()); n != 34 {
			t.Errorf("%d entries are left, want 34", n)
		}
		// Another class, and later another number of days for a tenant that kept them longer.
		old.Class = journal.ClassEngagement
		if n := prune(old); n != 6 {
			t.Errorf("%d entries about mails were deleted, want 6", n)
		}
		old.Class, old.Tenants = journal.ClassEvents, map[id.Tenant]bool{acme: true, other: true}
		if n := prune(old); n != 0 {
			t.Errorf("%d entries were found where the search had ended before", n)
		}
		old.Changed = noon.Add(time.Second)
		if n := prune(old); n != 6 {
			t.Errorf("after a change, %d entries were deleted, want 6", n)
		}
		// The last entry stays, whatever its age.
		old.Before, old.Days = noon.Add(time.Hour), 0
		prune(old)
		old.Class = journal.ClassEngagement
		prune(old)
		if list := left(); !slices.Equal(list, []string{fmt.Sprint(false, "email_opened", 5)}) {
			t.Errorf("left are %v, want the last", list)
		}
		add(acme, journal.TagAdded, noon)
		follow(first, second)
		if lag, err := journal.Lag(ctx, db); err != nil || lag != 0 {
			t.Errorf("the lag is %d, %v", lag, err)
		}
	})
}

func none(context.Context, *sqldb.DB, []journal.Entry) error { return nil }
