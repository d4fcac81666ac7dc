package flow

import (
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestManyPausesOfOneAccountDelayNoOther pauses more sequences of an account than one tick works on.
func TestManyPausesOfOneAccountDelayNoOther(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		other := broadcasttest.New(t, db, "other")
		for tenant, n := range map[id.Tenant]int{f.Tenant: 150, other.Tenant: 1} {
			rows := db.Table("id UUID", "created_at BIGINT", "updated_at BIGINT", "revision BIGINT", "allow_reentry BOOLEAN", "name TEXT", "status TEXT", "graph JSONB", "pending JSONB", "epoch INTEGER")
			for range n {
				rows.Add(id.New[id.Sequence](), 1, 1, 1, false, "Paused", "paused", `{"nodes": [], "edges": []}`, `[{"epoch": 1, "kind": "pause", "at": "2026-03-02T09:00:00Z"}]`, 1)
			}
			f.must(db.InTx(t.Context(), func(tx *sqldb.DB) error { return rows.Load(t.Context(), tx, "sequence", tenant) }))
		}
		list, err := sequence.ListUnsettled(t.Context(), db)
		f.must(err)
		found := map[id.Tenant]int{}
		for _, u := range list {
			found[u.Tenant]++
		}
		if found[other.Tenant] != 1 || found[f.Tenant] < 50 {
			t.Errorf("%d sequences of the account with 150 and %d of the other are worked on", found[f.Tenant], found[other.Tenant])
		}
		for range 4 {
			_, err := f.engine.Tick(t.Context())
			f.must(err)
		}
		if list, err = sequence.ListUnsettled(t.Context(), db); err != nil || len(list) > 0 {
			t.Errorf("after four ticks %d sequences are behind, %v", len(list), err)
		}
	})
}

// TestOneAccountWithManyOverdueContactsDelaysNoOther makes more enrollments overdue than one scan
// finds, all of them for longer than those of another account. Each tick takes a batch of both.
func TestOneAccountWithManyOverdueContactsDelaysNoOther(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		f.engine.Batch = 10
		big := broadcasttest.New(t, db, "big")
		rows := db.Table("id UUID", "sequence_id UUID", "contact_id UUID", "status TEXT", "entered_at BIGINT", "due_at BIGINT")
		seq := id.New[id.Sequence]()
		for range 5500 {
			rows.Add(id.New[id.Enrollment](), seq, id.New[id.Contact](), "active", 0, 1)
		}
		f.must(db.InTx(t.Context(), func(tx *sqldb.DB) error { return rows.Load(t.Context(), tx, "enrollment", big.Tenant) }))
		s := f.start(graph("tag", []sequence.Node{node("tag", sequence.TagNode, object{"action": "add", "tags": []string{"done"}})}), sequence.Change{})
		people := f.AddContacts(f.List.ID, "c", 25)
		for _, c := range people {
			f.enroll(s, nil, c.ID)
		}
		left := func(tenant id.Tenant) int {
			var n int
			f.must(db.QueryRow(t.Context(), `SELECT COUNT(*) FROM enrollment WHERE tenant_id = $1 AND due_at IS NOT NULL`, tenant).Scan(&n))
			return n
		}
		for tick, want := range []int{15, 5, 0} {
			_, err := f.engine.Tick(t.Context())
			f.must(err)
			if got := left(f.Tenant); got != want {
				t.Errorf("after tick %d, %d contacts are overdue, want %d", tick+1, got, want)
			}
			if got, want := left(big.Tenant), 5500-10*(tick+1); got != want {
				t.Errorf("after tick %d, %d contacts of the other account are overdue, want %d", tick+1, got, want)
			}
		}
	})
}
