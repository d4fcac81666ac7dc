package retention

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// rows returns the number of a tenant's rows by table.
func (a *account) rows() map[string]int {
	a.t.Helper()
	tables, err := a.DB.TablesOfTenants(a.t.Context())
	if err != nil {
		a.t.Fatal(err)
	}
	found := map[string]int{}
	for _, table := range tables {
		var n int
		if err := a.DB.QueryRow(a.t.Context(), `SELECT COUNT(*) FROM `+table.Name+` WHERE tenant_id = $1`, a.Tenant).Scan(&n); err != nil {
			a.t.Fatal(err)
		}
		if n > 0 {
			found[table.Name] = n
		}
	}
	return found
}

// The rows of a deleted tenant are deleted after 30 days, also if the process is killed after each step,
// and nothing of other tenants is.
func TestTheDataOfADeletedTenantAreDeleted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		acme, other := newAccount(t, db, "acme", 2*stepRows), newAccount(t, db, "other", 2)
		for _, a := range []*account{acme, other} {
			a.hit(0, true, broadcasttest.Now.Add(time.Hour))
		}
		followers := []journal.Follower{{Name: "all", Follow: func(context.Context, *sqldb.DB, []journal.Entry) error { return nil }}}
		now := broadcasttest.Now
		if err := tenant.Delete(ctx, db, acme.Tenant, now); err != nil {
			t.Fatal(err)
		}
		before, others := acme.rows(), other.rows()
		if before["contact"] != 2*stepRows || before["hit"] != 1 || before["journal"] == 0 {
			t.Fatalf("the tenant has %v", before)
		}
		e := newEngine(db, &now)
		e.Tables, e.Followers = nil, followers
		now = now.Add(tenant.ErasedAfter - time.Second)
		if err := e.Round(ctx); err != nil {
			t.Fatal(err)
		}
		if got := acme.rows(); got["contact"] != before["contact"] || got["hit"] != 1 {
			t.Errorf("before its time %v is left of %v", got, before)
		}
		now = now.Add(time.Second)
		if err := e.Round(ctx); err != nil { // the journal waits for its followers
			t.Fatal(err)
		}
		if got := acme.rows(); got["journal"] != before["journal"] {
			t.Errorf("%d of %d journal entries are left before they were followed", got["journal"], before["journal"])
		}
		if a, err := tenant.Erasable(ctx, db, now); err != nil || len(a) != 1 {
			t.Errorf("tenants to erase: %v, %v", a, err)
		}
		if err := (&journal.Engine{DB: db, Followers: followers}).Drain(ctx); err != nil {
			t.Fatal(err)
		}
		for steps := 0; ; steps++ {
			dying, stop := context.WithCancel(ctx)
			e.pause = func(context.Context, time.Duration) { stop() } // the process ends after a step
			err := e.Round(dying)
			stop()
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) || steps > 300 {
				t.Fatalf("step %d: %v", steps, err)
			}
		}
		left := acme.rows()
		delete(left, "tenant")
		if left["journal"] == 1 { // the last of its group
			var data, name *string
			if err := db.QueryRow(ctx, `SELECT data, name FROM journal WHERE tenant_id = $1 AND contact_id IS NULL AND message_id IS NULL`, acme.Tenant).Scan(&data, &name); err != nil || data != nil || name != nil {
				t.Errorf("the last journal entry is %v %v, %v", data, name, err)
			}
			delete(left, "journal")
		}
		if len(left) > 0 {
			t.Errorf("rows of the deleted tenant: %v", left)
		}
		for table, n := range others {
			if got := other.rows()[table]; got != n && table != "journal" { // whose last entry may be older than its retention
				t.Errorf("the other tenant has %d rows in %s, had %d", got, table, n)
			}
		}
		if a, err := tenant.Erasable(ctx, db, now); err != nil || len(a) != 0 {
			t.Errorf("tenants to erase again: %v, %v", a, err)
		}
		gone, err := tenant.ByID(ctx, db, acme.Tenant)
		if err != nil || gone.Status != tenant.Deleted || gone.Name != "acme" || gone.Slug != "acme" {
			t.Errorf("the tenant is %+v, %v", gone, err)
		}
		if _, err := tenant.Create(ctx, db, "acme", "Again", "", now); !errors.Is(err, tenant.ErrDuplicateSlug) {
			t.Errorf("the slug is used again: %v", err)
		}
		list, err := tenant.List(ctx, db)
		if err != nil || slices.ContainsFunc(list, func(a tenant.Tenant) bool { return a.ID == acme.Tenant }) {
			t.Errorf("tenants = %v, %v", list, err)
		}
	})
}
