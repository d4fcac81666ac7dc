package flow

import (
	"testing"

	"github.com/packetboat/packetboat/internal/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sequence"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

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
