package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// End returns the last position that was assigned in a tenant's group, 0 if there is none. Entries that
// are appended later have higher positions.
func End(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (int64, error) {
	var pos int64
	var err error
	if db.Dialect() == sqldb.Postgres {
		err = db.QueryRow(ctx, `SELECT COALESCE(pg_sequence_last_value($1::regclass), 0)`, sequence(tenant.Group())).Scan(&pos)
	} else {
		err = db.QueryRow(ctx, `SELECT pos FROM journal_cursor WHERE grp = $1 AND follower = $2`, tenant.Group(), sequencer).Scan(&pos)
		if errors.Is(err, sqldb.ErrNoRows) {
			return 0, nil
		}
	}
	if err != nil {
		return 0, fmt.Errorf("find the end of the journal: %w", err)
	}
	return pos, nil
}
