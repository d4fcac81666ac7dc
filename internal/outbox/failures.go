package outbox

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// FailedOtherwise reports whether a message of the send failed with an error
// that does not begin with the given words.
func FailedOtherwise(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, words string) (bool, error) {
	var n int
	err := db.QueryRow(ctx, `
		SELECT COUNT(*) FROM (
			SELECT 1 FROM outbox_note WHERE tenant_id = $1 AND send_id = $2 AND state = 'failed'
				AND COALESCE(error, '') NOT LIKE $3 ESCAPE '\' LIMIT 1) AS other`,
		tenant, send, likeEscapes.Replace(words)+"%").Scan(&n)
	if err != nil {
		return false, fmt.Errorf("look at a send's failures: %w", err)
	}
	return n > 0, nil
}
