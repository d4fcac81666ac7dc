package outbox_test

import (
	"testing"
	"time"

	"packetboat/internal/outbox"
	"packetboat/internal/sqldb"
	"packetboat/internal/sqldb/dbtest"
)

func TestReleasedMessagesAreDueWhenTheySay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 3)
		n, other := f.node(t, "one"), f.node(t, "two")
		items := f.claim(t, n, 3)
		if mine, err := n.Unbegun(t.Context(), f.tenant, f.stream); err != nil || len(mine) != 3 {
			t.Errorf("Unbegun = %d messages, %v; want 3", len(mine), err)
		}
		if theirs, err := other.Unbegun(t.Context(), f.tenant, f.stream); err != nil || len(theirs) != 0 {
			t.Errorf("Unbegun of another node = %d messages, %v", len(theirs), err)
		}
		items[0].DueAt = noon.Add(time.Minute)
		if _, err := n.Commit(t.Context(), nil, items[2:], noon); err != nil { // it has begun, so it stays
			t.Fatal(err)
		}
		if err := n.Release(t.Context(), items); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			at   time.Time
			want outbox.Item
		}{{noon, items[1]}, {noon.Add(time.Minute), items[0]}} {
			got, err := n.Claim(t.Context(), f.tenant, f.stream, 9, step.at)
			if err != nil || len(got) != 1 || got[0].ID != step.want.ID {
				t.Errorf("due at %v: %d messages, %v; want message %s", step.at, len(got), err, step.want.ID)
			}
		}
	})
}
