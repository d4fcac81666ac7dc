package deliver

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A node whose clock is wrong neither takes live nodes for dead, nor seems dead to them.
func TestLeasesAreJudgedByTheClockThatNodesShare(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for _, wrong := range []time.Duration{0, 2 * time.Hour, -2 * time.Hour} {
			node := func(owner string, wrong time.Duration) *Engine {
				now := func() time.Time { return time.Now().Add(wrong) }
				compare := func(context.Context) error {
					wrong = 0
					return nil
				}
				return &Engine{DB: db, Log: slog.New(slog.DiscardHandler), Now: now, Compare: compare, node: &outbox.Node{DB: db, Owner: owner}}
			}
			nodes := []*Engine{node("right", 0), node("wrong", wrong)}
			for range 2 {
				for _, e := range nodes {
					if err := e.renew(t.Context()); err != nil {
						t.Fatal(err)
					}
					if err := e.reap(t.Context(), false); err != nil {
						t.Fatal(err)
					}
				}
			}
			var alive int
			if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM outbox_node`).Scan(&alive); err != nil || alive != len(nodes) {
				t.Errorf("with a clock that is wrong by %v, %d of 2 nodes live, %v", wrong, alive, err)
			}
		}
	})
}
