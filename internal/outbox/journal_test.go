package outbox_test

import (
	"context"

	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// collect returns a follower that counts entries by type.
func collect(types map[journal.Type]int) func(context.Context, *sqldb.DB, []journal.Entry) error {
	return func(_ context.Context, _ *sqldb.DB, entries []journal.Entry) error {
		for _, e := range entries {
			types[e.Type]++
		}
		return nil
	}
}
